/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Creating one group without a leader, in a table of record slots whose slot 0
 * is just being freed by another group; arriving at epoch 1; leaving; freeing.
 *
 * N members, S slots, FAULTS crashes, TIMEOUTS time-outs. The words of a slot
 * {state, id, generation, freer} are one word in memory: they change together.
 * Each atomic block is one access to it or to the body of the record, but for
 * three pairs that are one step, since nothing in between could be seen by
 * others: a read of what cannot change any more and the store that follows from
 * it; publishing the own pages and arriving; fencing the own word and leaving.
 *
 * Members are alike, the order of the members matters nowhere: those that crash
 * are the last FAULTS of them, or renamed so, and those that only run out of time
 * the TIMEOUTS before them.
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
#include "each.pml"

#if S == 2
#define ANY_SLOT(x)	(x(0) || x(1))
#else
#define ANY_SLOT(x)	(x(0) || x(1) || x(2))
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
#define W(s, i)	word[(s) * N + (i)]

byte state[S], id[S], freer[S];
byte gen[S];			/* rises with each claim */

/* the body of a record; all zero in a free slot */
byte word[S * N];		/* arrival words */
byte verdict[S];		/* 0, or 1 + member */
byte left[S];			/* bit i: the last store of member i was made */

byte dead, ended, faults, timeouts, dying;

/* for the checks */
byte used;			/* the record used: generation << 2 | 1 + slot */
byte answer;
#define ANS_OK	255
hidden byte k;

#define MINE(s)		(id[s] == OURS)
#define IS(s, st, g)	(state[s] == st && MINE(s) && gen[s] == g)
#define ABANDONED(s)	((state[s] == FREEING && GONE(freer[s])) ||	\
			 (state[s] == COMMITTED && id[s] == OTHER &&	\
			  (dead & BIT(OLD))))
#define CHANGE(s)	(state[s] == FREE || MINE(s) || ABANDONED(s))
#ifdef BUG_TAKEOVER_SILENT
#define GONE(i)		1	/* silence is taken for death */
#else
#define GONE(i)		(dead & BIT(i))
#endif

#define MAY_CRASH(i)	((i) >= N - FAULTS)
#define MAY_TIME_OUT	(me >= N - FAULTS - TIMEOUTS && timeouts < TIMEOUTS)

#define LOW(i)		(!(W(t, i) & 1))
#define OPEN(i)		(W(t, i) == 0)
#define ALIVE_IN(i)	(W(t, i) == 1)
#define DEAD_OPEN(i)	(OPEN(i) && (dead & BIT(i)))
#define FENCE(i)	:: OPEN(i) -> W(t, i) = FENCED
#define FENCE_DEAD(i)	:: DEAD_OPEN(i) -> W(t, i) = FENCED; goto wait
#ifdef BUG_VERDICT_STORE
#define UNDECIDED	true
#else
#define UNDECIDED	(!verdict[t])
#endif
#define PUBLISH(i)	:: UNDECIDED && W(t, i) == FENCED ->		\
				verdict[t] = 1 + i; goto wait

/* a store to the body must find the record it was meant for */
#define HELD	assert(IS(t, COMMITTED, tn))

inline zero(s)
{
	d_step {
		k = 0;
		do
		:: k < N -> W(s, k) = 0; k++
		:: else -> break
		od;
		k = 0;
		verdict[s] = 0;
		left[s] = 0
	}
}

/* begin_freeing - from here on the freer alone touches the body */
inline begin_freeing(s, who)
{
#ifdef BUG_FREE_FIRST
	state[s] = FREE;
	id[s] = 0
#else
	state[s] = FREEING;
	freer[s] = who
#endif
}

/* free_slot - empty the body, give the slot back; its generation stays */
inline free_slot(s, who)
{
#ifdef BUG_FREE_FIRST
	zero(s)
#else
	assert(state[s] == FREEING && freer[s] == who);
	zero(s);
	state[s] = FREE;
	id[s] = 0;
	freer[s] = 0
#endif
}

proctype member(byte me) UNLESS_DYING
{
	byte j;			/* the slot to be read next */
	byte free = S;		/* the first free slot of this pass */
	byte over = S;		/* the first abandoned one */
	byte t = S, tn;		/* our committed, or lowest tentative, record */
	byte k1 = S, kn;	/* a tentative one known before this pass */

{
	skip;
scan:
	atomic {
		if
		:: MINE(j) && state[j] == COMMITTED ->
			t = j;
			tn = gen[j];
			j = 0;
			free = S;
			over = S;
			k1 = S;
			kn = 0;
			goto arrive
		:: MINE(j) && state[j] == TENTATIVE && t == S ->
			t = j;
			tn = gen[j]
		:: state[j] == FREE && free == S -> free = j
		:: ABANDONED(j) && over == S -> over = j
		:: else
		fi;
		j++;
		if
		:: j < S -> goto scan
		:: else -> j = 0
		fi;
		if
		:: t < S ->
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
			if
			:: t + 1 < S -> j = t + 1; goto clear
			:: else -> goto commit
			fi
		:: t == S && free < S -> k1 = S; kn = 0; over = S; goto claim
		:: t == S && free == S && over < S -> k1 = S; kn = 0; goto take
		:: else -> k1 = S; kn = 0
		fi
	}
	atomic { ANY_SLOT(CHANGE) -> goto scan }

claim:
	atomic {
		if
		:: state[free] == FREE ->
			state[free] = TENTATIVE;
			id[free] = OURS;
			gen[free]++;
			k1 = free;
			kn = gen[free]
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
	atomic { free_slot(over, me); over = S; goto scan }

clear:
	/* first the higher claims are emptied .. */
	atomic {
		if
		:: MINE(j) && state[j] == COMMITTED ->
			t = S;
			tn = 0;
			j = 0;
			goto scan
#ifndef BUG_NO_EMPTY
		:: MINE(j) && state[j] == TENTATIVE -> state[j] = FREE; id[j] = 0
#endif
		:: else
		fi;
		j++;
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
			gen[t] = tn;
#elif defined(BUG_COMMIT_NO_GENERATION)
		:: state[t] == TENTATIVE && MINE(t) ->
#else
		:: IS(t, TENTATIVE, tn) ->
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
				assert(verdict[t] == 0 && left[t] == 0)
			}
		:: else
		fi;
		t = S;
		tn = 0;
		goto scan
	}

arrive:
	/* publish the own pages and arrive; or the time is over: fence oneself */
	atomic {
		HELD;
		assert(used == 0 || used == (tn << 2 | (1 + t)));
		used = tn << 2 | (1 + t);
		if
		:: OPEN(me) -> W(t, me) = 1
		:: OPEN(me) && MAY_TIME_OUT -> timeouts++; W(t, me) = FENCED
		:: !OPEN(me)
		fi
	}

wait:
	atomic {
		HELD;
		if
		/* told: leave; dying is leaving, too */
		:: verdict[t] || !ANY(LOW) ->
			assert(!verdict[t] || ANY(LOW));
			assert(answer == 0 ||
			       answer == (verdict[t] -> verdict[t] : ANS_OK));
			answer = (verdict[t] -> verdict[t] : ANS_OK);
			W(t, me) = W(t, me) | FENCED;
			left[t] = left[t] | BIT(me)
		EACH(PUBLISH)
		EACH(FENCE_DEAD)
		:: ANY(OPEN) && ALIVE_IN(me) && MAY_TIME_OUT ->
			timeouts++;
			goto time_out
		fi
	}

	/* the record goes with the last: a member fenced alive has not left */
	atomic {
		if
#ifdef BUG_FENCED_LEFT
		:: !ANY(OPEN) && !ANY(ALIVE_IN) && IS(t, COMMITTED, tn) ->
#else
		:: ((left[t] | dead) & ALL) == ALL && IS(t, COMMITTED, tn) ->
#endif
			begin_freeing(t, me)
		:: else -> goto finish
		fi
	}
	atomic { free_slot(t, me); goto finish }

time_out:
	/* whoever has not arrived is lost */
	atomic {
		HELD;
		if
		EACH(FENCE)
		:: else
		fi;
		if
		:: ANY(OPEN) -> goto time_out
		:: else -> goto wait
		fi
	}
}
unless {
	dead & BIT(me)
};
finish:
	atomic {
		ended = ended | BIT(me);
		dying = 0;
		j = 0;
		free = 0;
		over = 0;
		t = 0;
		tn = 0;
		k1 = 0;
		kn = 0
	}
}

/* the last member of the other group frees slot 0 */
proctype old() UNLESS_DYING
{
{
	atomic {
		if
		:: state[0] == COMMITTED && id[0] == OTHER ->
			begin_freeing(0, OLD)
		:: else -> goto finish
		fi
	}
	atomic { free_slot(0, OLD) }
}
unless {
	dead & BIT(OLD)
};
finish:
	atomic { ended = ended | BIT(OLD); dying = 0 }
}

#define FATE(i)								\
	:: atomic {							\
		MAY_CRASH(i) && faults < FAULTS &&			\
		!((dead | ended) & BIT(i)) ->				\
		faults++;						\
		dead = dead | BIT(i);					\
		dying = 1 + i						\
	   }

proctype fate() UNLESS_DYING
{
end:	do
	EACH(FATE)
	FATE(OLD)
	od
}

init
{
	byte i;

	atomic {
		state[0] = COMMITTED;
		id[0] = OTHER;
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
		run fate()
	}
}
