#include "studies/claims/dasilva_rules.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "algorithms/base/rng.hpp"
#include "algorithms/gang/classifier.hpp"
#include "algorithms/gang/packing.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "studies/claims/dasilva_support.hpp"
#include "studies/models/family.hpp"
#include "studies/models/gang_machine.hpp"
#include "studies/models/periodic_schedule.hpp"
#include "studies/models/waiting.hpp"

namespace zbs::claims {
namespace {

using dasilva::format;
using gang::BayesianState;
using gang::GangPacking;
using gang::Memberships;
using gang::SliceEvidence;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr const char* kPackingTests = "tests/property/gang/packing_property_test.cpp#";
constexpr const char* kMachineTests = "tests/property/gang/gang_machine_property_test.cpp#GangMachineProperty.";
constexpr const char* kUnitTests = "tests/unit/gang/";

/// Calls `visit` with the number of rows of every packing of `sizes`, each job once.
template <class Visit>
void all_packings(const std::vector<std::int32_t>& sizes, std::int32_t width, std::size_t next,
                  std::vector<std::int32_t>& free, const Visit& visit) {
    if (next == sizes.size()) return visit(static_cast<std::int32_t>(free.size()));
    for (std::size_t row = 0; row < free.size(); ++row) {
        if (free[row] < sizes[next]) continue;
        free[row] -= sizes[next];
        all_packings(sizes, width, next + 1, free, visit);
        free[row] += sizes[next];
    }
    free.push_back(width - sizes[next]);
    all_packings(sizes, width, next + 1, free, visit);
    free.pop_back();
}

/// Jobs of all kinds that run for a few slices.
GangWorkload short_workload(std::uint64_t seed) {
    const UniformWorkload uniform{.common = {.jobs = 12, .processors = 8, .seed = seed},
                                  .least_runtime_s = 1,
                                  .most_runtime_s = 6,
                                  .mean_gap_s = 2};
    const std::vector<JobKind> kinds{JobKind::kIo, JobKind::kMessages, JobKind::kBarriers, JobKind::kCompute};
    GangWorkload workload = make_gang_workload(generate(uniform).value(), kinds, {}, seed).value();
    for (GangJob& job : workload.jobs) job.work /= 10;
    return workload;
}

/// A history of five jobs on fixed processors, whose tasks lead each other by three slices at most.
TraceDiagram random_history(std::uint64_t seed) {
    Rng rng(seed);
    const std::vector<std::vector<std::int32_t>> on{{0, 1}, {2, 3}, {0, 2}, {1}, {3}};
    std::vector<std::vector<std::int32_t>> lead;
    for (const std::vector<std::int32_t>& processors : on) lead.emplace_back(processors.size(), 0);
    TraceDiagram history(4);
    for (int step = 0; step < 60; ++step) {
        const std::int32_t row = history.add_row();
        for (int turn = 0; turn < 5; ++turn) {
            const std::size_t job = rng.below(on.size());
            const JobId id{static_cast<std::int64_t>(job)};
            if (std::ranges::any_of(history.entries(row), [id](const auto& entry) { return entry.job == id; }))
                continue;
            std::vector<std::int32_t> chosen;
            for (std::size_t task = 0; task < on[job].size(); ++task)
                if (history.is_free(row, on[job][task]) && rng.below(3) != 0 &&
                    lead[job][task] - std::ranges::min(lead[job]) < 2)
                    chosen.push_back(on[job][task]);
            if (chosen.empty()) continue;
            for (std::size_t task = 0; task < on[job].size(); ++task)
                lead[job][task] += static_cast<std::int32_t>(std::ranges::count(chosen, on[job][task]));
            history.place(row, id, chosen);
        }
    }
    return history;
}

/// The least idling ratio of all parts of the history that serve the tasks of each job equally, one by one.
double least_idling(const TraceDiagram& history) {
    double best = 2;
    for (std::int32_t begin = 0; begin < history.row_count(); ++begin) {
        TraceDiagram rows(history.processors());
        for (std::int32_t row = begin; row < history.row_count(); ++row) {
            const std::int32_t to = rows.add_row();
            for (const TraceDiagram::Entry& entry : history.entries(row))
                rows.place(to, entry.job, history.processors_of(row, entry.job));
            if (gang::serves_equally(rows, history)) best = std::min(best, rows.idling_ratio());
        }
    }
    return best;
}

class RuleFindings : public dasilva::Findings {
  public:
    using Findings::Findings;

    void shortest_period() {
        int beaten = 0;
        const auto sets = static_cast<int>(effort().scaled(200, 20));
        for (int set = 0; set < sets; ++set) {
            Rng rng(static_cast<std::uint64_t>(set));
            constexpr std::int32_t kWidth = 8;
            std::vector<std::int32_t> sizes(1 + rng.below(7)), free;
            for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(1 + rng.below(kWidth));
            std::int32_t fewest = 1000;
            all_packings(sizes, kWidth, 0, free, [&](std::int32_t rows) { fewest = std::min(fewest, rows); });
            for (const gang::PackingInfo& rule : gang::packing_rules()) {
                GangPacking packing(gang::make_packing_options(rule.name, {.processors = kWidth}).value());
                for (std::size_t i = 0; i < sizes.size(); ++i)
                    ZBS_EXPECTS(packing.arrive({JobId{static_cast<std::int64_t>(i)}, sizes[i]}).has_value());
                const double total = std::accumulate(sizes.begin(), sizes.end(), 0.0);
                beaten += packing.diagram().idling_ratio() < 1 - total / (kWidth * fewest) - 1e-12 ? 1 : 0;
            }
        }
        add("C2", "Corollary 1: the shortest period idles least", "no schedule idles less",
            format("%d of %d packings by our rules idle less than the shortest period of all", beaten,
                   static_cast<int>(gang::packing_rules().size()) * sets),
            {beaten == 0}, {},
            std::string(kPackingTests) + "PackingBruteForce.ShortestPeriodIdlesLeastAndNoRuleBeatsIt");
    }

    void periodic_part() {
        int worse = 0, unequal = 0;
        const auto histories = static_cast<int>(effort().scaled(100, 20));
        for (int seed = 0; seed < histories; ++seed) {
            const TraceDiagram history = random_history(static_cast<std::uint64_t>(seed));
            const std::optional<gang::PeriodicPart> part = gang::best_periodic_part(history);
            unequal += part && gang::serves_equally(part->period, history) ? 0 : 1;
            worse += part && part->period.idling_ratio() <= least_idling(history) + 1e-12 ? 0 : 1;
        }
        add("C3", "Theorem 5: a periodic part serves all tasks of a job equally and idles least of all such parts",
            "always",
            format("of %d random histories %d have none that serves equally, in %d another part idles less", histories,
                   unequal, worse),
            {unequal == 0, worse == 0}, {},
            "tests/property/gang/theorem_property_test.cpp#Theorem5.PeriodicPartIdlesNoMoreThanTheHistory");
    }

    /// A job of four tasks that meet at ten barriers beside two that only compute, one of three tasks: in the fourth
    /// processor's idle slots round robin runs a task of the first alone.
    static double barrier_job_ends_us(GangScheduling how) {
        const auto compute = [](int us) { return TaskStep{TaskStep::Kind::kCompute, -1, microseconds{us}}; };
        std::vector<TaskStep> meets;
        for (int i = 0; i < 10; ++i) {
            meets.push_back(compute(40));
            meets.push_back({TaskStep::Kind::kBarrier, -1, {}});
        }
        GangWorkload workload{.processors = 4, .bursts = {}, .jobs = {}};
        const auto add_job = [&workload](int id, std::size_t tasks, const std::vector<TaskStep>& steps) {
            workload.jobs.push_back(
                {.id = JobId{id},
                 .processors = static_cast<std::int32_t>(tasks),
                 .script = std::make_shared<const std::vector<std::vector<TaskStep>>>(tasks, steps)});
        };
        add_job(3, 4, meets);
        add_job(1, 4, {compute(900)});
        add_job(2, 3, {compute(900)});
        how.slice = microseconds{100};
        how.context_switch = Duration{0};
        how.network = {.latency_ns = 0, .overhead_ns = 0};
        how.packing.choice = gang::ProcessorChoice::kLowest;
        how.resume_in_slice = false;
        return to_seconds(run_gang_machine(workload, how)->jobs[0].end - Time{}) * 1e6;
    }

    void lone_run() {
        const double robin = barrier_job_ends_us(concurrent_gang_round_robin());
        const double priority = barrier_job_ends_us(concurrent_gang_priority());
        add("C20", "Figure 6.9: round robin loses a gang's slice by running one of its tasks alone, priorities do not",
            "later under round robin",
            format("a barrier job of 400 us of work a task ends after %.0f us under round robin, %.0f us under "
                   "priorities",
                   robin, priority),
            {priority < robin}, {},
            std::string(kUnitTests) + "gang_machine_test.cpp#GangMachine.LoneRunOfASynchronisingTaskLosesItsSlice");
    }

    void divisible_sizes() {
        int worse = 0, arrivals = 0;
        for (int set = 0; set < effort().scaled(300, 30); ++set) {
            Rng rng(static_cast<std::uint64_t>(set));
            GangPacking packing(gang::make_packing_options("ffd", {.processors = 32}).value());
            std::int64_t total = 0;
            for (std::int64_t job = 0; job < 25; ++job, ++arrivals) {
                const auto size = std::int32_t{1} << rng.below(6);
                total += size;
                ZBS_EXPECTS(packing.arrive({JobId{job}, size}).has_value());
                worse += packing.diagram().row_count() != gang::fewest_slices(total, 32) ? 1 : 0;
            }
        }
        add("C7", "FFD is optimal where sizes divide each other", "fewest slices",
            format("more than the fewest after %d of %d arrivals", worse, arrivals), {worse == 0}, {},
            std::string(kPackingTests) + "FirstFitDecreasing.IsOptimalWhereSizesDivideEachOther");
    }

    void memory_fit() {
        int worse = 0, arrivals = 0;
        const auto options = [](gang::NewSlice new_slice) {
            return gang::make_packing_options("memory-fit",
                                              {.processors = 12, .new_slice = new_slice, .memory_per_node = 512})
                .value();
        };
        for (int set = 0; set < effort().scaled(150, 15); ++set) {
            Rng rng(static_cast<std::uint64_t>(set));
            GangPacking needed(options(gang::NewSlice::kOnlyIfNeeded));
            for (std::int64_t job = 0; job < 12; ++job, ++arrivals) {
                const gang::GangRequest request{JobId{job}, static_cast<std::int32_t>(1 + rng.below(12)),
                                                static_cast<std::int64_t>(rng.below(60))};
                GangPacking compared = GangPacking::restore(options(gang::NewSlice::kAlwaysCompared), needed.diagram(),
                                                            {needed.residents().begin(), needed.residents().end()},
                                                            {needed.waiting().begin(), needed.waiting().end()});
                ZBS_EXPECTS(needed.arrive(request).has_value() && compared.arrive(request).has_value());
                worse += std::ranges::max(compared.free_memory()) > std::ranges::max(needed.free_memory()) ? 1 : 0;
            }
        }
        add("C12", "Memory Fit: a new slice is never worse balanced than an old one", "never",
            format("worse after %d of %d arrivals", worse, arrivals), {worse == 0}, {},
            std::string(kPackingTests) + "MemoryFit.NewSliceIsNeverWorseThanAnOldOne");
    }

    void classifiers() {
        constexpr SliceEvidence kIo{.io = true}, kComputation{.computation = true};
        Memberships fuzzy;
        std::string sequence;
        bool equal = true;
        for (const double published : {0.9, 0.98, 0.996, 0.9992}) {
            fuzzy = update_fuzzy(fuzzy, kIo);
            sequence += format(sequence.empty() ? "%.4g" : ", %.4g", fuzzy.io);
            equal = equal && std::abs(fuzzy.io - published) < 1e-9;
        }
        for (int i = 0; i < 100; ++i) fuzzy = update_fuzzy(fuzzy, kComputation);
        add("C13", "Fuzzy classifier: I/O slices from a new task on; limit after slices of another kind",
            "0.9, 0.98, 0.996, 0.9992; 0.25", sequence + format("; %.6f", fuzzy.io),
            {equal, std::abs(fuzzy.io - .25) < 1e-9}, {},
            std::string(kUnitTests) + "classifier_test.cpp#FuzzyClassifier.ApproachesOneOrAQuarter");

        BayesianState state;
        int slices = 0;
        for (; state.f.communication > 0 && slices < 1000; ++slices) state = update_bayesian(state, kIo);
        int longest = 0;
        for (const int phase : {1, 2, 3, 5, 10, 50, 500}) {
            BayesianState floored;
            for (int i = 0; i < phase; ++i) floored = update_bayesian(floored, kIo, gang::kMembershipFloor);
            int needed = 0;
            while (floored.f.computation <= floored.f.io && needed < 200) {
                floored = update_bayesian(floored, kComputation, gang::kMembershipFloor);
                ++needed;
            }
            longest = std::max(longest, needed);
        }
        add("C14", "Bayesian classifier: equal slices until another membership vanishes", "45",
            format("%d; with our floor any phase is forgotten within %d slices", slices, longest),
            {slices == 45, longest <= 5}, {},
            std::string(kUnitTests) +
                "classifier_test.cpp#BayesianClassifierLiteral.MembershipsVanishAfter45EqualSlices");
    }

    void floor() {
        Duration filled{};
        std::int64_t left = 0;
        for (int seed = 1; seed <= effort().seeds; ++seed) {
            const GangWorkload workload = short_workload(static_cast<std::uint64_t>(seed));
            GangScheduling how = modified_gang();
            how.priority_floor = how.alpha + 1;
            const GangOutcome run = run_gang_machine(workload, how).value();
            filled += run.last.time.filled;
            left += std::ssize(workload.jobs) - run.last.completed;
        }
        add("C15", "Proposition 1: nothing is run below the floor; gangs keep their slices",
            "with a floor that no task reaches: nothing fills, all complete",
            format("filled for %.0f us; %lld jobs not completed", static_cast<double>(filled.count()),
                   static_cast<long long>(left)),
            {filled == Duration{0}, left == 0}, {}, std::string(kMachineTests) + "NothingFillsBelowTheFloor");
    }

    /// How many times as long a fine-grained barrier job takes under random local scheduling as under gang scheduling.
    double barrier_slowdown(int load, int tasks) {
        GangWorkload workload{.processors = tasks,
                              .bursts = {.between_barriers = microseconds{50}, .shape = BurstOptions::Shape::kConstant},
                              .jobs = {}};
        for (int job = 0; job < load; ++job)  // the others compute for ever
            workload.jobs.push_back({.id = JobId{job},
                                     .processors = tasks,
                                     .kind = job == 0 ? JobKind::kBarriers : JobKind::kCompute,
                                     .work = job == 0 ? Duration{milliseconds{400}} : std::chrono::hours{100},
                                     .seed = 1,
                                     .script = nullptr});
        const auto end_s = [&](GangScheduling how, std::uint64_t seed) {
            how.context_switch = Duration{0};
            how.wait = GangScheduling::Wait::kSpin;
            how.slice = milliseconds{10};
            how.network = {.latency_ns = 0, .overhead_ns = 0};
            how.seed = seed;
            return to_seconds(run_gang_machine(workload, how, {.horizon = Time{std::chrono::minutes{2}}})->jobs[0].end -
                              Time{});
        };
        double sum = 0;
        for (int seed = 1; seed <= effort().seeds; ++seed)
            sum += end_s(local_scheduling(), static_cast<std::uint64_t>(seed));
        return sum / effort().seeds / end_s(pure_gang(), 1);
    }

    void uncoordinated_barriers() {
        const double two = barrier_slowdown(2, 4), three = barrier_slowdown(3, 3);
        add("C22", "Uncoordinated barriers take l^(n-1) times as long: 2 jobs on 4 processors, 3 on 3", "8, 9",
            format("%.2f, %.2f", two, three), {std::abs(two - 8) <= 1.2, std::abs(three - 9) <= 1.35}, {},
            std::string(kMachineTests) + "UncoordinatedBarriersMeetOnceInManySlices", "within 15 %");
    }

    void local_blocking() {
        int column = 0, row = 0;
        const auto sets = static_cast<int>(effort().scaled(50, 10));
        for (int set = 0; set < sets; ++set) {
            Rng rng(static_cast<std::uint64_t>(set));
            const auto processors = static_cast<std::int32_t>(2 + rng.below(6));
            std::vector<std::int64_t> sum(static_cast<std::size_t>(processors), 0);
            std::int64_t row_by_row = 0;
            GangWorkload workload{.processors = processors, .bursts = {}, .jobs = {}};
            const auto rows = static_cast<std::int64_t>(1 + rng.below(5));
            for (std::int64_t i = 0; i < rows; ++i) {
                std::vector<std::vector<TaskStep>> tasks;
                std::int64_t longest = 0;
                for (std::int64_t& of : sum) {
                    const auto t = static_cast<std::int64_t>(1 + rng.below(100'000));
                    tasks.push_back({{TaskStep::Kind::kCompute, -1, Duration{t}}, {TaskStep::Kind::kBarrier, -1, {}}});
                    of += t;
                    longest = std::max(longest, t);
                }
                row_by_row += longest;
                workload.jobs.push_back({.id = JobId{i},
                                         .processors = processors,
                                         .script = std::make_shared<const std::vector<std::vector<TaskStep>>>(tasks)});
            }
            GangScheduling local = local_scheduling();
            local.turns = GangScheduling::Turns::kLocalInOrder;
            local.wait = GangScheduling::Wait::kBlock;
            local.context_switch = Duration{0};
            local.network = {.latency_ns = 0, .overhead_ns = 0};
            local.slice = microseconds{7'000};
            const std::int64_t took = (run_gang_machine(workload, local)->last.at - Time{}).count();
            column += took == std::ranges::max(sum) ? 1 : 0;
            row += took == row_by_row ? 1 : 0;
        }
        add("C23", "Equation 7.1: m tasks a processor that meet at a barrier, blocking local scheduling",
            "sum over i of max over j",
            format("max over j of the sum over i in %d of %d sets; the printed sum in %d", column, sets, row),
            {row == sets},
            {.name = "the most loaded processor",
             .statement = "the printed sum is what taking turns row by row costs; blocking wastes nothing, and takes "
                          "the time of the most loaded processor",
             .evaluate =
                 [&] {
                     return Evidence{format("%d of %d sets", column, sets), column == sets};
                 },
             .verdict = Verdict::kContested},
            std::string(kMachineTests) + "LocalBlockingMeetsAfterTheMostLoadedProcessor");
    }

    void families() {
        int uneven = 0;
        const auto sets = static_cast<int>(effort().scaled(500, 50));
        for (int set = 0; set < sets; ++set) {
            Rng rng(static_cast<std::uint64_t>(set));
            std::vector<std::int32_t> counts(1 + rng.below(20));
            for (std::int32_t& count : counts)
                count = static_cast<std::int32_t>(rng.below(4) == 0 ? rng.below(100) : rng.below(4));
            const std::int32_t total = std::accumulate(counts.begin(), counts.end(), 0);
            const auto width = static_cast<std::int32_t>(counts.size());
            for (const gang::TaskMove& move : gang::balance_family(counts)) {
                counts[static_cast<std::size_t>(move.from)] -= move.tasks;
                counts[static_cast<std::size_t>(move.to)] += move.tasks;
            }
            const auto [least, most] = std::ranges::minmax(counts);
            uneven += least < total / width || most > (total + width - 1) / width ? 1 : 0;
        }
        add("C24", "Families end with floor or ceiling of T/K tasks on each processor", "always",
            format("%d of %d random families do not", uneven, sets), {uneven == 0}, {},
            std::string(kUnitTests) + "family_test.cpp#BalanceFamilyProperty.EveryProcessorEndsWithFloorOrCeiling");
    }

    void waiting() {
        int as_published = 0;
        for (int bits = 0; bits < 8; ++bits) {
            const gang::SpinSituation situation{.io_task_here = (bits & 1) != 0,
                                                .io_task_ready = (bits & 2) != 0,
                                                .slice_after_baseline = microseconds{(bits & 4) != 0 ? 800 : 799}};
            const bool gives_way = spin_control(situation, microseconds{800}) == gang::WaitMode::kSpinThenBlock;
            as_published += gives_way == (bits == 7) ? 1 : 0;
        }
        const auto baseline_us = gang::baseline_spin({}).count();
        add("C25", "Baseline spin; spin control gives way where three conditions hold, 800 us left among them",
            "55 us; 8 of 8 combinations", format("%lld us; %d of 8", static_cast<long long>(baseline_us), as_published),
            {baseline_us == 55, as_published == 8}, {},
            std::string(kUnitTests) + "waiting_test.cpp#SpinControl.GivesWayOnlyWhereAnIoTaskCanUseTheTime");
    }

    void same_work() {
        int different = 0;
        for (int seed = 1; seed <= effort().seeds; ++seed) {
            const GangWorkload workload = short_workload(static_cast<std::uint64_t>(100 + seed));
            std::vector<std::uint64_t> first;
            for (const GangScheduling& how : {pure_gang(), concurrent_gang_round_robin(), concurrent_gang_priority(),
                                              modified_gang(), hierarchical_control(), local_scheduling()}) {
                std::vector<std::uint64_t> steps;
                const GangOutcome run = run_gang_machine(workload, how).value();
                for (const GangJobOutcome& job : run.jobs) steps.push_back(job.steps);
                if (first.empty()) first = steps;
                different += steps != first ? 1 : 0;
            }
        }
        add("C33", "The same jobs, arrivals and bursts under every scheduler", "the same",
            format("%d of %d runs took other steps than the first of their seed", different, 6 * effort().seeds),
            {different == 0}, {}, std::string(kMachineTests) + "EverySchedulerDoesTheSameWork");
    }
};

}  // namespace

Part dasilva_rules(const Effort& effort) {
    RuleFindings findings(effort);
    findings.shortest_period();
    findings.periodic_part();
    findings.divisible_sizes();
    findings.memory_fit();
    findings.classifiers();
    findings.floor();
    findings.lone_run();
    findings.uncoordinated_barriers();
    findings.local_blocking();
    findings.families();
    findings.waiting();
    findings.same_work();
    return findings.take();
}

}  // namespace zbs::claims
