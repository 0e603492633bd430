/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The uniform answer of a barrier: arrival words, hint, sleepers, fences and the
 * verdict, for 4 members of whom 2 fail. barrier.pml holds the same in finer
 * steps, and what rides on the flags; this model leaves out what cannot matter:
 *
 *  - Members are alike. Wherever one of them is picked, any may be, so every run
 *    is, renamed, one in which those that fail are among the last FAULTS.
 *  - All words are read at once. They only rise, and a word that is fenced is
 *    final; so who reads them one by one finds what stood at the moment of the
 *    read that decided: the fenced word, the last missing one, or the first low
 *    one when all after it were neither fenced nor missing any more.
 *  - A read that cannot change any more, and the store that follows from it, are
 *    one step; so are the two stores that announce a sleeper's epoch.
 *  - Without FLAGS, a member that polls may learn at any time that all arrived,
 *    or never: flags promise no more (barrier.pml, and the test of schedules).
 *    With FLAGS they are lines with epochs, and members are alike only up to
 *    rotation: FAULTY says which may fail.
 *
 * A fault: a member stops for good, or is fenced although it lives and runs on.
 */
#ifndef N
#define N	4
#endif
#ifndef EPOCHS
#define EPOCHS	1
#endif
#ifndef FAULTS
#define FAULTS	2
#endif
#include "each.pml"

#ifndef FAULTY
#define FAULTY	((BIT(FAULTS) - 1) << (N - FAULTS))
#endif

#if N == 2
#define ROUNDS	1
#elif N <= 4
#define ROUNDS	2
#else
#define ROUNDS	3
#endif
#define LINE(to, rnd)	((to) * ROUNDS + (rnd))

#define FENCED	64
#define SHRINK	128
#define FINAL	(FENCED | SHRINK)
#define EP(w)	((w) & 63)

/* shared memory */
byte word[N];			/* arrival words: fenced, shrinking, epoch */
byte verdict;			/* 0, or reason << 4 | 1 + member */
byte hint;
byte sleeping;			/* one bit for each member's sleeping word */
#ifdef FLAGS
byte flag[N * ROUNDS];
#endif

/* what the machine does */
byte rung;			/* rings that reached a sleeper */
byte dead, ended, faults, dying;

/* for the checks */
byte answer[EPOCHS + 1];	/* 0, ANS_OK or the verdict */
#define ANS_OK	255

#define VMEMBER		((verdict & 15) - 1)
#define VSTANDS		(verdict != 0 && EP(word[VMEMBER]) < e)
/* a different reason for each publisher: the answer must not mix them */
#define REASON		((me + 1) << 4)

#define LOW(i)		(EP(word[i]) < e)
#define LOST(i)		(LOW(i) && (word[i] & FENCED))
#ifdef BUG_DEAD_ARRIVED
#define MISSING(i)	(LOW(i) && !(dead & BIT(i)))
#else
#define MISSING		LOW
#endif

/* who may be fenced: the dead, and the living as long as faults are left */
#define MAY_FAIL(i)	((FAULTY & BIT(i)) && faults < FAULTS && !(ended & BIT(i)))
#define SUSPECT(i)	(!(word[i] & FINAL) && ((dead & BIT(i)) || MAY_FAIL(i)))
#define SUSPECT_PEER(i)	(i != me && SUSPECT(i))

#define FENCE(i)							\
	word[i] = word[i] | FENCED;					\
	faults = faults + (dead & BIT(i) -> 0 : 1)

#define FENCE_PEER(i)	:: SUSPECT_PEER(i) -> FENCE(i)
#define PICK_LOST(i)	:: LOST(i) -> j = i; goto publish

#define RING	rung = rung | sleeping
#define AWAKE	sleeping = sleeping & ~BIT(me); rung = rung & ~BIT(me)
#define SEND	flag[LINE((me + BIT(r)) % N, r)] = e

proctype member(byte me) UNLESS_DYING
{
	byte e = 1;		/* the epoch */
	byte j;			/* whom the verdict is to name */
#ifdef FLAGS
	byte r;			/* the round */
#endif

{
	skip;
arrive:
#ifdef BUG_FLAG_FIRST
	SEND;
#endif
	atomic {
		if
		:: VSTANDS -> goto lost
#ifdef BUG_ARRIVE_STORE
		:: word[me] = e
#else
		:: word[me] == e - 1 -> word[me] = e
		:: word[me] != e - 1 -> goto refused
#endif
		fi
	}

look:
	/* the last to arrive rings everyone who sleeps */
	atomic {
		if
		:: hint < e || ANY(LOW) -> goto set
		:: else
		fi
	}
#ifndef BUG_NO_RING
	RING;
#endif

set:
#ifdef FLAGS
	SEND;
#endif

poll:
	atomic {
		if
#ifdef FLAGS
		:: flag[LINE(me, r)] >= e ->
			r++;
			if
			:: r < ROUNDS -> SEND; goto poll
			:: else -> goto success
			fi
#else
		:: !ANY(LOW) -> goto success
#endif
		/* give up polling */
		:: hint = (hint < e -> e : hint);
			sleeping = sleeping | BIT(me);
			rung = rung & ~BIT(me)
		fi
	}

record:
	atomic {
		if
#ifdef BUG_LATER_VERDICT
		:: verdict != 0 -> goto lost
#else
		:: VSTANDS -> goto lost
#endif
		EACH(PICK_LOST)
		:: !ANY(MISSING) -> goto complete
		:: ANY(MISSING) && !ANY(LOST)
		:: ANY(MISSING) && !ANY(LOST) && ANY(SUSPECT_PEER) ->
			AWAKE;
			goto suspect
		fi
	}

sleep:
	atomic {
		rung & BIT(me);
		AWAKE;
#ifdef BUG_HINT_CLEARED
		hint = 0;
#endif
		goto poll
	}

suspect:
	/* even if I am fenced myself by now: I may not have seen it yet */
	atomic {
		if
		EACH(FENCE_PEER)
		:: else -> goto poll
		fi
	}
	atomic { RING; goto poll }

publish:
	/* then take whichever verdict stands */
	atomic {
		if
#ifdef BUG_VERDICT_STORE
		:: verdict = REASON | (1 + j)
#else
		:: verdict == 0 -> verdict = REASON | (1 + j)
#endif
		:: verdict != 0
#ifdef BUG_OWN_VERDICT
			-> assert(answer[e] == 0 || answer[e] == (REASON | (1 + j)));
			answer[e] = REASON | (1 + j)
#endif
		fi;
		j = 0
	}

lost:
	/* told: the member, its final epoch + 1, and the reason */
	atomic {
		AWAKE;
		assert(verdict != 0);
		assert(EP(word[VMEMBER]) + 1 == e);
		assert(word[VMEMBER] & FENCED);
		assert(answer[e] == 0 || answer[e] == verdict);
		answer[e] = verdict
	}
	atomic {
		if
		:: word[me] & FENCED
		:: else -> word[me] = word[me] | SHRINK
		fi;
		goto finish
	}

complete:
	/* by the record: the rest of the own flags */
	atomic {
		AWAKE;
#ifdef FLAGS
		if
		:: r < ROUNDS -> SEND; r++; goto complete
		:: else
		fi
#endif
	}

success:
	atomic {
		assert(!ANY(LOW));
		assert(answer[e] == 0 || answer[e] == ANS_OK);
		answer[e] = ANS_OK;
		e++;
#ifdef FLAGS
		r = 0;
#endif
		if
		:: e <= EPOCHS -> goto arrive
		:: else -> goto finish
		fi
	}

refused:
	assert(word[me] & FENCED)
}
unless {
	atomic { dead & BIT(me); AWAKE }
};
finish:
	atomic {
		ended = ended | BIT(me);
		dying = 0;
		e = 0;
		j = 0;
#ifdef FLAGS
		r = 0
#endif
	}
}

/*
 * The tick of the nodes that live: fences who is dead or silent, and wakes all
 * for every such member and for every fenced word, whoever fenced it.
 */
#define TICK(i)								\
	:: atomic {							\
		!(seen & BIT(i)) && ((word[i] & FENCED) || SUSPECT(i) ||	\
				     (dead & BIT(i))) ->		\
		seen = seen | BIT(i);					\
		if							\
		:: word[i] & FINAL -> TICK_LATE				\
		:: else -> FENCE(i)					\
		fi;							\
		RING							\
	   }
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

#define FATE(i)								\
	:: atomic {							\
		MAY_FAIL(i) && !(dead & BIT(i)) ->			\
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

init
{
	byte i;

	atomic {
		do
		:: i < N -> run member(i); i++
		:: else -> break
		od;
		i = 0;
		run tick();
		run fate()
	}
}
