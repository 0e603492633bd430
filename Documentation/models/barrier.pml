/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The barrier of one group on coherent memory: one flat level, one port.
 *
 * Each labelled step below is one access to shared memory, and so one place at
 * which a member may crash or be overtaken. The switches N, EPOCHS, FAULTS set
 * the size; each BUG_x puts back a wrong wording, and the search must then fail.
 *
 * A fault is one of two things. Crash: the member stops for good. Silent: it is
 * fenced although it lives, since it was not heard of, and goes on running (a
 * paused guest that resumes).
 */
#ifndef N
#define N	3
#endif
#ifndef EPOCHS
#define EPOCHS	2
#endif
#ifndef FAULTS
#define FAULTS	1
#endif
#include "each.pml"

#if N == 2
#define ROUNDS	1
#elif N <= 4
#define ROUNDS	2
#else
#define ROUNDS	3
#endif

/*
 * The last round overlaps unless N is a power of two: the receiver lacks only
 * LACK members then, and a sum must be given those and no others.
 */
#define LACK	(N - (1 << (ROUNDS - 1)))

#if N <= 4
#define VALUE	byte
#else
#define VALUE	short
#endif

#define FENCED	64
#define SHRINK	128
#define EP(w)	((w) & 63)

/*
 * The value of member i: bit i for an operation that may see it twice (or; min,
 * max and `and` behave alike), 1 in the base-4 digit i for a sum.
 */
#define DIGIT(i)	(1 << (2 * (i)))
#define ALLDIGITS	((BIT(2 * N) - 1) / 3)

#define LINE(to, rnd)		((to) * ROUNDS + (rnd))
#ifdef BUG_ONE_PAYLOAD
#define SLOT(to, rnd, ep)	(2 * LINE(to, rnd))
#else
#define SLOT(to, rnd, ep)	(2 * LINE(to, rnd) + ((ep) & 1))
#endif
#ifdef BUG_ONE_CONTRIBUTION
#define CON(i, ep)		(2 * (i))
#else
#define CON(i, ep)		(2 * (i) + ((ep) & 1))
#endif

/* shared memory */
byte word[N];			/* arrival words: fenced, shrinking, epoch */
byte con[2 * N];		/* contributions; the epoch stands for the value */
byte flag[N * ROUNDS];		/* flag lines of their receivers: the epoch */
VALUE ride_or[2 * N * ROUNDS];	/* what rides along: epoch << N | bits */
VALUE ride_sum[2 * N * ROUNDS];
VALUE ride_part[2 * N * ROUNDS];
byte verdict;			/* 0, or reason << 4 | 1 + member */
byte hint;
byte sleeping;			/* one bit for each member's sleeping word */

/* what the machine does */
byte rung;			/* rings that reached a sleeper */
byte dead, silent, faults, dying;

hidden byte k, m;		/* scratch, never kept from step to step */

/* what nobody can see: for the checks */
byte ended;
byte answer[EPOCHS + 1];	/* 0, ANS_OK or the verdict */
#define ANS_OK	255

#define VMEMBER		((verdict & 15) - 1)
/* a different reason for each publisher: the answer must not mix them */
#define REASON		((me + 1) << 4)
#define VSTANDS(ep)	(verdict != 0 && EP(word[VMEMBER]) < (ep))
#ifdef BUG_FENCE_SHRINKING
#define FINAL	FENCED
#else
#define FINAL	(FENCED | SHRINK)
#endif

/* who may be fenced: the dead, and the living as long as faults are left */
#define SUSPECT(i)	(!(word[i] & FINAL) && ((dead & BIT(i)) ||	\
			 (faults < FAULTS && !(ended & BIT(i)))))
#define SUSPECT_PEER(i)	(i != me && SUSPECT(i))
#define AWAITED		((me + N - BIT(r)) % N)
#define OPEN_DEAD(i)	((dead & BIT(i)) && !(word[i] & FINAL))
/* without ticks, whom does a sleeper watch: all, or whose flag it awaits? */
#ifdef BUG_AWAITED
#define NO_TICK
#define WATCHED_DEAD	OPEN_DEAD(AWAITED)
#else
#define WATCHED_DEAD	(OPEN_DEAD(0) || OPEN_DEAD(1) || OPEN_DEAD(N - 1))
#endif

/* does every member give up polling in the end, or member 0 alone? */
#ifdef ONE_SLEEPER
#define MAY_SLEEP	(me == 0)
#else
#define MAY_SLEEP	true
#endif

/* the words are read in this order; nobody needs to read its own */
#define FIRST		(me == 0 -> 1 : 0)
#define NEXT(i)		((i) + 1 == me -> (i) + 2 : (i) + 1)

/*
 * window - the values of @count members, ending at @me, from the contributions
 */
inline window(count, o, s)
{
	o = 0;
	s = 0;
	k = 0;
	do
	:: k < count ->
		m = (me + N - k) % N;
		assert(con[CON(m, e)] == e);
		o = o | BIT(m);
		s = s + DIGIT(m);
		k++
	:: else -> break
	od;
	k = 0;
	m = 0
}

/* send - set the flag of round @r with the windows @wide, @sum and @part */
inline send()
{
	k = (me + BIT(r)) % N;
	assert(flag[LINE(k, r)] <= e);	/* never backwards */
	ride_or[SLOT(k, r, e)] = (e << N) | wide;
	ride_sum[SLOT(k, r, e)] = sum;
	ride_part[SLOT(k, r, e)] = part;
	flag[LINE(k, r)] = e;
	k = 0
}

/*
 * receive - take in the flag of round @r. part is the window of the LACK mod
 * 2^r members that end at me, composed by the digits of LACK.
 */
inline receive()
{
	k = SLOT(me, r, e);
	assert((ride_or[k] >> N) == e);
	if
	:: r < ROUNDS - 1 ->
		if
		:: LACK & BIT(r) -> part = sum + ride_part[k]
		:: else
		fi;
		sum = sum + ride_sum[k]
	:: else ->
#ifdef BUG_SUM_FULL
		sum = sum + ride_sum[k]
#else
		if
		:: LACK == BIT(r) -> sum = sum + ride_sum[k]
		:: else -> sum = sum + ride_part[k]
		fi
#endif
	fi;
	wide = wide | (ride_or[k] & ALL);
	k = 0
}

/* ring - ring everyone who sleeps; a ring to a member that does not is lost */
#ifdef SPLIT_RING
#define RING(l)								\
	j = 0;								\
l:	atomic {							\
		rung = rung | (sleeping & BIT(j));			\
		j++;							\
		if							\
		:: j < N -> goto l					\
		:: else -> j = 0					\
		fi							\
	}
#else
#define RING(l)								\
l:	rung = rung | sleeping
#endif

#define FENCE(i)							\
	word[i] = word[i] | FENCED;					\
	if								\
	:: dead & BIT(i)						\
	:: else -> silent = silent | BIT(i); faults++			\
	fi

#define FENCE_PEER(i)	:: SUSPECT_PEER(i) -> FENCE(i)

proctype member(byte me) UNLESS_DYING
{
	byte e;			/* the epoch */
	byte r;			/* the round */
	byte j;			/* the word to be read next */
	bool low;		/* a word below e seen */
	VALUE wide, sum, part;

{
	atomic {
		e = 1;
		con[CON(me, e)] = e
	}

arrive:
	atomic {
		if
		:: VSTANDS(e) -> goto lost
#ifdef BUG_ARRIVE_STORE
		:: word[me] = e
#else
		:: word[me] == e - 1 -> word[me] = e
		:: word[me] != e - 1 -> goto refused
#endif
		fi;
		wide = BIT(me);
		sum = DIGIT(me);
		part = 0;
		r = 0
	}

#if !defined(POLL_ONLY) && !defined(BUG_NO_RING)
	/* the last to arrive rings everyone who sleeps */
look:
	atomic {
		if
		:: hint < e -> goto set
		:: else -> j = FIRST
		fi
	}
looking:
	atomic {
		if
		:: EP(word[j]) < e -> j = 0; goto set
		:: else -> j = NEXT(j)
		fi;
		if
		:: j < N -> goto looking
		:: else -> j = 0
		fi
	}
	RING(arrived_ring);
#endif

set:
	atomic { d_step { send() } }

poll:
	atomic {
		if
		:: flag[LINE(me, r)] >= e ->
			d_step { receive(); r++ };
			if
			:: r < ROUNDS -> goto set
			:: else -> goto success
			fi
#ifndef POLL_ONLY
		/* give up polling: raise the hint, never lower it */
		:: MAY_SLEEP ->
#ifdef BUG_HINT_STORE
			hint = e
#else
			hint = (hint < e -> e : hint)
#endif
#endif
		fi
	}

prepare:
	atomic {
		sleeping = sleeping | BIT(me);
		rung = rung & ~BIT(me)
	}

#ifdef BUG_RECHECK_FLAG
	if
	:: atomic { flag[LINE(me, r)] >= e || VSTANDS(e) -> skip }
	:: atomic { flag[LINE(me, r)] < e && !VSTANDS(e) -> goto sleep }
	fi;
#endif

record:
	atomic {
		if
#ifdef BUG_LATER_VERDICT
		:: verdict != 0 -> goto lost
#else
		:: VSTANDS(e) -> goto lost
#endif
		:: else -> j = FIRST
		fi
	}
read:
	atomic {
		if
		:: EP(word[j]) >= e
		:: EP(word[j]) < e && !(word[j] & FENCED) -> low = 1
#ifdef BUG_FENCED_ALIVE
		:: EP(word[j]) < e && (word[j] & FENCED) &&
		   !(dead & BIT(j)) -> low = 1
#endif
		:: EP(word[j]) < e && (word[j] & FENCED) ->
#ifdef BUG_FENCED_ALIVE
			dead & BIT(j);
#endif
			low = 0;
			goto publish
		fi;
		j = NEXT(j);
		if
		:: j < N -> goto read
		:: else -> j = 0
		fi;
		if
		:: !low -> goto complete
		:: low -> low = 0
#ifndef BUG_AWAITED
		:: low && ANY(SUSPECT_PEER) ->
			low = 0;
			sleeping = sleeping & ~BIT(me);
			goto suspect
#endif
		fi
	}

sleep:
	atomic {
#ifdef NO_TICK
		if
		:: rung & BIT(me)
		:: WATCHED_DEAD ->
			sleeping = sleeping & ~BIT(me);
			goto suspect
		fi;
#else
		rung & BIT(me);
#endif
		rung = rung & ~BIT(me);
		sleeping = sleeping & ~BIT(me);
#ifdef BUG_HINT_CLEARED
		hint = 0;
#endif
		goto poll
	}

suspect:
	/* even if I am fenced myself by now: I may not have seen it yet */
	atomic {
		if
#ifdef BUG_AWAITED
		:: WATCHED_DEAD -> FENCE(AWAITED)
#else
		EACH(FENCE_PEER)
#endif
		:: else -> goto poll
		fi
	}
#ifndef BUG_FENCE_NO_WAKE
	RING(fenced_ring);
#endif
	goto poll;

publish:
	/* the index is j; then take whichever verdict stands */
	atomic {
#ifdef BUG_VERDICT_STORE
		verdict = REASON | (1 + j);
#else
		if
		:: verdict == 0 -> verdict = REASON | (1 + j)
		:: else
		fi;
#endif
		j = 0;
		goto lost
	}

complete:
	/* set the rest of the own flags, each with the window of its round */
	atomic {
		sleeping = sleeping & ~BIT(me);
#ifdef BUG_NO_REST
		r = ROUNDS;
#else
		d_step {
#ifdef BUG_REST_RESULT
			window(N, wide, sum);
			part = sum;
#else
			window(LACK & (BIT(r) - 1), wide, part);
			window(BIT(r), wide, sum);
#endif
			send();
			r++
		};
#endif
		if
		:: r < ROUNDS -> goto complete
		:: else -> d_step { window(N, wide, sum) }; goto success
		fi
	}

success:
	atomic {
		d_step {
			k = 0;
			do
			:: k < N -> assert(EP(word[k]) >= e); k++
			:: else -> break
			od;
			k = 0;
			assert(wide == ALL && sum == ALLDIGITS);
			assert(answer[e] == 0 || answer[e] == ANS_OK);
			answer[e] = ANS_OK;
			r = 0;
			wide = 0;
			sum = 0;
			part = 0
		}
		e++;
		if
		:: e <= EPOCHS -> con[CON(me, e)] = e; goto arrive
		:: else -> goto finish
		fi
	}

lost:
	/* told: the member, its final epoch + 1, and the reason */
	atomic {
		d_step {
			sleeping = sleeping & ~BIT(me);
			rung = rung & ~BIT(me);
			assert(verdict != 0);
			assert(EP(word[VMEMBER]) + 1 == e);
			assert(word[VMEMBER] & FENCED);
			assert(answer[e] == 0 || answer[e] == verdict);
			answer[e] = verdict;
			r = 0;
			wide = 0;
			sum = 0;
			part = 0
		}
	}
#ifdef VERDICT_RING
	RING(verdict_ring);
#endif
shrink:
	atomic {
		if
		:: word[me] & FENCED
		:: else -> word[me] = word[me] | SHRINK
		fi;
		goto finish
	}

refused:
	atomic {
		assert(word[me] & FENCED);
		assert(silent & BIT(me))
	}
}
unless {
	atomic {
		dead & BIT(me);
		sleeping = sleeping & ~BIT(me);
		rung = rung & ~BIT(me);
		goto finish
	}
};
finish:
	atomic {
		d_step {
			ended = ended | BIT(me);
			dying = 0;
			e = 0;
			r = 0;
			j = 0;
			low = 0;
			wide = 0;
			sum = 0;
			part = 0
		}
	}
}

/*
 * The tick of the nodes that live: fences who is dead or silent, and wakes all
 * for every such member and for every fenced word, whoever fenced it.
 */
#if FAULTS > 0 && !defined(NO_TICK)
#define TICK(i)								\
	:: atomic {							\
		!(seen & BIT(i)) && (word[i] & FENCED || SUSPECT(i) ||	\
				     dead & BIT(i)) ->			\
		seen = seen | BIT(i);					\
		if							\
		:: word[i] & FINAL -> TICK_LATE				\
		:: else -> FENCE(i)					\
		fi							\
		TICK_SPLIT						\
		rung = rung | sleeping					\
	   }

#ifdef SPLIT_TICK
#define TICK_SPLIT	} atomic {
#else
#define TICK_SPLIT	;
#endif
#ifdef BUG_TICK_CAS_ONLY
#define TICK_LATE	goto again
#else
#define TICK_LATE	skip
#endif

proctype tick() UNLESS_DYING
{
	byte seen;
again:
end:	do
	EACH(TICK)
	od
}
#endif

#if FAULTS > 0
#define FATE(i)								\
	:: atomic {							\
		faults < FAULTS && !((dead | ended) & BIT(i)) ->	\
		faults++;						\
		dead = dead | BIT(i);					\
		dying = 1 + i						\
	   }

proctype fate() UNLESS_DYING
{
end:	do
	EACH(FATE)
	od
}
#endif

init
{
	byte i;

	atomic {
		do
		:: i < N -> run member(i); i++
		:: else -> break
		od;
		i = 0;
#if FAULTS > 0
#ifndef NO_TICK
		run tick();
#endif
		run fate()
#endif
	}
}
