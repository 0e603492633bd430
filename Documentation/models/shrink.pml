/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shrinking a group after a verdict, again and again while members die.
 *
 * Group 0 has N members and a verdict: its last member was fenced. The survivors
 * shrink it; the new group's id follows from the old one, so generation g + 1 is
 * that id here. Making the new group is its barrier of epoch 1; if a member is
 * lost in it, the survivors shrink that one. A fault is a crash, or the fencing
 * of a member that lives. Each labelled step is one access to shared memory.
 */
#ifndef N
#define N	4
#endif
#ifndef FAULTS
#define FAULTS	2
#endif
#if FAULTS == 1
#define GENS	3
#else
#define GENS	4
#endif

#define ARRIVED	1
#define FENCED	2
#define SHRINK	4
#ifdef BUG_FENCE_SHRINKING
#define FINAL	FENCED
#else
#define FINAL	(FENCED | SHRINK)
#endif

#define BIT(i)	(1 << (i))
#define ALL	(BIT(N) - 1)
#define W(i)	word[g * N + (i)]

/* shared memory: one record for each generation */
byte word[GENS * N];
byte verdict[GENS];		/* 0, or publisher << 4 | 1 + member */
byte sleeping[GENS];		/* one bit for each member's sleeping word */

/* what the machine does */
byte rung, dead, ended, faults;

/* for the checks */
byte list[GENS];		/* the members, as the first to know read them */
byte answer[GENS];
#define ANS_OK	255
hidden byte k;

#define SUSPECT(i)	(i != me && (members & BIT(i)) && !(W(i) & FINAL) && \
			 ((dead & BIT(i)) ||				\
			  (faults < FAULTS && !(ended & BIT(i)))))
#define DEAD_OPEN(i)	(i != me && (members & BIT(i)) && (dead & BIT(i)) && \
			 !(W(i) & FINAL))
#if N == 3
#define ANY(x)	(x(0) || x(1) || x(2))
#else
#define ANY(x)	(x(0) || x(1) || x(2) || x(3))
#endif

#define FENCE(i)							\
	W(i) = W(i) | FENCED;						\
	if								\
	:: dead & BIT(i)						\
	:: else -> faults++						\
	fi

proctype member(byte me)
{
	byte g;			/* the generation */
	byte members = ALL;	/* its members, as I read them */
	byte j;			/* the word to be read next */
	byte next;		/* the members of the next one, as read so far */
	bool low;		/* a word that is not final, not arrived */
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
	rung = rung | sleeping[g];
#endif

prepare:
	atomic {
		sleeping[g] = sleeping[g] | BIT(me);
		rung = rung & ~BIT(me)
	}
	atomic {
		if
		:: making && verdict[g] -> goto lost
		:: else
		fi
	}
read:
	atomic {
		if
		:: !(members & BIT(j))
		:: (members & BIT(j)) && making ->
			if
			:: W(j) & ARRIVED
			:: !(W(j) & ARRIVED) && (W(j) & FENCED) -> goto publish
			:: !(W(j) & ARRIVED) && !(W(j) & FENCED) -> low = 1
			fi
		:: (members & BIT(j)) && !making ->
			if
#ifdef BUG_FENCE_SHRINKING
			:: W(j) & FENCED
			:: (W(j) & SHRINK) && !(W(j) & FENCED) ->
				next = next | BIT(j)
#else
			:: W(j) & SHRINK -> next = next | BIT(j)
			:: !(W(j) & SHRINK) && (W(j) & FENCED)
#endif
#ifdef BUG_NOT_FINAL
			:: !(W(j) & (SHRINK | FENCED)) && !(dead & BIT(j)) ->
				next = next | BIT(j)
			:: !(W(j) & (SHRINK | FENCED)) && (dead & BIT(j))
#else
			:: !(W(j) & (SHRINK | FENCED)) -> low = 1
#endif
			fi
		fi;
		j++;
		if
		:: j < N -> goto read
		:: else -> j = 0
		fi;
		if
		:: !low && making -> goto made
		:: !low && !making -> goto shrunk
		:: low && ANY(SUSPECT) -> low = 0; next = 0; goto suspect
		:: low && !ANY(DEAD_OPEN) -> low = 0; next = 0
		fi
	}

	/* no timer: only a ring ends this */
	atomic {
		rung & BIT(me);
		goto prepare
	}

suspect:
	atomic {
		sleeping[g] = sleeping[g] & ~BIT(me);
		if
		:: SUSPECT(0) -> FENCE(0)
		:: SUSPECT(1) -> FENCE(1)
		:: SUSPECT(2) -> FENCE(2)
#if N > 3
		:: SUSPECT(3) -> FENCE(3)
#endif
		:: else -> goto prepare
		fi
	}
	rung = rung | sleeping[g];
	goto prepare;

shrunk:
	atomic {
		sleeping[g] = sleeping[g] & ~BIT(me);
		d_step {
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
	}
	/* the new group is made by arriving in it */
	atomic {
		if
		:: W(me) & FENCED -> goto finish
		:: else -> W(me) = W(me) | ARRIVED
		fi
	}
	rung = rung | sleeping[g];
	goto prepare;

publish:
	atomic {
		if
		:: verdict[g] == 0 -> verdict[g] = (1 + me) << 4 | (1 + j)
		:: else
		fi
	}
lost:
	atomic {
		sleeping[g] = sleeping[g] & ~BIT(me);
		d_step {
			j = 0;
			low = 0;
			assert(answer[g] == 0 || answer[g] == verdict[g]);
			answer[g] = verdict[g]
		}
		goto shrink
	}

made:
	atomic {
		sleeping[g] = sleeping[g] & ~BIT(me);
		d_step {
			k = 0;
			do
			:: k < N ->
				assert(!(members & BIT(k)) || (W(k) & ARRIVED));
				k++
			:: else -> break
			od;
			k = 0;
			assert(answer[g] == 0 || answer[g] == ANS_OK);
			answer[g] = ANS_OK
		}
	}
}
unless {
	atomic { dead & BIT(me); goto finish }
};
finish:
	atomic {
		d_step {
			ended = ended | BIT(me);
			sleeping[g] = sleeping[g] & ~BIT(me);
			rung = rung & ~BIT(me);
			g = 0;
			members = 0;
			j = 0;
			next = 0;
			low = 0;
			making = 0
		}
	}
}

/*
 * The tick of the nodes that live wakes all when it sees a member die, whether
 * or not there is a word left to fence: the dead one may have set shrinking,
 * after which nobody can fence it, and not have rung yet.
 */
#if GENS == 3
#define ASLEEP	(sleeping[0] | sleeping[1] | sleeping[2])
#else
#define ASLEEP	(sleeping[0] | sleeping[1] | sleeping[2] | sleeping[3])
#endif

#define OPEN(i, gen)							\
	:: !(word[(gen) * N + (i)] & FINAL) && (gen == 0 || list[gen] & BIT(i)) -> \
		word[(gen) * N + (i)] = word[(gen) * N + (i)] | FENCED
#ifdef BUG_TICK_CAS_ONLY
#define TICK(i)								\
	:: atomic {							\
		(dead & BIT(i)) && !(seen & BIT(i)) ->			\
		seen = seen | BIT(i);					\
		if							\
		OPEN(i, 0)						\
		OPEN(i, 1)						\
		:: else -> goto again					\
		fi							\
	   }								\
	   rung = rung | ASLEEP
#else
#define TICK(i)								\
	:: atomic {							\
		(dead & BIT(i)) && !(seen & BIT(i)) ->			\
		seen = seen | BIT(i)					\
	   }								\
	   rung = rung | ASLEEP
#endif

proctype tick()
{
	byte seen;
again:
end:	do
	TICK(0)
	TICK(1)
#if N > 3
	TICK(2)
#endif
	od
}

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
#if N > 3
	FATE(2)
#endif
	od
}

init
{
	byte i;

	atomic {
		list[0] = ALL;
		word[N - 1] = FENCED;
		verdict[0] = N;
		dead = BIT(N - 1);
		do
		:: i < N - 1 -> run member(i); i++
		:: else -> break
		od;
		i = 0;
		run tick();
		run fate()
	}
}
