/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joining and leaving: N nodes come to fresh memory, or to one of which node 0 was
 * up and is dead (-DAFTER). Each makes the header or waits for it, looks which
 * records stand still, raises the generation when all do, claims a record, is up,
 * leaves, and comes back; it may crash before any access, CRASHES times in all,
 * and then has a next life. With -DSAME all have one node id.
 *
 * Time is what the nodes make of it: who waits may conclude at any moment that
 * others are silent, also of one that lives and is only slow. A node that lives
 * finds at its tick that its record, or the generation, is another's, and is
 * fenced; until then it is no member in the eyes of others.
 *
 * What is asked: members are of one fabric, none share a record or an id, a
 * record names the life of its member, and incarnations of an id rise.
 */
#ifndef N
#define N	2
#endif
#ifndef RECS
#define RECS	2
#endif
#ifndef CRASHES
#define CRASHES	1
#endif
#ifndef TRIES
#define TRIES	4		/* of all lives of a node together */
#endif
#ifndef UPS
#define UPS	2		/* how often a node comes up */
#endif

#ifdef SAME
#define ID(p)	0
#else
#define ID(p)	(p)
#endif

/* the header: state, and its nonce or generation; words that are set once */
#define FRESH	0
#define INIT	1
#define READY	2
byte hstate, hval, fabric[2];

/* records: a word {state, id, nonce}, and what the holder writes */
#define EMPTY		0
#define CLAIMING	1
#define UP		2
#define LEFT		3
#define WORD(s, i, n)	((s) + 4 * (i) + 16 * (n))
#define STATE(w)	((w) % 4)
#define RID(w)		(((w) / 4) % 4)
byte word[RECS], rinc[RECS], rgen[RECS];

/* the nodes */
bool up[N], down[N];		/* at work; crashed */
byte self[N], gen[N], inc[N], mine[N], seen[2 * N];
byte last[N];			/* incarnation of an id that was up last */
byte crashes;

#define FABRIC(p, w)	seen[2 * (p) + (w)]
#define MEMBER(p)	(up[p] && hstate == READY && hval == gen[p] &&	\
			 word[self[p]] == mine[p])

inline check(p)
{
	if
	:: MEMBER(p) ->
		assert(rinc[self[p]] == inc[p]);
		o = 0;
		do
		:: o < N ->
			if
			:: o != p && MEMBER(o) ->
				assert(self[o] != self[p]);
				assert(ID(o) != ID(p));
				assert(FABRIC(o, 0) == FABRIC(p, 0) &&
				       FABRIC(o, 1) == FABRIC(p, 1))
			:: else
			fi;
			o++
		:: else -> break
		od;
		o = 0
	:: else
	fi
}

/* of a generation that this node has not opened */
#define NEWER(i)	(rgen[i] > gen[p])
#define VIEW_UP(w, g)	(STATE(w) == UP && (g) == gen[p])

proctype node(byte p)
{
	byte i, o, w, best, rank, old, most, tries, ups;
	byte first[RECS];
	bool silent, own, anyup;

{
	skip;
start:
	atomic {
		up[p] = 0;
		gen[p] = 0;
		self[p] = 0;
		mine[p] = 0;
		FABRIC(p, 0) = 0;
		FABRIC(p, 1) = 0;
		first[0] = 0; first[1] = 0;
		i = 0; w = 0; best = 0; rank = 0; old = 0; most = 0;
		silent = 0; own = 0; anyup = 0;
		if
		:: tries == TRIES || ups == UPS -> goto done
		:: else -> tries++
		fi
	}
open:	/* ub_shm_open() */
	atomic {
		if
		:: hstate == FRESH || hstate == INIT ->
			/* taken over from who may only be slow */
			hstate = INIT;
			hval = 16 * (p + 1) + tries
		:: hstate == INIT -> goto open
		:: hstate == READY -> gen[p] = hval; goto opened
		fi
	}
#ifdef BUG_INIT_STORE
	atomic { fabric[0] = p + 1 }
	atomic { fabric[1] = p + 1 }
#else
	atomic { if :: !fabric[0] -> fabric[0] = p + 1 :: else fi }
	atomic { if :: !fabric[1] -> fabric[1] = p + 1 :: else fi }
#endif
	atomic {
		if
		:: hstate == INIT && hval == 16 * (p + 1) + tries ->
			hstate = READY;
			hval = 1
		:: else
		fi;
		goto open
	}
opened:
	atomic { FABRIC(p, 0) = fabric[0] }
	atomic { FABRIC(p, 1) = fabric[1] }
watch:	/* attach_watch(): what stands there, and who may be alive */
	atomic {
		first[i] = word[i];
		if
		:: VIEW_UP(word[i], rgen[i]) -> silent = 1; anyup = 1
		:: STATE(word[i]) == CLAIMING && RID(word[i]) == ID(p) -> silent = 1
		:: else
		fi;
		own = own || (STATE(word[i]) == UP && rgen[i] == gen[p] &&
			      RID(word[i]) == ID(p));
		i++;
		if
		:: i < RECS -> goto watch
		:: else -> i = 0
		fi
	}
	atomic {
		if
		:: !silent
		:: silent				/* one moved */
		:: own -> goto done			/* its own id is in use */
		:: silent && !anyup			/* claimed, and died of it */
		:: anyup ->				/* nobody moves */
			if
			:: hstate == READY && hval == gen[p] -> hval++
			:: else
			fi;
			goto start
		fi
	}
pick:	/* claim_pick(), a record in two steps */
	atomic { w = word[i] }
	atomic {
		o = 0;
		if
		:: w && NEWER(i)
		:: w && !NEWER(i) && RID(w) == ID(p) ->
			if
			:: w == first[i] || STATE(w) == LEFT -> o = 3
			:: else -> goto start
			fi
		:: STATE(w) == EMPTY -> o = 2
		:: w && !NEWER(i) && RID(w) != ID(p) && STATE(w) != EMPTY ->
			if
			:: STATE(w) == CLAIMING
			:: STATE(w) != CLAIMING && rgen[i] != gen[p] -> o = 2
			:: STATE(w) == LEFT && rgen[i] == gen[p] -> o = 1
			:: STATE(w) == UP && rgen[i] == gen[p]
			fi
		fi;
		if
		:: o > rank -> rank = o; best = i; old = w
		:: else
		fi;
		o = 0;
		most = (rinc[i] > most -> rinc[i] : most);
		i++;
		if
		:: i < RECS -> goto pick
		:: else -> i = 0
		fi
	}
	atomic {
		if
		:: !rank -> goto done			/* all are taken */
		:: rank && (hstate != READY || hval != gen[p]) -> goto start
		:: else
		fi
	}
	atomic {
		if
		:: word[best] == old ->
			mine[p] = WORD(CLAIMING, ID(p), 4 * p + tries);
			word[best] = mine[p];
			self[p] = best
		:: else -> goto start
		fi
	}
clash:
	atomic {
		if
		:: i != self[p] && STATE(word[i]) != EMPTY && RID(word[i]) == ID(p) &&
		   (VIEW_UP(word[i], rgen[i]) ||
		    (STATE(word[i]) == CLAIMING && i < self[p])) ->
			i = 0;
			goto give_up
		:: else
		fi;
		i++;
		if
		:: i < RECS -> goto clash
		:: else -> i = 0; goto claimed
		fi
	}
give_up:
	atomic {
		if
		:: word[self[p]] == mine[p] -> word[self[p]] = 0
		:: else
		fi;
		goto done
	}
claimed:
	atomic {
		inc[p] = (most > inc[p] -> most : inc[p]) + 1
	}
	/* Raised only: it may have taken so long that the record is another's. */
	atomic {
#ifdef BUG_STORE
		rinc[self[p]] = inc[p]
#else
		if
		:: rinc[self[p]] < inc[p] -> rinc[self[p]] = inc[p]
		:: else -> goto start
		fi
#endif
	}
	atomic {
#ifdef BUG_STORE
		rgen[self[p]] = gen[p]
#else
		if
		:: rgen[self[p]] <= gen[p] -> rgen[self[p]] = gen[p]
		:: else -> goto start
		fi
#endif
	}
	atomic {
		if
#ifdef BUG_UP_STORE
		:: true ->
#else
		:: word[self[p]] == mine[p] ->
#endif
			mine[p] = mine[p] + UP - CLAIMING;
			word[self[p]] = mine[p]
		:: else -> goto start
		fi
	}
	atomic {
		if
		:: hstate == READY && hval == gen[p] -> goto works
		:: else
		fi
	}
	atomic {
		if
		:: word[self[p]] == mine[p] -> word[self[p]] = mine[p] + LEFT - UP
		:: else
		fi;
		goto start
	}
works:
	atomic {
		up[p] = 1;
		ups++;
		check(p);
		if
		:: MEMBER(p) ->
			assert(inc[p] > last[ID(p)]);
			last[ID(p)] = inc[p]
		:: else
		fi
	}
	/* until its tick finds that it is no member, or it leaves */
	atomic {
		if
		:: !MEMBER(p) -> up[p] = 0; goto start
		:: true -> check(p); up[p] = 0		/* the module is unloaded */
		:: true -> check(p); goto done		/* it stays */
		fi
	}
	atomic {
		if
		:: word[self[p]] == mine[p] -> word[self[p]] = mine[p] + LEFT - UP
		:: else
		fi;
		goto start
	}
}
unless {
	atomic {
		down[p];
		down[p] = 0;
		inc[p] = 0;
		goto start
	}
};
done:
	skip
}

proctype fate()
{
	byte p;

end:	do
	:: atomic { crashes < CRASHES ->
			p = 0;
			do
			:: p < N - 1 -> p++
			:: true -> break
			od;
			crashes++;
			down[p] = 1;
			up[p] = 0;
			p = 0 }
	od
}

init
{
	byte p;

	atomic {
#ifdef AFTER
		hstate = READY;
		hval = 1;
		fabric[0] = N + 1;
		fabric[1] = N + 1;
		word[0] = WORD(UP, 0, 15);
		rinc[0] = 1;
		rgen[0] = 1;
		last[0] = 1;
#endif
		do
		:: p < N -> run node(p); p++
		:: else -> break
		od;
		run fate()
	}
}
