#include "algorithms/policy/registry.hpp"

#include <algorithm>
#include <array>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/policy/adaptive_scojo.hpp"
#include "algorithms/policy/backfill/conservative.hpp"
#include "algorithms/policy/backfill/depth_backfill.hpp"
#include "algorithms/policy/backfill/dynamic_backfill.hpp"
#include "algorithms/policy/backfill/easy_backfill.hpp"
#include "algorithms/policy/backfill/los.hpp"
#include "algorithms/policy/backfill/selective.hpp"
#include "algorithms/policy/backfill/slack_backfill.hpp"
#include "algorithms/policy/elmer_policy.hpp"
#include "algorithms/policy/fcfs.hpp"
#include "algorithms/policy/gang_sharing.hpp"
#include "algorithms/policy/lazy_switching.hpp"
#include "algorithms/policy/multiqueue.hpp"
#include "algorithms/policy/scojo.hpp"

namespace zbs {
namespace {

constexpr double kOpen = 1e19;

constexpr std::array<std::string_view, 4> kOrders{"arrival", "estimate", "slowdown", "priority"};
static_assert(static_cast<int>(BackfillOrder::kPriority) == 3, "kOrders lists the values of BackfillOrder in order");

constexpr std::array kEasyOptions{
    choice_option("order", "arrival", kOrders,
                  "order in which jobs behind the head are tried: arrival, estimate (shortest walltime first), "
                  "slowdown (largest expected slowdown first) or priority (largest first)"),
};
constexpr std::array kBackfillOptions{
    integer_option("depth", "1", {0, kOpen}, "number of reservations, 0 or more, or unlimited"),
    kEasyOptions[0],
};
constexpr std::array kSelectiveOptions{
    number_option("threshold", "2", {1, 1e6}, "expected slowdown above which a job has a reservation, 1 to 1000000"),
};
constexpr std::array kSlackOptions{
    number_option(
        "slack", "1", {0, 1e6},
        "delay beyond its first promise that a job of priority 0 may suffer, in walltimes, 0 to 1000000; jobs of "
        "higher priority have slack / (1 + priority)"),
    integer_option("lookahead", "16", {0, 1e5}, "early starts tried in one plan, 0 to 100000"),
};
constexpr std::array kDynamicOptions{
    duration_option("max_delay", "10m", "largest delay of the head beyond its first reservation"),
    number_option("gain", "0.1", {0, 1}, "share of the machine that a job must fill to delay the head, 0 to 1"),
};
constexpr std::array kMultiqueueOptions{
    durations_option("bounds", "1h,6h", "largest walltime of every queue but the last, ascending"),
    numbers_option(
        "shares", "0.1,0.2,0.7", {1e-6, 1e6},
        "share of the processors that each queue owns, one more than there are bounds, each 0.000001 to 1000000"),
    flag_option("borrow", "false",
                "true: every queue may use all processors that are idle; false: only those of its partition"),
};
constexpr std::array<std::string_view, 5> kPackings{"first-fit", "best-fit", "ffd", "memory-fit", "buddy"};
constexpr std::array<std::string_view, 4> kMigrations{"rule", "never", "arrival", "change"};
constexpr std::array<std::string_view, 3> kChoices{"lowest", "fewest-tasks", "most-memory"};
constexpr std::array<std::string_view, 2> kNewSlices{"if-needed", "always-compared"};
static_assert(static_cast<int>(gang::Repack::kAtChange) == 2 &&
                  static_cast<int>(gang::ProcessorChoice::kMaxMemory) == 2 &&
                  static_cast<int>(gang::NewSlice::kAlwaysCompared) == 1,
              "the lists above name the values in order");
constexpr std::array<std::string_view, 3> kRuleOrFlag{"rule", "true", "false"};
constexpr std::array kGangOptions{
    choice_option("packing", "first-fit", kPackings,
                  "which slots a job gets: first-fit, best-fit, ffd (first fit decreasing, all jobs anew at "
                  "every change), memory-fit or buddy (distributed hierarchical control)"),
    integer_option("slices", "5", {1, kOpen}, "largest multiprogramming level, 1 or more, or unlimited"),
    integer_option("tasks", "unlimited", {1, kOpen},
                   "most tasks that share a processor (admission cap), 1 or more, or unlimited"),
    choice_option("migration", "rule", kMigrations,
                  "when all jobs are packed anew: never, at an arrival, at every change, or as the packing "
                  "rule says (only ffd: change)"),
    choice_option("choice", "fewest-tasks", kChoices, "processors within a slice: lowest, fewest-tasks or most-memory"),
    choice_option("new-slice", "if-needed", kNewSlices, "when memory-fit opens a slice: if-needed or always-compared"),
    choice_option("overtaking", "rule", kRuleOrFlag,
                  "whether a job that waits lets later ones pass: true, false, or as the packing rule says "
                  "(only memory-fit: true)"),
    flag_option("fill", "true", "true: left-over slots go to further copies of jobs (alternative scheduling)"),
    flag_option("compact", "true", "true: jobs move into fuller rows when one has left"),
    flag_option("selective-disabling", "true", "buddy: controllers below unused processors stay active"),
};
constexpr std::array kLazyGangOptions{
    durations_option(
        "patience", "10s,5m,1h",
        "how long an interactive job, a debugging run and a batch job may be kept waiting, each 1 s or more"),
    duration_option("debug", "30m", "largest walltime of a debugging run"),
    duration_option("undisturbed", "10s",
                    "how long a job that got its processors keeps them, for each GiB of its memory"),
};
constexpr std::array kLosOptions{
    integer_option("lookahead", "50", {1, 1e5}, "waiting jobs looked at behind the head, 1 to 100000"),
    flag_option("reserve", "true",
                "true: the head has a reservation; false: most processors now, whatever it costs the head"),
};

constexpr std::array<std::string_view, 2> kQueueOrders{"priority", "fcfs"};
constexpr std::array<std::string_view, 2> kExpansions{"alone", "all"};
constexpr std::array<std::string_view, 2> kEstimators{"count", "application"};
constexpr std::array kScojoOptions{
    integer_option("level", "3", {1, 16}, "most jobs at once (multiprogramming level), 1 to 16"),
    integer_option("share", "0", {0, 99}, "share of a job that asks for none, 0 to 99 per cent; 0: 100 / level"),
    choice_option("order", "priority", kQueueOrders,
                  "order of waiting jobs: priority (class of walltime, and age) or fcfs"),
    flag_option("backfill", "true", "whether later jobs may start that delay none ahead of them: true or false"),
    integer_option("longest-together", "0", {0, 16},
                   "most jobs of the lowest class that are coscheduled, 0 to 16; 0: as many as the level"),
    choice_option("expand", "alone", kExpansions,
                  "who gets more than the most it asks for: a job alone, or all in proportion"),
    durations_option("classes", "10s,30s,60s", "largest walltimes of the classes above the last one, ascending"),
    duration_option("age", "0", "a job goes up a class each time it has waited that long; 0: never"),
    number_option("worst-slowdown", "2", {1, 100}, "largest slowdown of a job beside others that is taken, 1 to 100"),
    choice_option("estimator", "count", kEstimators,
                  "what slowdown is expected: by the count of jobs, or by application (measured pairs)"),
    numbers_option("factors", "1,1.2,1.3", {0.1, 100},
                   "estimator count: slowdown expected of one job, two, three and so on, each 0.1 to 100, not falling"),
};

constexpr std::array<std::string_view, 4> kAllocationRules{"v1", "v2", "corrected", "x"};
static_assert(static_cast<int>(elmer::AllocationRule::kArrival) == 2 &&
                  static_cast<int>(elmer::AllocationRule::kOneCluster) == 3,
              "kAllocationRules lists the values of AllocationRule in order");
constexpr std::array kElmerOptions{
    integer_option("degree", "2", {1, elmer::VirtualClusters::kMaxDegree},
                   "jobs that a processor may have (degree of multiprogramming), 1 to 48; 1: one alone"),
    choice_option("rule", "corrected", kAllocationRules,
                  "which processors a job gets: v1 (free slots of the lowest level), v2 (and not busy), "
                  "corrected (ours: as v2, and older jobs always go first) or x (ours: as corrected, never "
                  "over two other jobs nor on their first processors)"),
    number_option("threshold", "0.8", {0, 1},
                  "CPU utilisation above which a processor gets no further job, 0 to 1; not with v1; in "
                  "simulations it is 1 while a job runs there, else 0, so any value below 1 makes it fcfs"),
    integer_option("seed", "1", {0, 1e9}, "of the choice among processors that are as good, 0 to 1000000000"),
};

constexpr std::array<std::string_view, 11> kStrategies{"none",     "fcfs",        "fcfs-b",       "pri-b",
                                                       "pri-eb",   "pri-b-wa-fa", "pri-eb-wa-fa", "pri-b-wa",
                                                       "pri-b-fa", "pri-wa-fa",   "fcfs-b-wa-fa"};
constexpr std::array<std::string_view, 2> kAdaptiveOrders{"fcfs", "priority"};
constexpr std::array<std::string_view, 4> kAdaptiveBackfills{"none", "easy", "conservative", "aggressive"};
constexpr std::array<std::string_view, 2> kFlags{"false", "true"};
static_assert(static_cast<int>(AdaptiveScojo::Order::kPriority) == 1 &&
                  static_cast<int>(AdaptiveScojo::Backfill::kAggressive) == 3,
              "the lists above name the values in order");
constexpr std::array kAdaptiveScojoOptions{
    choice_option("strategy", "none", kStrategies,
                  "published combination of the next four options, with level 5 for the first four names and "
                  "2 for the others unless level is given: fcfs, fcfs-b, pri-b, pri-eb, pri-b-wa-fa, "
                  "pri-eb-wa-fa, pri-b-wa, pri-b-fa, pri-wa-fa, fcfs-b-wa-fa; none: as the options say"),
    choice_option("order", "priority", kAdaptiveOrders,
                  "order of waiting jobs: priority (class of walltime, and age) or fcfs"),
    choice_option("backfill", "conservative", kAdaptiveBackfills,
                  "later jobs that may start: none, those that do not delay the first in line (easy) or any of the "
                  "first `lookahead` that stay behind (conservative), or all that fit (aggressive)"),
    integer_option("lookahead", "50", {0, 1e5},
                   "waiting jobs that conservative backfilling must not delay, 0 to 100000: the first of those "
                   "that stay behind; 0: as aggressive"),
    flag_option("adapt", "true", "whether sizes of jobs that can choose follow the load: true or false"),
    flag_option("fill", "true", "whether new jobs that can choose take idle slots of their row: true or false"),
    integer_option("level", "2", {1, AdaptiveScojo::kMaxLevel},
                   "most rows of the slice matrix (multiprogramming level), 1 to 64; 1: nobody takes turns"),
    durations_option("classes", "1m,30m", "largest walltimes of the classes above the last one, ascending"),
    duration_option("reconfigure", "5m",
                    "shortest time between two changes of sizes; shorter jobs do not count in the load"),
    duration_option("slice", "2s", "how long a row runs where all are in use, 1 ms to 1 d; fewer rows run longer each"),
    duration_option("age", "0", "a job goes up a class each time it has waited that long; 0: never"),
};

constexpr std::array kPolicies{
    PolicyInfo{.name = "adaptive-scojo",
               .summary = "jobs take turns, and those that can change their sizes follow the load",
               .source = "Huang2004, chapter 6",
               .starvation = "with age > 0 every job reaches the highest class; without, low classes may starve, with "
                             "aggressive backfilling wide jobs, too",
               .options = kAdaptiveScojoOptions,
               .takes_turns = true},
    PolicyInfo{
        .name = "backfill",
        .summary = "backfilling with a number of reservations, made anew in every plan",
        .source = "MualemFeitelson2001, section 2",
        .starvation = "with depth 1 or more the head starts by its reservation; with depth 0 wide jobs may starve",
        .options = kBackfillOptions},
    PolicyInfo{.name = "conservative",
               .summary = "a promised start for every job on arrival, compressed when jobs end early",
               .source = "FeitelsonWeil1998; MualemFeitelson2001, section 2",
               .starvation = "every job starts by its promise",
               .options = {}},
    PolicyInfo{.name = "dynamic",
               .summary = "EASY whose reservation may be overruled by a job that fills much of the machine",
               .source = "ShmueliFeitelson2005, section 2",
               .starvation = "the head starts by its first reservation plus max_delay",
               .options = kDynamicOptions},
    PolicyInfo{.name = "easy",
               .summary = "aggressive backfilling: a reservation for the head alone",
               .source = "Lifka1995; MualemFeitelson2001",
               .starvation = "the head starts by its reservation",
               .options = kEasyOptions},
    PolicyInfo{.name = "elmer",
               .summary = "jobs share processors by priority: first come, highest priority, in virtual clusters",
               .source = "Turner1995, chapter 6",
               .starvation = "jobs start in the order of arrival and older ones run first; with rule=v1 or v2 later "
                             "ones may run first",
               .options = kElmerOptions},
    PolicyInfo{.name = "fcfs",
               .summary = "first come, first served, without backfilling",
               .source = "-",
               .starvation = "jobs start in the order of arrival",
               .options = {}},
    PolicyInfo{
        .name = "gang",
        .summary = "jobs take turns in the rows of a slice matrix, all tasks of a job together",
        .source = "DaSilva2000, chapters 3 and 5",
        .starvation = "waiting jobs enter the matrix in the order of arrival; with overtaking wide ones may starve",
        .options = kGangOptions,
        .takes_turns = true,
        .takes_slice = true},
    PolicyInfo{.name = "lazy-gang",
               .summary = "jobs keep their processors until somebody has waited too long, who then preempts",
               .source = "DaSilva2000, section 3.3",
               .starvation = "a job that has waited longer than its class may comes first and may preempt",
               .options = kLazyGangOptions},
    PolicyInfo{.name = "los",
               .summary = "lookahead optimising: the set of waiting jobs that uses most processors now",
               .source = "ShmueliFeitelson2005",
               .starvation = "with reserve=true the head starts by its reservation; with false it may starve",
               .options = kLosOptions},
    PolicyInfo{.name = "multiqueue",
               .summary = "queues by walltime, each with its own partition and EASY inside it",
               .source = "LawsonSmirni2002",
               .starvation = "the first blocked job of every queue starts by its promise",
               .options = kMultiqueueOptions},
    PolicyInfo{.name = "scojo",
               .summary = "every job has a share of all processors; reserved starts are kept",
               .source = "Huang2004, chapter 5",
               .starvation = "with age > 0 every job reaches the highest class; without, low classes may starve",
               .options = kScojoOptions},
    PolicyInfo{.name = "selective",
               .summary = "reservations only for jobs whose expected slowdown exceeds a threshold",
               .source = "SrinivasanEtAl2002",
               .starvation = "a job's expected slowdown grows until it has a reservation, which stands",
               .options = kSelectiveOptions},
    PolicyInfo{.name = "sjbf",
               .summary = "EASY that backfills by shortest walltime: easy with order=estimate",
               .source = "ShmueliFeitelson2005, section 2",
               .starvation = "the head starts by its reservation",
               .options = {}},
    PolicyInfo{.name = "slack",
               .summary = "a promised start for every job, which others may delay within the job's slack",
               .source = "TalbyFeitelson1999",
               .starvation = "every job starts by its first promise plus its slack",
               .options = kSlackOptions},
};

template <class T, class... Arguments>
Result<std::unique_ptr<Policy>> made(const OptionReader& reader, Arguments&&... arguments) {
    if (const Error* fault = reader.fault()) return *fault;
    return std::unique_ptr<Policy>(std::make_unique<T>(std::forward<Arguments>(arguments)...));
}

Result<std::unique_ptr<Policy>> make_multiqueue(OptionReader& reader) {
    Multiqueue::Options options{
        .bounds = reader.durations("bounds"), .shares = reader.numbers("shares"), .borrow = reader.flag("borrow")};
    if (reader.fault() == nullptr) {
        if (!std::ranges::is_sorted(options.bounds, std::less_equal<>{}) && options.bounds.size() > 1)
            reader.fail("bounds", "must ascend");
        if (options.shares.size() != options.bounds.size() + 1)
            reader.fail("shares", "names " + std::to_string(options.shares.size()) + " queues, but " +
                                      std::to_string(options.bounds.size()) + " bounds make " +
                                      std::to_string(options.bounds.size() + 1));
    }
    if (const Error* fault = reader.fault()) return *fault;
    return made<Multiqueue>(reader, options);
}

Result<std::unique_ptr<Policy>> make_gang(OptionReader& reader) {
    gang::PackingOptions packing = *gang::make_packing_options(kPackings[reader.choice("packing")], {});
    const auto limit = [&reader](std::string_view name) {
        const std::int64_t most = reader.integer(name);
        return most > 1'000'000 ? 0 : static_cast<std::int32_t>(most);  // 0: none
    };
    packing.max_slices = limit("slices");
    packing.max_tasks_per_node = limit("tasks");
    if (const std::size_t when = reader.choice("migration"); when > 0)
        packing.repack = static_cast<gang::Repack>(when - 1);
    packing.choice = static_cast<gang::ProcessorChoice>(reader.choice("choice"));
    packing.new_slice = static_cast<gang::NewSlice>(reader.choice("new-slice"));
    if (const std::size_t pass = reader.choice("overtaking"); pass > 0) packing.overtaking = pass == 1;
    packing.fill = reader.flag("fill");
    packing.compact = reader.flag("compact");
    packing.selective_disabling = reader.flag("selective-disabling");
    return made<GangSharing>(reader, packing);
}

Result<std::unique_ptr<Policy>> make_lazy_gang(OptionReader& reader) {
    LazySwitching::Options options{.debug_walltime = reader.duration("debug")};
    const std::vector<Duration> patience = reader.durations("patience");
    if (patience.size() == options.lazy.patience.size())
        std::ranges::copy(patience, options.lazy.patience.begin());
    else if (reader.fault() == nullptr)
        reader.fail("patience", "holds " + std::to_string(patience.size()) +
                                    " durations; write three: interactive, debugging, batch");
    if (std::ranges::any_of(patience, [](Duration each) { return each < std::chrono::seconds{1}; }))
        reader.fail("patience", "must be 1 s or more: jobs would preempt each other without end");
    options.lazy.undisturbed_per_memory = reader.duration("undisturbed");
    return made<LazySwitching>(reader, options);
}

Result<std::unique_ptr<Policy>> make_scojo(OptionReader& reader) {
    Scojo::Options options{.level = static_cast<std::int32_t>(reader.integer("level")),
                           .share = static_cast<std::int32_t>(reader.integer("share")),
                           .priority = reader.choice("order") == 0,
                           .backfill = reader.flag("backfill"),
                           .longest_together = static_cast<std::int32_t>(reader.integer("longest-together")),
                           .expand = static_cast<Scojo::Expand>(reader.choice("expand")),
                           .classes = reader.durations("classes"),
                           .age = reader.duration("age"),
                           .worst_slowdown = reader.number("worst-slowdown")};
    if (std::ranges::adjacent_find(options.classes, std::greater_equal<>{}) != options.classes.end())
        reader.fail("classes", "must ascend");
    const std::vector<double> factors = reader.numbers("factors");
    if (!std::ranges::is_sorted(factors)) reader.fail("factors", "must not fall: more jobs never hurt less");
    const std::size_t estimator = reader.choice("estimator");
    if (const Error* fault = reader.fault()) return *fault;
    options.estimator = estimator == 0 ? CoschedulingModel::by_count(factors) : CoschedulingModel::by_application();
    return made<Scojo>(reader, options);
}

/// What a published strategy says; an option that says otherwise is a fault.
void take_strategy(OptionReader& reader, const AdaptiveScojo::Strategy& strategy, AdaptiveScojo::Options& options) {
    const auto agree = [&](std::string_view name, bool same, std::string_view word) {
        if (reader.given(name) && !same)
            reader.fail(name, "contradicts strategy=" + std::string(strategy.name) + ", which has " +
                                  std::string(name) + "=" + std::string(word) + ": leave one of the two out");
    };
    agree("order", options.order == strategy.order, kAdaptiveOrders[static_cast<std::size_t>(strategy.order)]);
    agree("backfill", options.backfill == strategy.backfill,
          kAdaptiveBackfills[static_cast<std::size_t>(strategy.backfill)]);
    agree("adapt", options.adapt == strategy.adapt, kFlags[strategy.adapt ? 1 : 0]);
    agree("fill", options.fill == strategy.fill, kFlags[strategy.fill ? 1 : 0]);
    options.order = strategy.order;
    options.backfill = strategy.backfill;
    options.adapt = strategy.adapt;
    options.fill = strategy.fill;
    if (!reader.given("level")) options.level = strategy.level;
}

Result<std::unique_ptr<Policy>> make_adaptive_scojo(OptionReader& reader) {
    AdaptiveScojo::Options options{
        .order = static_cast<AdaptiveScojo::Order>(reader.choice("order")),
        .backfill = static_cast<AdaptiveScojo::Backfill>(reader.choice("backfill")),
        .adapt = reader.flag("adapt"),
        .fill = reader.flag("fill"),
        .level = static_cast<std::int32_t>(reader.integer("level")),
        .classes = reader.durations("classes"),
        .reconfigure = reader.duration("reconfigure"),
        .slice = reader.duration("slice"),
        .lookahead = static_cast<std::size_t>(reader.integer("lookahead")),
        .age = reader.duration("age"),
    };
    if (options.slice < std::chrono::milliseconds{1} || options.slice > std::chrono::hours{24})
        reader.fail("slice", "must last 1 ms to 1 d");
    if (std::ranges::adjacent_find(options.classes, std::greater_equal<>{}) != options.classes.end())
        reader.fail("classes", "must ascend");
    const std::string_view wanted = kStrategies[reader.choice("strategy")];
    for (const AdaptiveScojo::Strategy& strategy : AdaptiveScojo::strategies())
        if (strategy.name == wanted) take_strategy(reader, strategy, options);
    if (reader.given("lookahead") && options.backfill != AdaptiveScojo::Backfill::kConservative)
        reader.fail("lookahead", "is of conservative backfilling, and this is backfill=" +
                                     std::string(kAdaptiveBackfills[static_cast<std::size_t>(options.backfill)]) +
                                     ": leave it out, or have backfill=conservative");
    if (const Error* fault = reader.fault()) return *fault;
    return made<AdaptiveScojo>(reader, options);
}

Result<std::unique_ptr<Policy>> make_elmer(OptionReader& reader) {
    const ElmerPolicy::Options options{.degree = static_cast<std::int32_t>(reader.integer("degree")),
                                       .rule = static_cast<elmer::AllocationRule>(reader.choice("rule")),
                                       .threshold = reader.number("threshold"),
                                       .seed = static_cast<std::uint64_t>(reader.integer("seed"))};
    if (options.rule == elmer::AllocationRule::kLevels && reader.given("threshold"))
        reader.fail("threshold", "is not heeded by rule=v1: leave it out, or have another rule");
    return made<ElmerPolicy>(reader, options);
}

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

const PolicyInfo* find_policy(std::string_view name) {
    for (const PolicyInfo& policy : kPolicies)
        if (policy.name == name) return &policy;
    return nullptr;
}

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyOptions& options) {
    const PolicyInfo* const policy = find_policy(name);
    if (policy == nullptr) {
        std::vector<std::string_view> names;
        for (const PolicyInfo& known : kPolicies) names.push_back(known.name);
        return invalid("there is no policy '" + std::string(name) + "'" + did_you_mean(name, names));
    }
    OptionReader reader("policy " + std::string(name), policy->options, options);
    if (const Error* fault = reader.fault()) return *fault;
    if (name == "fcfs") return made<Fcfs>(reader);
    if (name == "conservative") return made<Conservative>(reader);
    if (name == "sjbf") return made<EasyBackfill>(reader, BackfillOrder::kEstimate);
    if (name == "easy") return made<EasyBackfill>(reader, static_cast<BackfillOrder>(reader.choice("order")));
    if (name == "selective") return made<Selective>(reader, reader.number("threshold"));
    if (name == "multiqueue") return make_multiqueue(reader);
    if (name == "gang") return make_gang(reader);
    if (name == "scojo") return make_scojo(reader);
    if (name == "elmer") return make_elmer(reader);
    if (name == "adaptive-scojo") return make_adaptive_scojo(reader);
    if (name == "lazy-gang") return make_lazy_gang(reader);
    if (name == "backfill") {
        const std::int64_t depth = reader.integer("depth");
        const BackfillOrder order = static_cast<BackfillOrder>(reader.choice("order"));
        if (depth == 1) return made<EasyBackfill>(reader, order);
        return made<DepthBackfill>(reader, static_cast<std::size_t>(depth), order);
    }
    if (name == "dynamic")
        return made<DynamicBackfill>(
            reader, DynamicBackfill::Options{.max_delay = reader.duration("max_delay"), .gain = reader.number("gain")});
    if (name == "slack")
        return made<SlackBackfill>(
            reader, SlackBackfill::Options{.slack = reader.number("slack"),
                                           .lookahead = static_cast<std::size_t>(reader.integer("lookahead"))});
    ZBS_EXPECTS(name == "los");
    return made<Los>(reader, Los::Options{.lookahead = static_cast<std::size_t>(reader.integer("lookahead")),
                                          .reserve = reader.flag("reserve")});
}

}  // namespace zbs
