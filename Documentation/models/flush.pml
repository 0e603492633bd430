/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The uniform answer without shared memory: members that are joined by
 * connections only, which may break, pool what they know.
 *
 * One flat level, one port, a member on each node. Every step is an event at one
 * node: the user's arrival, a message, a connection found broken. What a message
 * brings about, decision included, is one step, as the completion handler does it.
 * A message stays in its channel until it is handled; whoever finds a connection
 * broken before that has lost it, so of what a member sent before it died each of
 * the others may have got any beginning.
 *
 * Faults: crash; silent: others may take the member for dead though it runs on
 * (and may hear it or not when they ask); cut: one connection breaks for good;
 * with PARTITION all connections between the lower and the upper half at once.
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
#ifndef DEPTH
#define DEPTH	(2 * N + 2)	/* messages under way on one connection */
#endif
#include "each.pml"

#if N == 2
#define ROUNDS	1
#elif N <= 4
#define ROUNDS	2
#else
#define ROUNDS	3
#endif

#define TO(x, y)	((x) * N + (y))

/* what each node has */
byte at[N];			/* epoch that its member arrived at */
byte done[N];			/* that it returned ok for */
byte rnd[N];			/* round that it waits in */
byte flag[N * ROUNDS];		/* flags that came: the epoch */
byte out[N];			/* F: members that it uses nothing of any more */
byte got[N * N];		/* F of the last FLUSH, by who sent it */
short known[N];			/* epoch that y is known to have arrived at, 2 bits each */
byte result[N];			/* last epoch whose result it has */
byte verdict[N];		/* epoch << 4 | 1 + member */
byte told[N];			/* the verdict that its member returned with */
byte isolated;			/* those whose member returned with that */

/* connections: {0, epoch, round, 0}: a flag; {F, known, result, verdict}: a FLUSH */
chan wire[N * N] = [DEPTH] of { byte, short, byte, byte };

/* what the machine does */
byte dead, silent, faults;
bool cut[N * N];
bool calm;			/* no fault will come */

/* for the checks */
byte first_lost = 255;		/* lowest epoch that a verdict was told for */
byte excluded;			/* in F when somebody decided */

hidden byte k, m;

#define KNOWN(x, y)	((known[x] >> (2 * (y))) & 3)
#define VEPOCH(v)	((v) >> 4)
#define LIVES(x)	(!(dead & BIT(x)))
#define SETTLED(x)	(!LIVES(x) || (isolated & BIT(x)) || told[x] || done[x] == EPOCHS)
#define WAITS(x)	(LIVES(x) && !SETTLED(x) && at[x] > done[x])
/* does y hear what x sends */
#define HEARD(x, y)	(LIVES(y) && !cut[TO(x, y)] && !(out[y] & BIT(x)))
/* may x take y for dead; will it hear nothing, or something, when it asks y */
#define DOWN(x, y)	(!LIVES(y) || cut[TO(x, y)] || (out[y] & BIT(x)) ||	\
			 (silent & BIT(y)))
#define ANSWERS(x, y)	(LIVES(y) && !cut[TO(x, y)] && !(out[y] & BIT(x)))

#define IN_OUT(x, y)	((out[x] & BIT(y)) -> 1 : 0)
#if N == 2
#define COUNT_OUT(x)	(IN_OUT(x, 0) + IN_OUT(x, 1))
#elif N == 3
#define COUNT_OUT(x)	(IN_OUT(x, 0) + IN_OUT(x, 1) + IN_OUT(x, 2))
#elif N == 4
#define COUNT_OUT(x)	(IN_OUT(x, 0) + IN_OUT(x, 1) + IN_OUT(x, 2) + IN_OUT(x, 3))
#else
#define COUNT_OUT(x)	(IN_OUT(x, 0) + IN_OUT(x, 1) + IN_OUT(x, 2) +	\
			 IN_OUT(x, 3) + IN_OUT(x, 4))
#endif
#ifdef BUG_TIE
#define DECIDES(x)	(2 * COUNT_OUT(x) <= N)
#else
#define DECIDES(x)	(2 * COUNT_OUT(x) < N ||	\
			 (2 * COUNT_OUT(x) == N && !(out[x] & 1)))
#endif

#define SAME(y)		((out[me] & BIT(y)) || y == me || got[TO(me, y)] == out[me])
#define DIFFERS(y)	(!SAME(y))

inline learn(y, ep)
{
	if
	:: KNOWN(me, y) < (ep) ->
		known[me] = (known[me] & ~(3 << (2 * (y)))) | ((ep) << (2 * (y)))
	:: else
	fi
}

inline post_flag()
{
	m = (me + BIT(rnd[me])) % N;
	if
	:: HEARD(me, m) -> wire[TO(me, m)]!0, at[me], rnd[me], 0
	:: else
	fi
}

inline post_flush()
{
	m = 0;
	do
	:: m < N ->
		if
		:: m != me && !(out[me] & BIT(m)) && HEARD(me, m) ->
			wire[TO(me, m)]!out[me], known[me], result[me], verdict[me]
		:: else
		fi;
		m++
	:: else -> break
	od
}

/* Put the members of @add into F: their connections go first, and what is in them. */
inline grow(add)
{
	m = 0;
	do
	:: m < N ->
		if
		:: (add) & BIT(m) ->
			out[me] = out[me] | BIT(m);
			got[TO(me, m)] = 0;
#ifndef BUG_NO_DRAIN
			do
			:: nempty(wire[TO(m, me)]) -> wire[TO(m, me)]?_, _, _, _
			:: empty(wire[TO(m, me)]) -> break
			od
#endif
		:: else
		fi;
		m++
	:: else -> break
	od
}

inline return_ok()
{
	assert(done[me] + 1 == at[me]);
	done[me] = at[me];
	/* not for a later epoch than one that was told to be lost */
	assert(done[me] <= first_lost);
	m = 0;
	do
	:: m < N ->
		assert(at[m] >= done[me]);
		assert(!LIVES(m) || (out[me] & BIT(m)) || (out[m] & BIT(me)) ||
		       !told[m] || VEPOCH(told[m]) > done[me]);
		m++
	:: else -> break
	od;
	if
	:: result[me] < done[me] -> result[me] = done[me]
	:: else
	fi;
	rnd[me] = 0
}

inline return_lost()
{
	told[me] = verdict[me];
	m = 0;
	do
	:: m < N ->
		assert(!LIVES(m) || (out[me] & BIT(m)) || (out[m] & BIT(me)) ||
		       (done[m] < VEPOCH(told[me]) &&
			(!told[m] || told[m] == told[me])));
		m++
	:: else -> break
	od;
	if
	:: VEPOCH(told[me]) < first_lost -> first_lost = VEPOCH(told[me])
	:: else
	fi
}

/* The lowest member of F that never reached the epoch, else N. */
inline find_lost(who)
{
	who = 0;
	do
	:: who < N && !((out[me] & BIT(who)) && KNOWN(me, who) < at[me]) -> who++
	:: else -> break
	od
}

inline find_missing(who)
{
	who = 0;
	do
	:: who < N && KNOWN(me, who) >= at[me] -> who++
	:: else -> break
	od
}

inline lowest_out(who)
{
	who = 0;
	do
	:: who < N && !(out[me] & BIT(who)) -> who++
	:: else -> break
	od
}

/* A member that waits, at a node with F: what is there to return? */
inline decide()
{
	if
	:: !WAITS(me) || !out[me]
	:: WAITS(me) && out[me] && !DECIDES(me) ->
		isolated = isolated | BIT(me);
		grow(ALL & ~BIT(me))
	:: WAITS(me) && out[me] && DECIDES(me) && verdict[me] &&
	   VEPOCH(verdict[me]) <= at[me] ->
		return_lost()
	:: else ->
		if
		:: ANY(DIFFERS)
		:: else ->
			assert(!(excluded & BIT(me)));
			find_lost(k);
			if
			:: k < N ->
				verdict[me] = (at[me] << 4) | (1 + k);
				excluded = excluded | out[me];
				return_lost();
				post_flush()
			:: else ->
				find_missing(k);
				if
				:: k < N
				:: k == N && result[me] >= at[me] ->
					excluded = excluded | out[me];
					return_ok();
					post_flush()
				:: k == N && result[me] < at[me] ->
					/* nobody is left who has it */
					lowest_out(k);
					verdict[me] = (at[me] << 4) | (1 + k);
					excluded = excluded | out[me];
					return_lost();
					post_flush()
				fi
			fi
		fi;
		k = 0
	fi;
	m = 0
}

/* Rounds, as far as flags came. */
inline advance()
{
	do
	:: WAITS(me) && flag[me * ROUNDS + rnd[me]] >= at[me] ->
		rnd[me]++;
		if
		:: rnd[me] < ROUNDS -> post_flag()
		:: else -> return_ok(); break
		fi
	:: else -> break
	od;
	m = 0
}

/* Flag of round @b and epoch @a: the sender has a window of members behind it. */
inline take_flag(i)
{
	flag[me * ROUNDS + b] = a;
	k = 0;
	do
	:: k < N ->
		if
		:: (i + N - k) % N != me ->
			m = (i + N - k) % N;
			if
			:: k < BIT(b) -> learn(m, a)
			:: else -> learn(m, a - 1)
			fi
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0;
	if
	:: result[me] < a - 1 -> result[me] = a - 1
	:: else
	fi;
	advance()
}

inline take_flush(i)
{
	k = 0;
	do
	:: k < N ->
#ifndef BUG_NO_POOL
		learn(k, (a >> (2 * k)) & 3);
#endif
		k++
	:: else -> break
	od;
	k = 0;
	if
	:: result[me] < b -> result[me] = b
	:: else
	fi;
	assert(!v || !verdict[me] || v == verdict[me]);
	if
	:: v -> verdict[me] = v
	:: else
	fi;
	got[TO(me, i)] = f
}

#define ARRIVE								\
	:: atomic {							\
		!SETTLED(me) && at[me] == done[me] ->			\
		d_step {						\
			if						\
			:: verdict[me] && VEPOCH(verdict[me]) <= at[me] + 1 ->	\
				return_lost()				\
			:: else ->					\
				at[me]++;				\
				learn(me, at[me]);			\
				rnd[me] = 0;				\
				if					\
				:: !out[me] -> post_flag(); advance()	\
				:: else -> ARRIVED_LATE; decide()	\
				fi					\
			fi;						\
			m = 0						\
		}							\
	   }
#ifdef BUG_ONCE
#define ARRIVED_LATE	skip
#else
#define ARRIVED_LATE	post_flush()
#endif

/* Is member @y, of whom @i has taken leave, to be left too, or @i? */
#define ASK(y)								\
	if								\
	:: (f & BIT(y)) && !(out[me] & BIT(y)) && y != me ->		\
		if							\
		:: DOWN(me, y) -> add = add | BIT(y)			\
		:: ANSWERS(me, y) -> BROKEN(y)				\
		fi							\
	:: else								\
	fi;
#ifdef BUG_TRUST
#define BROKEN(y)	skip
#else
#define BROKEN(y)	add = add | (y > from -> BIT(y) : BIT(from))
#endif

#if N == 2
#define ASK_EACH	ASK(0) ASK(1)
#elif N == 3
#define ASK_EACH	ASK(0) ASK(1) ASK(2)
#elif N == 4
#define ASK_EACH	ASK(0) ASK(1) ASK(2) ASK(3)
#else
#define ASK_EACH	ASK(0) ASK(1) ASK(2) ASK(3) ASK(4)
#endif

#define RECEIVE(i)							\
	:: atomic {							\
		LIVES(me) && !(isolated & BIT(me)) && i != me &&	\
		RECEIVES(i) && nempty(wire[TO(i, me)]) ->		\
		wire[TO(i, me)]?f, a, b, v;				\
		from = i;						\
		if							\
		:: !f && USES_FLAGS -> d_step { take_flag(i) }		\
		:: !f && !(USES_FLAGS)					\
		:: f ->							\
			d_step { take_flush(i) };			\
			ASK_EACH						\
			d_step {					\
				if					\
				:: add -> grow(add); post_flush()	\
				:: else				\
				fi;					\
				decide()				\
			}						\
		fi;							\
		d_step { f = 0; a = 0; b = 0; v = 0; add = 0; from = 0; k = 0; m = 0 }	\
	   }
#ifdef BUG_NO_DRAIN
#define RECEIVES(i)	true
#else
#define RECEIVES(i)	!(out[me] & BIT(i))
#endif
#ifdef BUG_USE_FLAGS
#define USES_FLAGS	true
#else
#define USES_FLAGS	!out[me]
#endif

#define SUSPECT(i)							\
	:: atomic {							\
		LIVES(me) && !(isolated & BIT(me)) && i != me &&	\
		!(out[me] & BIT(i)) && DOWN(me, i) ->			\
		d_step { grow(BIT(i)); post_flush(); decide(); m = 0 }	\
	   }

proctype member(byte me)
{
	byte f, b, v, add, from;
	short a;

end:	do
	ARRIVE
	EACH(RECEIVE)
	EACH(SUSPECT)
	od
}

#define CRASH(i)							\
	:: atomic { faults < FAULTS && LIVES(i) && !(silent & BIT(i)) ->	\
		faults++; dead = dead | BIT(i) }
#define FALL_SILENT(i)							\
	:: atomic { faults < FAULTS && LIVES(i) && !(silent & BIT(i)) ->	\
		faults++; silent = silent | BIT(i) }
#define CUT(i, j)							\
	:: atomic { faults < FAULTS && !cut[TO(i, j)] ->		\
		faults++; cut[TO(i, j)] = true; cut[TO(j, i)] = true }

proctype fate()
{
	byte x, y;

end:	do
#ifndef ONLY_CUTS
	EACH(CRASH)
#endif
#if !defined(ONLY_CRASHES) && !defined(ONLY_CUTS)
	EACH(FALL_SILENT)
#endif
#ifdef PARTITION
	:: atomic { faults < FAULTS ->
		d_step {
			faults++;
			x = 0;
			do
			:: x < N / 2 ->
				y = N / 2;
				do
				:: y < N ->
					cut[TO(x, y)] = true;
					cut[TO(y, x)] = true;
					y++
				:: else -> break
				od;
				x++
			:: else -> break
			od;
			x = 0;
			y = 0
		}
	   }
#elif !defined(ONLY_CRASHES)
	CUT(0, 1)
#if N > 2
	CUT(0, 2)
	CUT(1, 2)
#endif
#if N > 3
	CUT(0, 3)
	CUT(1, 3)
	CUT(2, 3)
#endif
#endif
	:: calm = true; break
	od
}

#define UNSETTLED(x)	(!SETTLED(x))
#define GONE(x)		(((dead | isolated) & BIT(x)) -> 1 : 0)

init
{
	byte i;

	atomic {
		do
		:: i < N -> run member(i); i++
		:: else -> break
		od;
		i = 0;
		run fate()
	}
	/* nothing can move any more: nobody waits */
	atomic {
		timeout;
		assert(!(ANY(UNSETTLED)));
#if FAULTS == 1 && N == 3 && (defined(ONLY_CRASHES) || defined(ONLY_CUTS))
		/* one fault costs one member; a node that comes and goes, more */
		assert(GONE(0) + GONE(1) + GONE(2) <= 1)
#endif
	}
}
