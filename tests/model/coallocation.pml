/* Two homes compete for three zones with room for one part each: hold, commit, launch, release.
 *
 * One step of the model is one handler of the code (domain strand): it runs whole, stores, then answers. The names
 * before the steps are functions of ApplicationService (home) and PartService (zone) in services/zone_scheduler/domain.
 * Every cycle of the code (release until it is heard, wait for room, look again) is a step here that waits for what
 * ends the cycle, so the graph of states has no cycle at all: `spin -DNP` proves it, and then "no invalid end state"
 * means that every run ends well, without any assumption of fairness.
 *
 * Instances are chosen by macros, see README.md:
 *   EARLY=n     deadlines (of calls, holds, launch windows) that pass before all else has come to rest; without it a
 *               call ends unanswered only when no answer can come, and a timer fires only when nothing else can happen
 *   LOSS=n      requests or replies lost          DUP=n         requests delivered twice
 *   CRASHES=n   crashes with restart, of          CRASH_HOME, CRASH_ZONE
 *   HOME_GONE   home 0 goes away for ever, at any moment
 *   CANCEL      owners cancel at any moment       PART_DIES     processes of one part end by themselves
 *   WANT1=n     zones that home 1 needs (home 0: two)           ROUNDS=n      plans before it gives up
 *   NO_TIMER    no timer may have anything to do (worlds without faults)
 * Mistakes that must be found: FORGET_RELEASE, COMMIT_WITHOUT_HOLD, EXPIRE_COMMITTED, UNSTARTED_IS_COMPLETED,
 * EARLY_GIVE_BACK, REPLAN_WITHOUT_WAITING. */
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef WANT1
#define WANT1 2
#endif
#ifndef EARLY
#define EARLY 0
#endif
#ifndef LOSS
#define LOSS 0
#endif
#ifndef DUP
#define DUP 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif

#define ZONES 3
#define P(h, r, z) (((h) * ROUNDS + (r)) * ZONES + (z)) /* a part: a new id in every round */
#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define ADD(set, i) set = set | BIT(i)
#define DROP(set, i) set = set & ~BIT(i)
#define WANT(h) ((h) == 0 -> 2 : WANT1)


/* ApplicationState; final from kAppCompleted on. `committed` is left out: home goes on to `launching` in the same
 * handler, and a crash between the two leads to the same step. */
#define kAccepted 0
#define kPlanned 1
#define kAllHeld 2
#define kLaunching 3
#define kAppRunning 4
#define kAppCompleted 5
#define kAppFailed 6
#define kCancelled 7
#define kRejected 8
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
/* In home's memory. */
byte call[6];
bit home_up[2];
bit home_gone[2];
/* Stored by the zones. */
byte part[2 * ROUNDS * ZONES];
/* In the zones' memory. */
bit busy[ZONES];
bit zone_up[ZONES];
/* Under way. A request stays until it is delivered, maybe after its home has given up. */
int hold_sent, commit_sent, launch_sent;
/* Processes: they outlive the program of their zone (step supervisor). */
byte launcher[2];
int alive, killed;
/* Seen by the checks, never by the protocol. */
int was_committed, was_launched, started, died;

byte early = EARLY, losses = LOSS, duplicates = DUP, crashes = CRASHES;
#ifdef PART_DIES
byte deaths = 1;
#else
byte deaths = 0;
#endif
#ifdef CANCEL
byte cancels = 1;
#else
byte cancels = 0;
#endif

#define FINAL(h) (app[h] >= kAppCompleted)
#define IN_PLAN(h, z) HAS(plan[h], z)
#define CALL(h, z) call[(h) * ZONES + (z)]
#define ALL_CALLS(h, is) ((CALL(h, 0) is) && (CALL(h, 1) is) && (CALL(h, 2) is))
#define SOME_CALL(h, is) ((CALL(h, 0) is) || (CALL(h, 1) is) || (CALL(h, 2) is))
#define PARTS_OF(h) (plan[h] << P(h, round[h], 0)) /* of the present round, as a set of parts */
#define EVER_OF(h) (((1 << (ROUNDS * ZONES)) - 1) << P(h, 0, 0))
#define SUBSET(a, b) (((a) & ~(b)) == 0)
#define ROOM(z) (zone_up[z] && !busy[z])

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
        DROP(died, P(h, r, z))
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
#ifndef FORGET_RELEASE
    owed = owed | PARTS_OF(h);
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

#ifdef REPLAN_WITHOUT_WAITING
#define ANSWERED(h) (ALL_CALLS(h, != kWait) || SOME_CALL(h, == kNo))
#else
#define ANSWERED(h) ALL_CALLS(h, != kWait)
#endif

/* What home does within the handler of an answer or of a deadline: the ends of hold(), commit() and launch_parts(). */
inline go_on(h) {
    if
    :: app[h] == kLaunching && !stopping[h] && SOME_CALL(h, == kNo) ->
        stopping[h] = 1; /* stop(): one part that does not start stops all */
        enter(h, kLaunching)
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
            enter(h, kLaunching);
            launcher[h] = kGoing; /* start_coordinator() */
            ask_all(h, launch_sent)
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

/* launch_parts(): asked again with the same operation where request or answer was lost. */
#define LAUNCHES_AGAIN(h, z) \
    :: d_step { home_up[h] && app[h] == kLaunching && CALL(h, z) == kWait && zone_up[z] && !stopping[h] && \
                !HAS(launch_sent, P(h, round[h], z)) -> ADD(launch_sent, P(h, round[h], z)) }

/* poll_parts(): a part that says it is lost takes the application with it. */
#define SEES_LOSS(h, z) \
    :: d_step { home_up[h] && app[h] == kAppRunning && !stopping[h] && launcher[h] == kGoing && IN_PLAN(h, z) && \
                zone_up[z] && part[P(h, round[h], z)] == kGone -> stopping[h] = 1 }

#define WATCHES(h) (app[h] == kAppRunning || (app[h] == kLaunching && stopping[h]))

inline finish(h) { /* collect_profile(), finish() */
    if
    :: cancel[h] -> give_up_plan(h, kCancelled)
    :: !cancel[h] && !stopping[h] && launcher[h] == kEndedWell ->
        assert(SUBSET(PARTS_OF(h), started));
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
    PLANS(h, 5)
    PLANS(h, 6)
    PLANS(h, 7)
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

    /* cancel(), advance(): at once where no answer is outstanding. */
    :: d_step { cancels > 0 && home_up[h] && !FINAL(h) && !cancel[h] ->
        cancels--;
        cancel[h] = 1;
        if
        :: app[h] == kAccepted -> give_up_plan(h, kCancelled)
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

#ifdef CRASH_HOME
    /* What it had just sent may be on its way, or may never have left. */
    :: d_step { crashes > 0 && home_up[h] && (!FINAL(h) || (owed & EVER_OF(h)) != 0) ->
        crashes--;
        forget_calls(h) }
    :: d_step { crashes > 0 && home_up[h] && ((hold_sent | commit_sent | launch_sent) & PARTS_OF(h)) != 0 ->
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
#endif
#ifdef HOME_GONE
    :: d_step { h == 0 && !home_gone[h] && !FINAL(h) -> /* the machine, with its launcher */
        home_gone[h] = 1;
        forget_calls(h);
        if
        :: launcher[h] == kGoing -> launcher[h] = kEndedBadly
        :: else
        fi }
#endif
    od
}

/* ---- zone ------------------------------------------------------------------------------------------------------- */

#if ROUNDS == 1
#define SUM_AT(of) (of(P(0, 0, z)) + of(P(1, 0, z)))
#elif ROUNDS == 2
#define SUM_AT(of) (of(P(0, 0, z)) + of(P(0, 1, z)) + of(P(1, 0, z)) + of(P(1, 1, z)))
#else
#define SUM_AT(of) (of(P(0, 0, z)) + of(P(0, 1, z)) + of(P(0, 2, z)) + of(P(1, 0, z)) + of(P(1, 1, z)) + of(P(1, 2, z)))
#endif
#define IS_ALIVE(p) HAS(alive, p)

inline check_room(z) { /* no processor is held by two parts, nor used by processes of two */
    assert(SUM_AT(LIVE) <= 1);
    assert(SUM_AT(IS_ALIVE) <= 1)
}

/* save() with an end: the processors are free again. Silence ends nothing that runs: either home asked, or the
 * launcher is gone, or its own processes are. */
inline end_part(h, r, z, state) {
    assert(!HAS(started, P(h, r, z)) || launcher[h] != kGoing || HAS(killed, P(h, r, z)) || HAS(died, P(h, r, z)));
    part[P(h, r, z)] = state;
    busy[z] = 0
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

inline do_hold(h, r, z) {
    if
    :: part[P(h, r, z)] == kHeld -> answer(h, r, z, kPlanned, kYes)
    :: part[P(h, r, z)] == kNone && !busy[z] ->
        part[P(h, r, z)] = kHeld;
        busy[z] = 1;
        answer(h, r, z, kPlanned, kYes)
    :: else -> answer(h, r, z, kPlanned, kNo)
    fi
}
inline do_commit(h, r, z) {
    if
#ifdef COMMIT_WITHOUT_HOLD
    :: part[P(h, r, z)] != kRunning ->
#else
    :: part[P(h, r, z)] == kHeld || part[P(h, r, z)] == kCommitted ->
#endif
        part[P(h, r, z)] = kCommitted;
        busy[z] = 1;
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
#ifdef CRASH_ZONE
    :: crashes > 0 -> DROP(messages, p); mode = kReplyLost; falls = 1
    :: crashes > 0 -> DROP(messages, p); mode = kCrashBeforeStart; falls = 1
#endif
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
 * it). stop_everything() asks in the same words. */
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
#ifdef EARLY_GIVE_BACK
#define STOP(h, r) \
    ADD(killed, P(h, r, z)); \
    part[P(h, r, z)] = kGone; \
    busy[z] = 0
#else
#define STOP(h, r) ADD(killed, P(h, r, z)) /* stop_steps(); an end only once its processes are gone */
#endif

/* Without faults no timer has anything to do: who gives up a plan gives it back. */
#ifdef NO_TIMER
#define NOTHING_TO_DO assert(false);
#else
#define NOTHING_TO_DO
#endif
/* check_deadlines(): end of the hold, end of the launch window. */
#ifdef EXPIRE_COMMITTED
#define MAY_EXPIRE(h, r) LIVE(P(h, r, z))
#else
#define MAY_EXPIRE(h, r) BEFORE_RUN(h, r)
#endif
#define EXPIRE(h, r) \
    NOTHING_TO_DO \
    DROP(alive, P(h, r, z)); \
    end_part(h, r, z, kGone); \
    tidy(h, r, z)
#define EXPIRES(h, r) \
    :: d_step { early > 0 && zone_up[z] && MAY_EXPIRE(h, r) -> \
        early--; \
        EXPIRE(h, r) } \
    :: atomic { zone_up[z] && MAY_EXPIRE(h, r) && timeout -> \
        d_step { EXPIRE(h, r) } }

/* check_running(): a part ends when its processes are gone. Without launcher they end by themselves. */
#ifdef UNSTARTED_IS_COMPLETED
#define END_STATE(h, r) (!HAS(started, P(h, r, z)) || launcher[h] == kEndedWell -> kCompleted : kGone)
#else
#define END_STATE(h, r) (HAS(started, P(h, r, z)) && launcher[h] == kEndedWell -> kCompleted : kGone)
#endif
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
#ifdef CRASH_ZONE
    :: d_step { crashes > 0 && zone_up[z] && !(FINAL(0) && FINAL(1)) -> crash_zone(z) }
#endif
    :: d_step { !zone_up[z] -> /* resume(): what is stored is held again, leases begin anew */
        zone_up[z] = 1;
        busy[z] = SUM_AT(LIVE) }
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
