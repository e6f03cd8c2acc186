/* Two homes compete for three zones with room for one part each: hold, commit, launch, release.
 *
 * One step of the model is one handler of the code (domain strand): it runs whole, stores, then answers. The names
 * before the steps are functions of ApplicationService (home) and PartService (zone) in services/zone_scheduler/home and peer.
 * Every cycle of the code (release until it is heard, wait for room, look again) is a step here that waits for what
 * ends the cycle, so the graph of states has no cycle at all: `spin -DNP` proves it, and then "no invalid end state"
 * means that every run ends well, without any assumption of fairness.
 *
 * What may happen is chosen when the search starts, by variables of its environment (see README.md), so that one
 * compiled search serves many instances:
 *   EARLY=n     deadlines (of calls, holds, launch windows) that pass before all else has come to rest; without it a
 *               call ends unanswered only when no answer can come, and a timer fires only when nothing else can happen
 *   LOSS=n      requests or replies lost          DUP=n         requests delivered twice
 *   CRASHES=n   crashes with restart, of          CRASH_HOME=1, CRASH_ZONE=1
 *   HOME_GONE=1 home 0 goes away for ever, at any moment
 *   CANCEL=n    owners cancel at any moment       PART_DIES=n   processes of so many parts end by themselves
 *   OVERRUN=n   reserved starts at which what ran before has not ended
 *   WANT1=n     zones that home 1 needs, else two as home 0
 *   NO_TIMER=1  no timer may have anything to do (worlds without faults)
 * Mistakes that must be found are chosen the same way: FORGET_RELEASE, COMMIT_WITHOUT_HOLD, EXPIRE_COMMITTED,
 * UNSTARTED_IS_COMPLETED, EARLY_GIVE_BACK, REPLAN_WITHOUT_WAITING, REPLAN_WHAT_RUNS, FORGET_REPLACED, START_UNREADY.
 * What changes the size of a state is a macro: ROUNDS=n, plans before a home gives up, and RESERVE, later starts. */
#ifndef ROUNDS
#define ROUNDS 2
#endif

c_decl {
\#include <stdlib.h>
static int option(const char* name) {
    const char* text = getenv(name);
    return text ? atoi(text) : 0;
}
}
/* Not in the states: they never change. */
hidden byte want1, crash_home, crash_zones, home_may_go, no_timer;
hidden byte forget_release, commit_without_hold, expire_committed, unstarted_is_completed, early_give_back,
    replan_without_waiting, replan_what_runs, forget_replaced, start_unready;

#define ZONES 3
#define P(h, r, z) (((h) * ROUNDS + (r)) * ZONES + (z)) /* a part: a new id in every round */
#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define ADD(set, i) set = set | BIT(i)
#define DROP(set, i) set = set & ~BIT(i)
#define WANT(h) ((h) == 0 -> 2 : want1)


/* ApplicationState; final from kAppCompleted on. `committed` is there only before a reserved start: else home goes on
 * to `launching` in the same handler, and a crash between the two leads to the same step. */
#define kAccepted 0
#define kPlanned 1
#define kAllHeld 2
#define kReserved 3
#define kLaunching 4
#define kAppRunning 5
#define kAppCompleted 6
#define kAppFailed 7
#define kCancelled 8
#define kRejected 9
/* PartState; kGone stands for failed, released and expired: home takes them alike. */
#define kNone 0
#define kHeld 1
#define kCommitted 2
#define kRunning 3
#define kCompleted 4
#define kGone 5
#define LIVE(p) (part[p] == kHeld || part[p] == kCommitted || part[p] == kRunning)
/* A call of home: not made, no answer yet, answered with what home wants, or not. */
#define kIdle 0
#define kWait 1
#define kYes 2
#define kNo 3
/* The launcher (mpiexec) of an application: outlives the program of its home. */
#define kNotStarted 0
#define kGoing 1
#define kEndedWell 2
#define kEndedBadly 3
/* What the network and the machine do to a request. */
#define kDelivered 0
#define kRequestLost 1
#define kReplyLost 2
#define kCrashBeforeStart 3

/* Stored by home. */
byte app[2];
byte round[2]; /* the code counts rounds in memory and makes fresh ids; the model has as many ids as rounds */
byte plan[2];  /* zones of the present parts */
bit cancel[2];
bit stopping[2]; /* stop_reason */
int owed;      /* parts in `releasing` */
#ifdef RESERVE
/* A zone's time has two slots: now, and later. What has the first ends before the second begins, unless it overruns. A
 * reservation moves from the second to the first when its start comes. */
int reserved;     /* parts whose slot is the second */
bit replacing[2]; /* the present parts take the place of those of the round before */
#define SLOT(p) HAS(reserved, p)
#else
#define SLOT(p) 0
#endif
/* In home's memory. */
byte call[6];
bit home_up[2];
bit home_gone[2];
/* Stored by the zones. */
byte part[2 * ROUNDS * ZONES];
/* In the zones' memory. */
byte busy[ZONES]; /* by slot */
bit zone_up[ZONES];
/* Under way. A request stays until it is delivered, maybe after its home has given up. */
int hold_sent, commit_sent, launch_sent;
/* Processes: they outlive the program of their zone (step supervisor). */
byte launcher[2];
bit ran_before[2]; /* ranks of a launch that was given up */
int alive, killed;
/* Seen by the checks, never by the protocol. */
int was_committed, was_launched, started, died;

byte early, losses, duplicates, crashes, deaths, cancels, overruns;

#define FINAL(h) (app[h] >= kAppCompleted)
#define IN_PLAN(h, z) HAS(plan[h], z)
#define CALL(h, z) call[(h) * ZONES + (z)]
#define ALL_CALLS(h, is) ((CALL(h, 0) is) && (CALL(h, 1) is) && (CALL(h, 2) is))
#define SOME_CALL(h, is) ((CALL(h, 0) is) || (CALL(h, 1) is) || (CALL(h, 2) is))
#define PARTS_OF(h) (plan[h] << P(h, round[h], 0)) /* of the present round, as a set of parts */
#define EVER_OF(h) (((1 << (ROUNDS * ZONES)) - 1) << P(h, 0, 0))
#define SUBSET(a, b) (((a) & ~(b)) == 0)
#define ROOM(z) (zone_up[z] && !HAS(busy[z], 0))

#ifdef RESERVE
#define NOW(p) DROP(reserved, p)
#else
#define NOW(p) skip
#endif

/* Over all parts that a zone may have. */
#if ROUNDS == 1
#define SUM_AT_ZONE(of, z) (of(P(0, 0, z)) + of(P(1, 0, z)))
#elif ROUNDS == 2
#define SUM_AT_ZONE(of, z) (of(P(0, 0, z)) + of(P(0, 1, z)) + of(P(1, 0, z)) + of(P(1, 1, z)))
#else
#define SUM_AT_ZONE(of, z) \
    (of(P(0, 0, z)) + of(P(0, 1, z)) + of(P(0, 2, z)) + of(P(1, 0, z)) + of(P(1, 1, z)) + of(P(1, 2, z)))
#endif

/* Not of the protocol: what nothing can refer to any more is forgotten, so that equal futures are equal states. */
inline tidy(h, r, z) {
    if
    :: !LIVE(P(h, r, z)) && !HAS(hold_sent | commit_sent | launch_sent, P(h, r, z)) -> DROP(owed, P(h, r, z))
    :: else
    fi;
    if
    :: !LIVE(P(h, r, z)) && !HAS(alive, P(h, r, z)) && !HAS(owed, P(h, r, z)) && (r < round[h] || FINAL(h)) &&
       !HAS(hold_sent | commit_sent | launch_sent, P(h, r, z)) ->
        part[P(h, r, z)] = kNone;
        DROP(started, P(h, r, z));
        DROP(killed, P(h, r, z));
        DROP(died, P(h, r, z));
        NOW(P(h, r, z))
    :: else
    fi
}

/* ---- home ------------------------------------------------------------------------------------------------------- */

inline enter(h, state) { /* enter(): stored, then acted on */
    assert(!FINAL(h));   /* exactly one final state: nothing follows it */
    app[h] = state;
    CALL(h, 0) = kIdle;
    CALL(h, 1) = kIdle;
    CALL(h, 2) = kIdle
}

inline give_up_plan(h, state) {
    owed = owed | (forget_release -> 0 : PARTS_OF(h));
#ifdef RESERVE
    replacing[h] = 0;
#endif
    was_committed = was_committed & ~PARTS_OF(h);
    was_launched = was_launched & ~PARTS_OF(h);
    plan[h] = 0;
    cancel[h] = cancel[h] && state < kAppCompleted;
    stopping[h] = 0;
    enter(h, state)
}

inline plan_again(h) {
    if
    :: round[h] + 1 == ROUNDS -> give_up_plan(h, kRejected)
    :: else ->
        give_up_plan(h, kAccepted);
        round[h]++
    fi
}

inline ask(h, z, messages) {
    if
    :: IN_PLAN(h, z) ->
        ADD(messages, P(h, round[h], z));
        CALL(h, z) = kWait
    :: else
    fi
}
inline ask_all(h, messages) {
    ask(h, 0, messages);
    ask(h, 1, messages);
    ask(h, 2, messages)
}

/* The launcher starts no rank before all proxies have connected (`ProxyGate`). */
#define RANKS_BEGAN(h) SUBSET(PARTS_OF(h), started)

#define ANSWERED(h) (ALL_CALLS(h, != kWait) || (replan_without_waiting && SOME_CALL(h, == kNo)))

inline start_coordinator(h) {
    enter(h, kLaunching);
    launcher[h] = kGoing;
    ask_all(h, launch_sent)
}

/* What home does within the handler of an answer or of a deadline: the ends of hold(), commit() and launch_parts(). */
inline go_on(h) {
    if
    :: app[h] == kLaunching && !stopping[h] && SOME_CALL(h, == kNo) -> /* launch_failed() */
        if
        :: round[h] + 1 < ROUNDS && launcher[h] == kGoing && !cancel[h] && (!RANKS_BEGAN(h) || replan_what_runs) ->
            ran_before[h] = ran_before[h] || RANKS_BEGAN(h);
            launcher[h] = kNotStarted; /* giving_up(): it is gone before a rank has begun */
            plan_again(h)
        :: else ->
            stopping[h] = 1; /* stop(): one part that does not start stops all */
            enter(h, kLaunching)
        fi
    :: app[h] == kLaunching && !stopping[h] && ALL_CALLS(h, != kWait) && !SOME_CALL(h, == kNo) ->
        assert(SUBSET(PARTS_OF(h), was_launched)); /* no application runs with part of its parts */
        enter(h, kAppRunning)
    :: (app[h] == kPlanned || app[h] == kAllHeld) && ANSWERED(h) ->
        if
        :: cancel[h] -> give_up_plan(h, kCancelled)
        :: !cancel[h] && SOME_CALL(h, == kNo) -> plan_again(h)
        :: !cancel[h] && !SOME_CALL(h, == kNo) && app[h] == kPlanned ->
            enter(h, kAllHeld);
            ask_all(h, commit_sent)
        :: !cancel[h] && !SOME_CALL(h, == kNo) && app[h] == kAllHeld ->
            if
#ifdef RESERVE
            :: (reserved & PARTS_OF(h)) != 0 -> enter(h, kReserved)
#endif
            :: else -> start_coordinator(h)
            fi
        fi
    :: else
    fi
}

/* A call ends at its deadline: the request stays under way. */
#define SENT(h, z) \
    HAS((app[h] == kPlanned -> hold_sent : (app[h] == kAllHeld -> commit_sent : launch_sent)), P(h, round[h], z))
#define NO_ANSWER(h, z) (!SENT(h, z) || !zone_up[z])
#define TIMES_OUT(h, z) \
    :: d_step { home_up[h] && CALL(h, z) == kWait && (early > 0 || NO_ANSWER(h, z)) -> \
        early = (NO_ANSWER(h, z) -> early : early - 1); \
        CALL(h, z) = kNo; \
        go_on(h) }

/* make_plan: any zones with room, of which there are enough; who has none waits (kWaitForProcessors). The zones are
 * alike, so the first plan of home 0 may be zones 0 and 1: any other is this one with other names. */
#define ENOUGH(h, zones) ((zones) == 7 -> WANT(h) == 3 : (WANT(h) == 2 && ((h) == 1 || round[h] > 0 || (zones) == 3)))
#define PLANS(h, zones) \
    :: d_step { home_up[h] && app[h] == kAccepted && !cancel[h] && ENOUGH(h, zones) && \
                (!HAS(zones, 0) || ROOM(0)) && (!HAS(zones, 1) || ROOM(1)) && (!HAS(zones, 2) || ROOM(2)) -> \
        plan[h] = zones; \
        enter(h, kPlanned); \
        ask_all(h, hold_sent) }

#ifdef RESERVE
/* choose_start(): not all is free now, but all is later. */
#define ROOM_LATER(z) (zone_up[z] && !HAS(busy[z], 1))
#define RESERVES(h, zones) \
    :: d_step { home_up[h] && app[h] == kAccepted && !cancel[h] && ENOUGH(h, zones) && \
                (!HAS(zones, 0) || ROOM_LATER(0)) && (!HAS(zones, 1) || ROOM_LATER(1)) && \
                (!HAS(zones, 2) || ROOM_LATER(2)) && \
                ((HAS(zones, 0) && busy[0]) || (HAS(zones, 1) && busy[1]) || (HAS(zones, 2) && busy[2])) -> \
        plan[h] = zones; \
        reserved = reserved | PARTS_OF(h); \
        enter(h, kPlanned); \
        ask_all(h, hold_sent) }
/* may_start_early(), take_plan(): parts for now take the place of those reserved. */
#define REPLACES(h, zones) \
    :: d_step { home_up[h] && app[h] == kReserved && !cancel[h] && round[h] + 1 < ROUNDS && ENOUGH(h, zones) && \
                (!HAS(zones, 0) || ROOM(0)) && (!HAS(zones, 1) || ROOM(1)) && (!HAS(zones, 2) || ROOM(2)) -> \
        owed = owed | (forget_replaced -> 0 : PARTS_OF(h)); \
        was_committed = was_committed & ~PARTS_OF(h); \
        round[h]++; \
        plan[h] = zones; \
        replacing[h] = 1; \
        enter(h, kPlanned); \
        ask_all(h, hold_sent) }
/* ready_answered(): the start has come. What was promised the processors before has ended by then, or overruns; what was
 * committed and not launched has been given back. */
#define READY(h, z) \
    (!IN_PLAN(h, z) || \
     (zone_up[z] && part[P(h, round[h], z)] == kCommitted && (!HAS(busy[z], 0) || (start_unready && WORKS(z)))))
#define WORKS(z) (busy[z] && SUM_AT_ZONE(IS_RUNNING, z) > 0)
#define IS_RUNNING(p) (part[p] == kRunning)
inline has_come(h, z) {
    if
    :: IN_PLAN(h, z) ->
        DROP(reserved, P(h, round[h], z));
        busy[z] = 1
    :: else
    fi
}
#define LATE(h, z) (IN_PLAN(h, z) && (!zone_up[z] || part[P(h, round[h], z)] != kCommitted))
#define OVERRUN(h, z) (IN_PLAN(h, z) && overruns > 0 && WORKS(z))
#define STARTS(h) \
    :: d_step { home_up[h] && app[h] == kReserved && !cancel[h] && READY(h, 0) && READY(h, 1) && READY(h, 2) -> \
        has_come(h, 0); \
        has_come(h, 1); \
        has_come(h, 2); \
        start_coordinator(h) } \
    :: d_step { home_up[h] && app[h] == kReserved && !cancel[h] && (LATE(h, 0) || LATE(h, 1) || LATE(h, 2)) -> \
        plan_again(h) } \
    :: d_step { home_up[h] && app[h] == kReserved && !cancel[h] && \
                (OVERRUN(h, 0) || OVERRUN(h, 1) || OVERRUN(h, 2)) -> \
        overruns--; \
        plan_again(h) }
#else
#define RESERVES(h, zones)
#define REPLACES(h, zones)
#define STARTS(h)
#endif

/* launch_parts(): asked again with the same operation where request or answer was lost. */
#define LAUNCHES_AGAIN(h, z) \
    :: d_step { home_up[h] && app[h] == kLaunching && CALL(h, z) == kWait && zone_up[z] && !stopping[h] && \
                !HAS(launch_sent, P(h, round[h], z)) -> ADD(launch_sent, P(h, round[h], z)) }

/* poll_parts(): a part that says it is lost takes the application with it. */
#define SEES_LOSS(h, z) \
    :: d_step { home_up[h] && app[h] == kAppRunning && !stopping[h] && launcher[h] == kGoing && IN_PLAN(h, z) && \
                zone_up[z] && part[P(h, round[h], z)] == kGone -> stopping[h] = 1 }

#define WATCHES(h) (app[h] == kAppRunning || (app[h] == kLaunching && stopping[h]))

inline finish(h) { /* collect(), conclude() */
    if
    :: cancel[h] -> give_up_plan(h, kCancelled)
    :: !cancel[h] && !stopping[h] && launcher[h] == kEndedWell ->
        assert(SUBSET(PARTS_OF(h), started));
        assert(!ran_before[h]); /* no program runs twice */
        give_up_plan(h, kAppCompleted)
    :: !cancel[h] && (stopping[h] || launcher[h] != kEndedWell) -> give_up_plan(h, kAppFailed)
    fi
}

inline launcher_ends(h, how) {
    launcher[h] = how;
    if
    :: home_up[h] && WATCHES(h) -> finish(h)
    :: else
    fi
}

inline forget_calls(h) {
    home_up[h] = 0;
    CALL(h, 0) = kIdle;
    CALL(h, 1) = kIdle;
    CALL(h, 2) = kIdle
}

proctype Home(byte h) {
end_home:
    do
    PLANS(h, 3)
    RESERVES(h, 3)
    REPLACES(h, 3)
    PLANS(h, 5)
    RESERVES(h, 5)
    REPLACES(h, 5)
    PLANS(h, 6)
    RESERVES(h, 6)
    REPLACES(h, 6)
    PLANS(h, 7)
    RESERVES(h, 7)
    REPLACES(h, 7)
    STARTS(h)
    TIMES_OUT(h, 0)
    TIMES_OUT(h, 1)
    TIMES_OUT(h, 2)
    LAUNCHES_AGAIN(h, 0)
    LAUNCHES_AGAIN(h, 1)
    LAUNCHES_AGAIN(h, 2)
    SEES_LOSS(h, 0)
    SEES_LOSS(h, 1)
    SEES_LOSS(h, 2)
    :: d_step { home_up[h] && WATCHES(h) && launcher[h] > kGoing -> finish(h) } /* watch() */

    /* cancel(), stop(): at once where no answer is outstanding. */
    :: d_step { cancels > 0 && home_up[h] && !FINAL(h) && !cancel[h] ->
        cancels--;
        cancel[h] = 1;
        if
        :: app[h] == kAccepted || app[h] == kReserved -> give_up_plan(h, kCancelled)
        :: app[h] == kLaunching || app[h] == kAppRunning ->
            stopping[h] = 1;
            enter(h, app[h])
        :: else
        fi }

    /* The launcher. Its program ends well once all ranks are there; it ends badly when it is stopped, or when a part
     * that had started goes away. It waits for a part that never starts: home has to see that. */
    :: d_step { launcher[h] == kGoing && plan[h] != 0 && SUBSET(PARTS_OF(h), started) &&
                (PARTS_OF(h) & (killed | died)) == 0 -> launcher_ends(h, kEndedWell) }
    :: d_step { launcher[h] == kGoing && (stopping[h] || (PARTS_OF(h) & started & ~alive) != 0) ->
        launcher_ends(h, kEndedBadly) }

    /* What it had just sent may be on its way, or may never have left. */
    :: d_step { crash_home && crashes > 0 && home_up[h] && (!FINAL(h) || (owed & EVER_OF(h)) != 0) ->
        crashes--;
        forget_calls(h) }
    :: d_step { crash_home && crashes > 0 && home_up[h] && ((hold_sent | commit_sent | launch_sent) & PARTS_OF(h)) != 0 ->
        crashes--;
        hold_sent = hold_sent & ~PARTS_OF(h);
        commit_sent = commit_sent & ~PARTS_OF(h);
        launch_sent = launch_sent & ~PARTS_OF(h);
        forget_calls(h) }
    :: d_step { !home_up[h] && !home_gone[h] -> /* resume(): the step of the stored state is done again */
        home_up[h] = 1;
        if
        :: cancel[h] && app[h] < kLaunching -> give_up_plan(h, kCancelled)
        :: !cancel[h] && app[h] == kPlanned -> plan_again(h)
        :: !cancel[h] && app[h] == kAllHeld -> ask_all(h, commit_sent)
        :: app[h] == kLaunching && !stopping[h] -> ask_all(h, launch_sent)
        :: else
        fi }
    :: d_step { home_may_go && h == 0 && !home_gone[h] && !FINAL(h) -> /* the machine, with its launcher */
        home_gone[h] = 1;
        forget_calls(h);
        if
        :: launcher[h] == kGoing -> launcher[h] = kEndedBadly
        :: else
        fi }
    od
}

/* ---- zone ------------------------------------------------------------------------------------------------------- */

#define SUM_AT(of) SUM_AT_ZONE(of, z)
#define LIVE_NOW(p) (LIVE(p) && !SLOT(p))
#define IS_ALIVE(p) HAS(alive, p)
#ifdef RESERVE
#define LIVE_LATER(p) (LIVE(p) && SLOT(p))
#define PROMISED(z) (SUM_AT(LIVE_NOW) + 2 * SUM_AT(LIVE_LATER))
#else
#define PROMISED(z) SUM_AT(LIVE)
#endif

inline check_room(z) { /* no processor is held by two parts, nor used by processes of two */
    assert(SUM_AT(LIVE_NOW) <= 1);
#ifdef RESERVE
    assert(SUM_AT(LIVE_LATER) <= 1);
#endif
    assert(SUM_AT(IS_ALIVE) <= 1)
}

/* save() with an end: the processors are free again. Silence ends nothing that runs: either home asked, or the
 * launcher is gone, or its own processes are. */
inline end_part(h, r, z, state) {
    assert(!HAS(started, P(h, r, z)) || launcher[h] != kGoing || HAS(killed, P(h, r, z)) || HAS(died, P(h, r, z)) ||
           r < round[h]); /* of a launch that was given up */
    part[P(h, r, z)] = state;
    DROP(busy[z], SLOT(P(h, r, z)))
}

/* The answer reaches home if it still waits for it. Its way takes no time here: home's next request takes it. */
inline answer(h, r, z, phase, word) {
    if
    :: mode != kReplyLost && mode != kCrashBeforeStart && home_up[h] && app[h] == phase && round[h] == r &&
       CALL(h, z) == kWait ->
        CALL(h, z) = word;
        go_on(h)
    :: else
    fi
}

#define BEFORE(h, r, z) P(h, (r > 0 -> r - 1 : 0), z)
/* The old part goes in the same step, and only if the new one is held. */
inline give_up_replaced(h, r, z) {
#ifdef RESERVE
    if
    :: replacing[h] && round[h] == r && r > 0 && part[BEFORE(h, r, z)] >= kHeld && part[BEFORE(h, r, z)] <= kCommitted ->
        part[BEFORE(h, r, z)] = kGone;
        DROP(busy[z], SLOT(BEFORE(h, r, z)))
    :: else
    fi
#else
    skip
#endif
}
inline do_hold(h, r, z) {
    if
    :: part[P(h, r, z)] == kHeld -> answer(h, r, z, kPlanned, kYes)
    :: part[P(h, r, z)] == kNone && !HAS(busy[z], SLOT(P(h, r, z))) ->
        give_up_replaced(h, r, z);
        part[P(h, r, z)] = kHeld;
        ADD(busy[z], SLOT(P(h, r, z)));
        answer(h, r, z, kPlanned, kYes)
    :: else -> answer(h, r, z, kPlanned, kNo)
    fi
}
inline do_commit(h, r, z) {
    if
    :: part[P(h, r, z)] == kHeld || part[P(h, r, z)] == kCommitted ||
       (commit_without_hold && part[P(h, r, z)] != kRunning) ->
        part[P(h, r, z)] = kCommitted;
        ADD(busy[z], SLOT(P(h, r, z)));
        was_committed = was_committed | (BIT(P(h, r, z)) & PARTS_OF(h));
        answer(h, r, z, kAllHeld, kYes)
    :: else -> answer(h, r, z, kAllHeld, kNo)
    fi
}
inline do_launch(h, r, z) {
    if
    :: part[P(h, r, z)] == kCommitted ->
        assert(app[h] != kLaunching || SUBSET(PARTS_OF(h), was_committed)); /* all or nothing */
        part[P(h, r, z)] = kRunning; /* stored before any process starts */
        was_launched = was_launched | (BIT(P(h, r, z)) & PARTS_OF(h));
        if
        :: mode != kCrashBeforeStart ->
            ADD(alive, P(h, r, z));
            ADD(started, P(h, r, z))
        :: else
        fi;
        answer(h, r, z, kLaunching, kYes)
    :: part[P(h, r, z)] == kRunning || part[P(h, r, z)] == kCompleted -> answer(h, r, z, kLaunching, kYes)
    :: else -> answer(h, r, z, kLaunching, kNo)
    fi
}

inline choose_fate(messages, p) {
    if
    :: DROP(messages, p)
    :: losses > 0 -> losses--; DROP(messages, p); mode = kRequestLost
    :: losses > 0 -> losses--; DROP(messages, p); mode = kReplyLost
    :: duplicates > 0 -> duplicates--
    :: crash_zones && crashes > 0 -> DROP(messages, p); mode = kReplyLost; falls = 1
    :: crash_zones && crashes > 0 -> DROP(messages, p); mode = kCrashBeforeStart; falls = 1
    fi
}
inline crash_zone(z) {
    crashes--;
    zone_up[z] = 0;
    busy[z] = 0
}
#define RECEIVES(h, r, messages, handle) \
    :: atomic { zone_up[z] && HAS(messages, P(h, r, z)) -> \
        choose_fate(messages, P(h, r, z)); \
        d_step { \
            if \
            :: mode != kRequestLost -> handle(h, r, z) \
            :: else \
            fi; \
            check_room(z); \
            if \
            :: falls -> crash_zone(z) \
            :: else \
            fi; \
            falls = 0; \
            mode = kDelivered; \
            tidy(h, r, z) } }

/* release(): asked until the answer is an end, or that the part is unknown (a late hold may still come: its lease ends
 * it). stop_parts() asks in the same words. */
#define ASKED(h, r) (HAS(owed, P(h, r, z)) || (stopping[h] && round[h] == r && IN_PLAN(h, z)))
#define BEFORE_RUN(h, r) (part[P(h, r, z)] == kHeld || part[P(h, r, z)] == kCommitted)
#define RELEASES(h, r) \
    :: d_step { zone_up[z] && home_up[h] && ASKED(h, r) && BEFORE_RUN(h, r) -> \
        end_part(h, r, z, kGone); \
        DROP(owed, P(h, r, z)); \
        tidy(h, r, z) } \
    :: d_step { losses > 0 && zone_up[z] && home_up[h] && ASKED(h, r) && BEFORE_RUN(h, r) -> \
        losses--; \
        end_part(h, r, z, kGone) } \
    :: d_step { zone_up[z] && home_up[h] && ASKED(h, r) && part[P(h, r, z)] == kRunning && \
                !HAS(killed, P(h, r, z)) -> STOP(h, r) } \
    :: d_step { zone_up[z] && home_up[h] && HAS(owed, P(h, r, z)) && !LIVE(P(h, r, z)) -> /* ended, or unknown */ \
        DROP(owed, P(h, r, z)); \
        tidy(h, r, z) }
/* StopSteps; an end only once its processes are gone */
#define STOP(h, r) \
    ADD(killed, P(h, r, z)); \
    if \
    :: early_give_back -> \
        part[P(h, r, z)] = kGone; \
        DROP(busy[z], SLOT(P(h, r, z))) \
    :: else \
    fi

/* TimePassed: end of the hold, end of the launch window. */
#define MAY_EXPIRE(h, r) (BEFORE_RUN(h, r) || (expire_committed && LIVE(P(h, r, z))))
/* Without faults no timer has anything to do: who gives up a plan gives it back. */
#define EXPIRE(h, r) \
    assert(!no_timer); \
    DROP(alive, P(h, r, z)); \
    end_part(h, r, z, kGone); \
    tidy(h, r, z)
#define EXPIRES(h, r) \
    :: d_step { early > 0 && zone_up[z] && MAY_EXPIRE(h, r) -> \
        early--; \
        EXPIRE(h, r) } \
    :: atomic { zone_up[z] && MAY_EXPIRE(h, r) && timeout -> \
        d_step { EXPIRE(h, r) } }

/* ProcessesSeen: a part ends when its processes are gone. Without launcher they end by themselves. */
#define END_STATE(h, r) \
    ((HAS(started, P(h, r, z)) && launcher[h] == kEndedWell) || \
     (!HAS(started, P(h, r, z)) && unstarted_is_completed) -> kCompleted : kGone)
#define RUNS(h, r) \
    :: d_step { HAS(alive, P(h, r, z)) && (HAS(killed, P(h, r, z)) || launcher[h] != kGoing) -> \
        DROP(alive, P(h, r, z)); \
        if \
        :: zone_up[z] && part[P(h, r, z)] == kRunning -> end_part(h, r, z, END_STATE(h, r)) \
        :: else \
        fi; \
        tidy(h, r, z) } \
    :: d_step { deaths > 0 && HAS(alive, P(h, r, z)) && launcher[h] == kGoing -> \
        deaths--; \
        DROP(alive, P(h, r, z)); \
        ADD(died, P(h, r, z)) } \
    :: d_step { zone_up[z] && part[P(h, r, z)] == kRunning && !HAS(alive, P(h, r, z)) -> \
        end_part(h, r, z, END_STATE(h, r)); \
        tidy(h, r, z) }

#define ALL_OF(h, r) \
    RECEIVES(h, r, hold_sent, do_hold) \
    RECEIVES(h, r, commit_sent, do_commit) \
    RECEIVES(h, r, launch_sent, do_launch) \
    RELEASES(h, r) \
    EXPIRES(h, r) \
    RUNS(h, r)

proctype Zone(byte z) {
    byte mode = kDelivered;
    bit falls = 0;
end_zone:
    do
    ALL_OF(0, 0)
    ALL_OF(1, 0)
#if ROUNDS >= 2
    ALL_OF(0, 1)
    ALL_OF(1, 1)
#endif
#if ROUNDS == 3
    ALL_OF(0, 2)
    ALL_OF(1, 2)
#endif
    :: d_step { crash_zones && crashes > 0 && zone_up[z] && !(FINAL(0) && FINAL(1)) -> crash_zone(z) }
    :: d_step { !zone_up[z] -> /* resume(): what is stored is held again, leases begin anew */
        zone_up[z] = 1;
        busy[z] = PROMISED(z) }
    od
}

/* Every run ends here: each application in its final state, nothing held, nothing running, nothing owed. If it does
 * not, this process is stuck before its end, which Spin reports as an invalid end state. */
#define DONE(h) (home_gone[h] || (FINAL(h) && (owed & EVER_OF(h)) == 0 && home_up[h]))
#define EMPTY(z) (SUM_AT(LIVE) == 0 && SUM_AT(IS_ALIVE) == 0 && !busy[z] && zone_up[z])
proctype Judge() {
    byte z;
    DONE(0) && DONE(1) && (hold_sent | commit_sent | launch_sent) == 0;
    z = 0;
    EMPTY(z);
    z = 1;
    EMPTY(z);
    z = 2;
    EMPTY(z)
}

init {
    atomic {
        c_code {
            now.early = option("EARLY");
            now.losses = option("LOSS");
            now.duplicates = option("DUP");
            now.crashes = option("CRASHES");
            now.deaths = option("PART_DIES");
            now.cancels = option("CANCEL");
            now.overruns = option("OVERRUN");
            crash_home = option("CRASH_HOME");
            crash_zones = option("CRASH_ZONE");
            home_may_go = option("HOME_GONE");
            no_timer = option("NO_TIMER");
            want1 = option("WANT1") ? option("WANT1") : 2;
            forget_release = option("FORGET_RELEASE");
            commit_without_hold = option("COMMIT_WITHOUT_HOLD");
            expire_committed = option("EXPIRE_COMMITTED");
            unstarted_is_completed = option("UNSTARTED_IS_COMPLETED");
            early_give_back = option("EARLY_GIVE_BACK");
            replan_without_waiting = option("REPLAN_WITHOUT_WAITING");
            replan_what_runs = option("REPLAN_WHAT_RUNS");
            forget_replaced = option("FORGET_REPLACED");
            start_unready = option("START_UNREADY");
        };
        home_up[0] = 1;
        home_up[1] = 1;
        zone_up[0] = 1;
        zone_up[1] = 1;
        zone_up[2] = 1;
        run Home(0);
        run Home(1);
        run Zone(0);
        run Zone(1);
        run Zone(2);
        run Judge()
    }
}
