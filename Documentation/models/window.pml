/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows: a home makes one, gives it other memory (rotate, fresh), destroys it
 * and makes the next; a peer attaches, maps and ticks. The home may crash before
 * any step, up to CRASHES times, and a next life of it goes on with the records.
 *
 * Two units of memory, a record for each of two windows {generation, unit, live}.
 * Each atomic block is one access to shared memory, or one step under a lock of
 * the peer's. The peer's heartbeat is modelled by what the home makes of it: the
 * number of beats since the unit went to quarantine.
 *
 * What is asked: memory is given out only when the peer has not mapped it, and
 * who attaches gets the memory that belongs to the generation.
 */
#ifndef CRASHES
#define CRASHES	1
#endif
#define UNITS	2
#define NONE	UNITS
#ifndef ATTACHES
#define ATTACHES 3		/* how often the peer tries */
#endif
#ifdef BUG_ONE_BEAT
#define BEATS	1
#else
#define BEATS	2
#endif

/* shared memory: the records; odd generations while they change */
byte gen[UNITS], unit[UNITS], live[UNITS];
bool up;			/* the home's word */
byte life;			/* its incarnation */

/* what the home knows of a unit: free, in use, or beats of its quarantine */
#define FREE	10
#define USED	11
byte state[UNITS];

byte own;			/* the record of the window that stands */
byte offered;			/* its generation, and life: told out of band */
byte offered_life;
byte truth;			/* for the check: the unit that belongs to it */

/* the peer */
byte at_gen, at_life, at_rec;	/* its attachment; at_gen 0: none */
byte at_unit;
byte mapped = NONE;
bool locked;			/* map_sem: from check to use, and to revoke */

byte crashes;
bool crashed;

#define OTHER(x)	(1 - (x))
#define FRESH(u)	(state[u] == FREE)
#define ENDED	(!up || life != at_life || gen[at_rec] != at_gen)
/* Beats count from when the home has looked. */
#define BEAT(u)	state[u] = (state[u] < BEATS -> state[u] + 1 : state[u])

/* the tick: memory whose quarantine is over is free, and its record is empty */
#define RELEASE(u, r)							\
	:: state[u] == BEATS && unit[r] == u && !live[r] ->		\
		unit[r] = NONE;						\
		gen[r] = gen[r] + 2;					\
		state[u] = FREE

inline give(u)
{
	assert(mapped != u);
	state[u] = USED
}

#ifdef BUG_EVEN
#define BEGIN(r)	skip
#define END(r)		gen[r] = gen[r] + 2
#else
#define BEGIN(r)	gen[r] = gen[r] + 1
#define END(r)		gen[r] = gen[r] + 1
#endif

proctype home()
{
	byte u, v, n;

{
	skip;
start:
	/* a next life: everything that the records name goes to quarantine */
	atomic {
		life++;
		own = 0;
		u = 0;
		do
		:: u < UNITS -> state[u] = FREE; u++
		:: else -> break
		od;
		u = 0
	}
join:
	atomic {
		if
		:: u == UNITS -> u = 0; goto joined
		:: u < UNITS && unit[u] == NONE -> u++; goto join
		:: u < UNITS && unit[u] != NONE ->
			live[u] = 0;
			gen[u] = (gen[u] | 1) + 1;
#ifndef BUG_LIFE_FORGETS
			state[unit[u]] = 0;
#endif
			u++;
			goto join
		fi
	}
joined:
	atomic { up = 1 }
make:
	/* wait for a unit, and a record, that are free */
	atomic {
		if
		:: FRESH(0) && unit[0] == NONE -> u = 0; own = 0
		:: FRESH(0) && unit[0] != NONE && unit[1] == NONE -> u = 0; own = 1
		:: !FRESH(0) && FRESH(1) && unit[0] == NONE -> u = 1; own = 0
		:: !FRESH(0) && FRESH(1) && unit[0] != NONE && unit[1] == NONE ->
			u = 1;
			own = 1
		RELEASE(0, 0); goto make
		RELEASE(0, 1); goto make
		RELEASE(1, 0); goto make
		RELEASE(1, 1); goto make
		fi;
		give(u)
	}
	atomic { BEGIN(own) }
	atomic { unit[own] = u }
	atomic { live[own] = 1 }
	atomic {
		END(own);
		truth = u;
		offered = gen[own];
		offered_life = life
	}
	/* other memory, if there is: the old has a record before it is let go */
	atomic {
		v = 1 - u;
		if
		:: FRESH(v) && unit[OTHER(own)] == NONE -> give(v)
		:: else -> goto destroy
		fi
	}
#ifndef BUG_MOVE_LATE
	atomic { BEGIN(OTHER(own)) }
	atomic { unit[OTHER(own)] = u; live[OTHER(own)] = 0 }
	atomic { END(OTHER(own)) }
#endif
	atomic { BEGIN(own) }
	atomic { unit[own] = v }
	atomic {
		END(own);
		truth = v;
		offered = gen[own]
	}
#ifdef BUG_MOVE_LATE
	atomic { BEGIN(OTHER(own)) }
	atomic { unit[OTHER(own)] = u; live[OTHER(own)] = 0 }
	atomic { END(OTHER(own)) }
#endif
	atomic { state[u] = 0; u = v }
destroy:
	atomic { BEGIN(own) }
	atomic { live[own] = 0 }
	atomic { END(own); offered = 0 }
	atomic { state[u] = 0; n++ }
	atomic {
		if
		:: n < 2 -> goto make
		:: else -> goto done
		fi
	}
}
unless {
	/* some time later there is a next life */
	atomic {
		crashed;
		crashed = 0;
		up = 0;
		offered = 0;
		n = 0;
		u = 0;
		v = 0;
		goto start
	}
};
done:
	skip
}

/* Uses: attach what is offered, map it. */
proctype peer()
{
	byte g, l, r, u, n;

end:	do
	:: atomic { n < ATTACHES && offered && at_gen == 0 ->
			g = offered; l = offered_life; r = own; n++ }
	   atomic {
		if
		:: !up || life != l || gen[r] != g -> goto over
		:: else
		fi
	   }
	   atomic { u = unit[r] }
	   atomic {
		if
		:: gen[r] == g && live[r] ->
			/* what was read belongs to that generation */
			assert(offered != g || own != r || offered_life != l ||
			       u == truth);
			at_gen = g;
			at_life = l;
			at_rec = r;
			at_unit = u
		:: else
		fi;
over:		g = 0;
		l = 0;
		r = 0;
		u = 0
	   }
	/* a fault: check, then map; the lock is held for read */
	:: atomic { at_gen && mapped == NONE && !locked && !ENDED -> locked = 1 }
	   atomic { mapped = at_unit; locked = 0 }
	od
}

/* The tick: what has ended is zapped, then the heartbeat is raised. */
proctype tick()
{
end:	do
	:: atomic {
		at_gen && ENDED && !locked -> mapped = NONE; at_gen = 0
	   }
	:: atomic {
		(!at_gen || !ENDED) && !locked &&
		(state[0] < BEATS || state[1] < BEATS) -> skip
	   }
	   atomic { BEAT(0); BEAT(1) }
	od
}

proctype fate()
{
end:	do
	:: atomic { crashes < CRASHES && !crashed && life -> crashes++; crashed = 1 }
	od
}

init
{
	atomic {
		unit[0] = NONE;
		unit[1] = NONE;
		run home();
		run peer();
		run tick();
		run fate()
	}
}
