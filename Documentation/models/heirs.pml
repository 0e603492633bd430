/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two groups of the same members are shrunk after a verdict, by members with one
 * thread each, some in this order and some in that, while FAULTS more crash.
 *
 * Whoever waits in one shrink takes part in the other: it agrees, and when all
 * have, joins the heir and arrives. The heir may lose a member in turn and be
 * shrunk by those who have it in hand; so it is the newest heir that is helped.
 * What is asked: nobody waits for ever, and all are told the same.
 *
 * shrink.pml has the sleeping, the ringing and the verdict word; here a wait is a
 * guard, words are read at once, and a verdict is seen where a fenced word that
 * has not arrived is. A member that lives is never fenced: no time is ever over.
 */
#ifndef N
#define N	4
#endif
#ifndef FAULTS
#define FAULTS	1
#endif
#define GENS	(FAULTS + 2)
#include "each.pml"

#define ARRIVED	1
#define FENCED	2
#define SHRINK	4
#define FINAL	(FENCED | SHRINK)
#define LOSER	(N - 1)

/* shared memory: group x in {0, 1}, its heirs by generation */
#define REC(x, g)	((x) * GENS + (g))
#define W(r, i)		word[(r) * N + (i)]
byte word[2 * GENS * N];
byte list[2 * GENS];		/* members, as the first to know read them */

byte dead, ended, faults, dying;
byte answer[2 * GENS];		/* for the checks: 1 made, 2 lost */

#define IN(r, i)	(list[r] & BIT(i))

/* Of the group in hand, h; of its heir, h + 1; of the newest one of the other, n. */
#define UNDECIDED_H(i)	(IN(h, i) && !(W(h, i) & FINAL))
#define LOW_HEIR(i)	(IN(h + 1, i) && !(W(h + 1, i) & ARRIVED))
#define LOST_HEIR(i)	(LOW_HEIR(i) && (W(h + 1, i) & FENCED))
#define UNDECIDED_N(i)	(IN(n, i) && !(W(n, i) & FINAL))
#define SHRINKS_N(i)	(IN(n, i) && (W(n, i) & SHRINK))
#define COUNT(i)	next = next | ((W(from, i) & SHRINK) && IN(from, i) -> \
				       BIT(i) : 0);

/* Join what comes of group @from, all of whose words are final, and arrive. */
inline join(from)
{
	EACH(COUNT)
	assert(next & BIT(me));
	assert(list[from + 1] == 0 || list[from + 1] == next);
	assert(!(W(from + 1, me) & FENCED));
	list[from + 1] = next;
	W(from + 1, me) = W(from + 1, me) | ARRIVED;
	next = 0
}

#if defined(BUG_NO_HEIRS)
#define HELPS	false
#elif defined(BUG_HEIR_OF_HEIR)
#define HELPS	(k == 0 && n == REC(1 - x, 0))
#else
#define HELPS	(k == 0)
#endif

/* What a wait does meanwhile; the other group is done when k is 1. */
#define HELP(back)							\
	:: HELPS && !(W(n, me) & FINAL) && ANY(SHRINKS_N) ->		\
		W(n, me) = W(n, me) | SHRINK;				\
		goto back						\
	:: HELPS && (W(n, me) & SHRINK) && !ANY(UNDECIDED_N) ->		\
		join(n);						\
		n++;							\
		goto back

proctype member(byte me) UNLESS_DYING
{
	byte k;			/* groups done */
	byte x;			/* the group in hand, .. */
	byte h;			/* .. its record .. */
	byte heir;		/* .. and its newest heir, if not 0 */
	byte n;			/* newest record of the other group */
	byte next;

{
	atomic { x = me % 2; h = REC(x, 0); n = REC(1 - x, 0) }
agree:
	atomic {
		assert(!(W(h, me) & FENCED));
		W(h, me) = W(h, me) | SHRINK
	}
wait:
	atomic {
		if
		:: heir > h -> goto finish_heir
		:: heir <= h && !ANY(UNDECIDED_H) ->
			join(h);
			heir = h + 1;
			goto finish_heir
		HELP(wait)
		fi
	}
finish_heir:
	atomic {
		if
		:: ANY(LOST_HEIR) ->
			assert(answer[h + 1] != 1);
			answer[h + 1] = 2;
			h++;
			goto agree
		:: !ANY(LOW_HEIR) ->
			assert(answer[h + 1] != 2);
			answer[h + 1] = 1;
			k++;
			if
			:: k == 2 -> goto finish
			:: else ->
				/* the other one, and how far it was helped */
				x = 1 - x;
				h = REC(x, 0);
				heir = (n > h -> n : 0);
				n = 0;
				goto agree
			fi
		HELP(finish_heir)
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
		k = 0;
		x = 0;
		h = 0;
		heir = 0;
		n = 0;
		next = 0
	}
}

/* The nodes that live fence who died, in each group that it is a member of. */
#define OPEN(r, i)	(IN(r, i) && (dead & BIT(i)) && !(W(r, i) & FINAL))
#define FENCE_IN(r, i)	:: OPEN(r, i) -> W(r, i) = W(r, i) | FENCED
#if GENS == 2
#define FENCE(i)	FENCE_IN(0, i) FENCE_IN(1, i) FENCE_IN(2, i) FENCE_IN(3, i)
#elif GENS == 3
#define FENCE(i)	FENCE_IN(0, i) FENCE_IN(1, i) FENCE_IN(2, i)	\
			FENCE_IN(3, i) FENCE_IN(4, i) FENCE_IN(5, i)
#else
#define FENCE(i)	FENCE_IN(0, i) FENCE_IN(1, i) FENCE_IN(2, i)	\
			FENCE_IN(3, i) FENCE_IN(4, i) FENCE_IN(5, i)	\
			FENCE_IN(6, i) FENCE_IN(7, i)
#endif

proctype tick() UNLESS_DYING
{
end:	do
	:: atomic {
		if
		EACH(FENCE)
		fi
	   }
	od
}

#define FATE(i)								\
	:: atomic {							\
		(i) < LOSER && faults < FAULTS && !((dead | ended) & BIT(i)) ->	\
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
		list[REC(0, 0)] = ALL;
		list[REC(1, 0)] = ALL;
		W(REC(0, 0), LOSER) = FENCED;
		W(REC(1, 0), LOSER) = FENCED;
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
