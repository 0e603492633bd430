/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creating one group without a leader, in a table of record slots whose slot 0
 * is just being freed by another group; arriving at epoch 1; leaving; freeing.
 *
 * N members, S slots, FAULTS crashes, TIMEOUTS time-outs. The words of a slot
 * {state, id, nonce, freer} are one word in memory: they change together. Each
 * atomic block is one access to it or to the body of the record.
 */
#ifndef N
#define N	3
#endif
#ifndef S
#define S	2
#endif
#ifndef FAULTS
#define FAULTS	0
#endif
#ifndef TIMEOUTS
#define TIMEOUTS	0
#endif

#define FREE		0
#define TENTATIVE	1
#define COMMITTED	2
#define FREEING		3

#define OURS	1		/* the id that the members computed */
#define OTHER	2		/* the id of the group that goes */
#define STAYS	3		/* with FULL: the id of one that stays in slot 1 */
#define OLD	N		/* the last member of that group */

#define FENCED	64
#define BIT(i)	(1 << (i))
#define ALL	(BIT(N) - 1)
#define W(s, i)	word[(s) * N + (i)]

byte state[S], id[S], nonce[S], freer[S];

/* the body of a record; all zero in a free slot */
byte page[S];			/* bit i: member i has published its pages */
byte word[S * N];		/* arrival words */
byte verdict[S];		/* 0, or reason << 4 | 1 + member */
byte left[S];			/* bit i: the last store of member i was made */

byte dead, ended, faults, timeouts;

/* for the checks */
byte used;			/* the record used: nonce << 2 | 1 + slot */
byte answer;
#define ANS_OK	255
hidden byte k;

#define MINE(s)		(id[s] == OURS)
#define ABANDONED(s)	((state[s] == FREEING && GONE(freer[s])) ||	\
			 (state[s] == COMMITTED && id[s] == OTHER &&	\
			  (dead & BIT(OLD))))
#ifdef BUG_TAKEOVER_SILENT
#define GONE(i)		1	/* silence is taken for death */
#else
#define GONE(i)		(dead & BIT(i))
#endif

/* a store to the body must find the record it was meant for */
#define HELD(s)		assert(state[s] == COMMITTED && id[s] == OURS && \
			       nonce[s] == tn)

/* zero - the freer empties the body, then gives the slot back */
#define ZERO(s, me, l1, l2, l3)						\
l1:	atomic {							\
		assert(state[s] == FREEING && freer[s] == me);		\
		page[s] = 0						\
	}								\
l2:	atomic {							\
		assert(state[s] == FREEING && freer[s] == me);		\
		d_step {						\
			k = 0;						\
			do						\
			:: k < N -> W(s, k) = 0; k++			\
			:: else -> break				\
			od;						\
			k = 0;						\
			verdict[s] = 0;					\
			left[s] = 0					\
		}							\
	}								\
l3:	atomic {							\
		assert(state[s] == FREEING && freer[s] == me);		\
		state[s] = FREE;					\
		id[s] = 0;						\
		nonce[s] = 0;						\
		freer[s] = 0						\
	}

#if N == 2
#define MISSING(s, w)	(W(s, 0) == w || W(s, 1) == w)
#define ARRIVED(s)	((W(s, 0) & 1) && (W(s, 1) & 1))
#define DEAD_MISSING(s)	(((dead & 1) && W(s, 0) == 0) ||		\
			 ((dead & 2) && W(s, 1) == 0))
#else
#define MISSING(s, w)	(W(s, 0) == w || W(s, 1) == w || W(s, 2) == w)
#define ARRIVED(s)	((W(s, 0) & 1) && (W(s, 1) & 1) && (W(s, 2) & 1))
#define DEAD_MISSING(s)	(((dead & 1) && W(s, 0) == 0) ||		\
			 ((dead & 2) && W(s, 1) == 0) ||		\
			 ((dead & 4) && W(s, 2) == 0))
#endif

#if S == 2
#define CHANGE	(state[0] == FREE || state[1] == FREE || MINE(0) || MINE(1) || \
		 ABANDONED(0) || ABANDONED(1))
#else
#define CHANGE	(state[0] == FREE || state[1] == FREE || state[2] == FREE || \
		 MINE(0) || MINE(1) || MINE(2) ||			\
		 ABANDONED(0) || ABANDONED(1) || ABANDONED(2))
#endif

proctype member(byte me)
{
	byte j;			/* the slot to be read next */
	byte free = S;		/* the first free slot of this pass */
	byte over = S;		/* the first abandoned one */
	byte t = S, tn;		/* our committed, or lowest tentative, record */
	byte k1 = S, kn;	/* a tentative one known before this pass */
	byte my = S, myn;	/* my own claim */
	byte tries;
	bool com;		/* t is committed */

{
	skip;
scan:
	atomic {
		if
		:: MINE(j) && state[j] == COMMITTED ->
			t = j;
			tn = nonce[j];
			com = 1
		:: MINE(j) && state[j] == TENTATIVE && t == S ->
			t = j;
			tn = nonce[j]
		:: state[j] == FREE && free == S -> free = j
		:: ABANDONED(j) && over == S -> over = j
		:: else
		fi;
		j++;
		if
		:: j < S && !com -> goto scan
		:: else -> j = 0
		fi;
		if
		:: com -> free = S; over = S; k1 = S; kn = 0; goto drop
		:: !com && t < S ->
			free = S;
			over = S;
#ifndef BUG_FINISH_ONE_PASS
			/*
			 * To finish a claim is to do what its owner does: read
			 * the whole table after it was made.
			 */
			if
			:: k1 != t || kn != tn ->
				k1 = t;
				kn = tn;
				t = S;
				tn = 0;
				goto scan
			:: else
			fi;
#endif
			k1 = S;
			kn = 0;
			j = t + 1;
			goto clear
		:: !com && t == S && free < S -> k1 = S; kn = 0; over = S; goto claim
		:: !com && t == S && free == S && over < S -> k1 = S; kn = 0; goto take
		:: else -> k1 = S; kn = 0
		fi
	}
	atomic { CHANGE -> goto scan }

claim:
	atomic {
		if
		:: state[free] == FREE ->
			tries++;
			myn = tries * N + me + 1;
			my = free;
			state[my] = TENTATIVE;
			id[my] = OURS;
			nonce[my] = myn;
			k1 = my;
			kn = myn
		:: else
		fi;
		free = S;
		goto scan
	}

take:
	/* the freer died for certain: its node's incarnation is newer */
	atomic {
		if
		:: ABANDONED(over) -> state[over] = FREEING; freer[over] = me
		:: else -> over = S; goto scan
		fi
	}
	ZERO(over, me, take1, take2, take3)
	atomic { over = S; goto scan }

clear:
	/* first the higher claims are emptied .. */
	atomic {
		if
		:: j < S && MINE(j) && state[j] == COMMITTED ->
			t = S; tn = 0; j = 0; goto scan
#ifndef BUG_NO_EMPTY
		:: j < S && MINE(j) && state[j] == TENTATIVE ->
			state[j] = FREE; id[j] = 0; nonce[j] = 0; j++
#endif
		:: else -> j++
		fi;
		if
		:: j < S -> goto clear
		:: else -> j = 0
		fi
	}
	/* .. then the lowest is committed */
commit:
	atomic {
		if
#if defined(BUG_COMMIT_STORE)
		:: true ->
			id[t] = OURS;
			nonce[t] = tn;
#elif defined(BUG_COMMIT_NO_NONCE)
		:: state[t] == TENTATIVE && MINE(t) ->
#else
		:: state[t] == TENTATIVE && MINE(t) && nonce[t] == tn ->
#endif
			state[t] = COMMITTED;
			d_step {
				/* one record of an id, and all of it zero */
				k = 0;
				do
				:: k < S ->
					assert(k == t || !MINE(k) ||
					       state[k] != COMMITTED);
					k++
				:: else -> break
				od;
				k = 0;
				do
				:: k < N -> assert(W(t, k) == 0); k++
				:: else -> break
				od;
				k = 0;
				assert(page[t] == 0 && verdict[t] == 0 &&
				       left[t] == 0)
			}
		:: else
		fi;
		t = S;
		tn = 0;
		goto scan
	}

drop:
	/* an own claim that did not win */
	atomic {
		if
		:: my < S && my != t && state[my] == TENTATIVE && MINE(my) &&
		   nonce[my] == myn ->
			state[my] = FREE; id[my] = 0; nonce[my] = 0
		:: else
		fi;
		my = S;
		myn = 0;
		com = 0;
		tries = 0
	}

publish:
	atomic {
		HELD(t);
		assert(used == 0 || used == (tn << 2 | (1 + t)));
		used = tn << 2 | (1 + t);
		page[t] = page[t] | BIT(me)
	}

arrive:
	atomic {
		HELD(t);
		if
		:: W(t, me) & FENCED
		:: !(W(t, me) & FENCED) -> W(t, me) = 1
		:: !(W(t, me) & FENCED) && timeouts < TIMEOUTS ->
			timeouts++;
			W(t, me) = FENCED
		fi
	}

wait:
	atomic {
		HELD(t);
		if
		:: verdict[t] -> goto lost
		:: !verdict[t] && ARRIVED(t) ->
			assert(answer == 0 || answer == ANS_OK);
			answer = ANS_OK;
			goto leave
		:: !verdict[t] && MISSING(t, FENCED)
		:: !verdict[t] && DEAD_MISSING(t) -> j = N; goto fence
		:: !verdict[t] && MISSING(t, 0) && W(t, me) == 1 &&
		   timeouts < TIMEOUTS ->
			timeouts++; j = 0; goto fence
		fi
	}
	atomic {
		HELD(t);
		d_step {
			if
			:: verdict[t]
			:: else ->
				k = 0;
				do
				:: W(t, k) != FENCED -> k++
				:: else -> break
				od;
				verdict[t] = (1 + me) << 4 | (1 + k);
				k = 0
			fi
		}
	}
lost:
	atomic {
		HELD(t);
		assert(answer == 0 || answer == verdict[t]);
		answer = verdict[t];
		goto leave
	}

fence:
	/* time-out: whoever has not arrived; else whoever died before it */
	atomic {
		HELD(t);
		if
		:: j == N ->
			d_step {
				k = 0;
				do
				:: k < N && (dead & BIT(k)) && W(t, k) == 0 ->
					W(t, k) = FENCED; break
				:: k < N && !((dead & BIT(k)) && W(t, k) == 0) ->
					k++
				:: k == N -> break
				od;
				k = 0
			}
			j = 0;
			goto wait
		:: j < N ->
			if
			:: W(t, j) == 0 -> W(t, j) = FENCED
			:: else
			fi;
			j++;
			if
			:: j < N -> goto fence
			:: else -> j = 0; goto wait
			fi
		fi
	}

leave:
	/* my own word first, my last store second; dying is leaving, too */
	atomic {
		HELD(t);
		W(t, me) = W(t, me) | FENCED
	}
	atomic {
		HELD(t);
		left[t] = left[t] | BIT(me)
	}
	/* the record goes with the last: a member fenced alive has not left */
	atomic {
		if
#ifdef BUG_FENCED_LEFT
		:: d_step { !MISSING(t, 0) && !MISSING(t, 1) }
#else
		:: ((left[t] | dead) & ALL) == ALL
#endif
		:: else -> goto finish
		fi
	}
	atomic {
		if
		:: state[t] == COMMITTED && MINE(t) && nonce[t] == tn ->
			state[t] = FREEING;
			freer[t] = me
		:: else -> goto finish
		fi
	}
#ifdef BUG_FREE_FIRST
	atomic { state[t] = FREE; id[t] = 0; nonce[t] = 0 }
	page[t] = 0;
	d_step {
		W(t, 0) = 0;
		W(t, 1) = 0;
		verdict[t] = 0;
		left[t] = 0
	}
#else
	ZERO(t, me, free1, free2, free3)
#endif
}
unless {
	atomic { dead & BIT(me); goto finish }
};
finish:
	atomic {
		d_step {
			ended = ended | BIT(me);
			j = 0;
			free = 0;
			over = 0;
			t = 0;
			tn = 0;
			k1 = 0;
			kn = 0;
			my = 0;
			myn = 0;
			tries = 0;
			com = 0
		}
	}
}

/* the last member of the other group frees slot 0 */
proctype old()
{
{
	atomic {
		if
		:: state[0] == COMMITTED && id[0] == OTHER ->
#ifdef BUG_FREE_FIRST
			state[0] = FREE;
			id[0] = 0;
			nonce[0] = 0
#else
			state[0] = FREEING;
			freer[0] = OLD
#endif
		:: else -> goto finish
		fi
	}
#ifdef BUG_FREE_FIRST
	page[0] = 0;
	d_step {
		W(0, 0) = 0;
		W(0, 1) = 0
	}
#else
	ZERO(0, OLD, old1, old2, old3)
#endif
}
unless {
	atomic { dead & BIT(OLD); goto finish }
};
finish:
	atomic { ended = ended | BIT(OLD) }
}

#if FAULTS > 0
#define FATE(i)								\
	:: atomic {							\
		faults < FAULTS && !((dead | ended) & BIT(i)) ->	\
		faults++;						\
		dead = dead | BIT(i)					\
	   }

proctype fate()
{
end:	do
	FATE(0)
	FATE(1)
	FATE(2)
#if N > 2
	FATE(3)
#endif
	od
}
#endif

init
{
	byte i;

	atomic {
		state[0] = COMMITTED;
		id[0] = OTHER;
		page[0] = ALL;
#ifdef FULL
		state[1] = COMMITTED;
		id[1] = STAYS;
#endif
		do
		:: i < N -> W(0, i) = FENCED | 1; run member(i); i++
		:: else -> break
		od;
		i = 0;
		run old();
#if FAULTS > 0
		run fate()
#endif
	}
}
