/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shrinking a group after a verdict, again and again while members die.
 *
 * Group 0 has N members and a verdict: its last member was fenced. The survivors
 * shrink it; the new group's id follows from the old one, so generation g + 1 is
 * that id here. Making the new group is its barrier of epoch 1; if a member is
 * lost in it, the survivors shrink that one. A fault is a crash, or the fencing
 * of a member that lives; FAULTS of them beside the first loss.
 *
 * Each atomic block is one access to shared memory, but that all words are read
 * at once; verdict.pml says why that is the same, and why those that fail may be
 * taken to be the last FAULTS of the survivors.
 */
#ifndef N
#define N	4
#endif
#ifndef FAULTS
#define FAULTS	2
#endif
#define GENS	(FAULTS + 2)
#include "each.pml"

#define ARRIVED	1
#define FENCED	2
#define SHRINK	4
#ifdef BUG_FENCE_SHRINKING
#define FINAL	FENCED
#else
#define FINAL	(FENCED | SHRINK)
#endif

#define LOSER	(N - 1)
#define W(i)	word[g * N + (i)]

/* shared memory: one record for each generation */
byte word[GENS * N];
byte verdict[GENS];		/* 0, or publisher << 4 | 1 + member */
byte sleeping[GENS];		/* one bit for each member's sleeping word */

/* what the machine does */
byte rung, dead, ended, faults, dying;

/* for the checks */
byte list[GENS];		/* the members, as the first to know read them */
byte answer[GENS];
#define ANS_OK	255

#define IN(i)		(members & BIT(i))
#define MAY_FAIL(i)	((i) >= LOSER - FAULTS && (i) < LOSER &&	\
			 faults < FAULTS && !((dead | ended) & BIT(i)))
#define SUSPECT(i)	(i != me && IN(i) && !(W(i) & FINAL) &&		\
			 ((dead & BIT(i)) || MAY_FAIL(i)))
#define DEAD_OPEN(i)	(i != me && IN(i) && (dead & BIT(i)) && !(W(i) & FINAL))

/* of a group that is being made */
#define LOW(i)		(IN(i) && !(W(i) & ARRIVED))
#define LOST(i)		(LOW(i) && (W(i) & FENCED))
#define PICK_LOST(i)	:: making && LOST(i) -> j = i; goto publish

/* of a group that shrinks */
#ifdef BUG_NOT_FINAL
#define UNDECIDED(i)	false
#define STAYS(i)	(IN(i) && !(W(i) & FENCED) && !(dead & BIT(i)))
#else
#define UNDECIDED(i)	(IN(i) && !(W(i) & (SHRINK | FENCED)))
#ifdef BUG_FENCE_SHRINKING
#define STAYS(i)	(IN(i) && (W(i) & SHRINK) && !(W(i) & FENCED))
#else
#define STAYS(i)	(IN(i) && (W(i) & SHRINK))
#endif
#endif
#define COUNT(i)	next = next | (STAYS(i) -> BIT(i) : 0);

#define FENCE(i)							\
	:: SUSPECT(i) ->						\
		W(i) = W(i) | FENCED;					\
		faults = faults + (dead & BIT(i) -> 0 : 1)

#define RING	rung = rung | sleeping[g]
#define AWAKE	sleeping[g] = sleeping[g] & ~BIT(me)

proctype member(byte me) UNLESS_DYING
{
	byte g;			/* the generation */
	byte members = ALL;	/* its members, as I read them */
	byte next;		/* the members of the next one */
	byte j;			/* whom the verdict is to name */
	bool making;		/* waiting for epoch 1, not for the shrink */

{
	skip;
shrink:
	atomic {
		assert(verdict[g] != 0);
		making = 0;
#ifdef BUG_SHRINK_FENCED
		W(me) = W(me) | SHRINK
#else
		if
		:: W(me) & FENCED -> goto finish
		:: else -> W(me) = W(me) | SHRINK
		fi
#endif
	}
#ifndef BUG_SHRINK_NO_RING
	RING;
#endif

prepare:
	atomic {
		sleeping[g] = sleeping[g] | BIT(me);
		rung = rung & ~BIT(me)
	}
read:
	atomic {
		if
		:: making && verdict[g] -> goto lost
		EACH(PICK_LOST)
		:: making && !ANY(LOW) -> goto made
		:: !making && !ANY(UNDECIDED) -> EACH(COUNT) goto shrunk
		:: else ->
			if
			:: ANY(SUSPECT) -> goto suspect
			:: !ANY(DEAD_OPEN)
			fi
		fi
	}

	/* no timer: only a ring ends this */
	atomic {
		rung & BIT(me);
		goto prepare
	}

suspect:
	atomic {
		AWAKE;
		if
		EACH(FENCE)
		:: else -> goto prepare
		fi
	}
	RING;
	goto prepare;

shrunk:
	/* the new group is made by arriving in it */
	atomic {
		AWAKE;
		g++;
		assert(g < GENS);
		assert(list[g] == 0 || list[g] == next);
		assert(next & BIT(me));
		assert(next != members);
		list[g] = next;
		members = next;
		next = 0;
		making = 1
	}
	atomic {
		if
		:: W(me) & FENCED -> goto finish
		:: else -> W(me) = W(me) | ARRIVED
		fi
	}
	RING;
	goto prepare;

publish:
	atomic {
		if
		:: verdict[g] == 0 -> verdict[g] = (1 + me) << 4 | (1 + j)
#ifdef BUG_VERDICT_STORE
		:: verdict[g] != 0 -> verdict[g] = (1 + me) << 4 | (1 + j)
#else
		:: verdict[g] != 0
#endif
		fi;
		j = 0
	}
lost:
	atomic {
		AWAKE;
		assert(answer[g] == 0 || answer[g] == verdict[g]);
		answer[g] = verdict[g];
		goto shrink
	}

made:
	atomic {
		AWAKE;
		assert(!ANY(LOW));
		assert(answer[g] == 0 || answer[g] == ANS_OK);
		answer[g] = ANS_OK
	}
}
unless {
	dead & BIT(me)
};
finish:
	atomic {
		ended = ended | BIT(me);
		dying = 0;
		AWAKE;
		rung = rung & ~BIT(me);
		g = 0;
		members = 0;
		next = 0;
		j = 0;
		making = 0
	}
}

/*
 * The tick of the nodes that live wakes all when it sees a member die, whether
 * or not there is a word left to fence: the dead one may have set shrinking,
 * after which nobody can fence it, and not have rung yet.
 */
#if GENS == 2
#define ASLEEP	(sleeping[0] | sleeping[1])
#elif GENS == 3
#define ASLEEP	(sleeping[0] | sleeping[1] | sleeping[2])
#else
#define ASLEEP	(sleeping[0] | sleeping[1] | sleeping[2] | sleeping[3])
#endif

#define OPEN(i, gen)	(!(word[(gen) * N + (i)] & FINAL) &&		\
			 (gen == 0 || (list[gen] & BIT(i))))
#ifdef BUG_TICK_CAS_ONLY
#define TICK(i)								\
	:: atomic {							\
		(dead & BIT(i)) && !(seen & BIT(i)) ->			\
		seen = seen | BIT(i);					\
		if							\
		:: OPEN(i, 0) -> word[i] = word[i] | FENCED		\
		:: OPEN(i, 1) -> word[N + i] = word[N + i] | FENCED	\
		:: else -> goto again					\
		fi							\
	   }								\
	   rung = rung | ASLEEP
#else
#define TICK(i)								\
	:: atomic {							\
		(dead & BIT(i)) && !(seen & BIT(i)) ->			\
		seen = seen | BIT(i);					\
		rung = rung | ASLEEP					\
	   }
#endif

proctype tick() UNLESS_DYING
{
	byte seen = BIT(LOSER);
again:
end:	do
	EACH(TICK)
	od
}

#define FATE(i)								\
	:: atomic {							\
		MAY_FAIL(i) ->						\
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
		list[0] = ALL;
		word[LOSER] = FENCED;
		verdict[0] = N;
		dead = BIT(LOSER);
		do
		:: i < LOSER -> run member(i); i++
		:: else -> break
		od;
		i = 0;
		run tick();
		run fate()
	}
}
