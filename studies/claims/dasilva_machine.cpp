#include "studies/claims/dasilva_machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "algorithms/base/rng.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "studies/claims/dasilva_support.hpp"
#include "studies/models/gang_machine.hpp"

namespace zbs::claims {
namespace {

using dasilva::format;
using dasilva::jann_workload;
using std::chrono::milliseconds;
using Kinds = std::vector<JobKind>;
constexpr JobKind kIo = JobKind::kIo, kMsg = JobKind::kMessages, kBsp = JobKind::kBarriers, kEmb = JobKind::kCompute;

struct Cell {
    Samples completed, utilization, idle, allocated, gap;  ///< gap: utilization less A(1 - p/2), in points
    std::vector<Samples> completed_at, idle_at;            ///< at checkpoints
    Samples late_utilization;                              ///< in the last two fifths
};

/// What runs of the machine are held against.
struct Audit {
    std::int64_t runs = 0, not_conserved = 0, front_end = 0;
    std::int32_t most_tasks = 0;
    double least_slices_per_change = 1e300;
};

struct Experiment {
    std::int32_t processors;
    Kinds kinds;
    BurstOptions bursts;
    double horizon_s;
    std::vector<double> checkpoints_s;
};

constexpr std::int32_t kCap = 10;
/// Times the horizons of the thesis, so that the report takes minutes. Workloads that communicate every 5 ms have four
/// million events a simulated minute.
constexpr double kChapter6 = 0.4, kCommunicating = 0.03, kMixtures = 0.15, kHierarchical = 0.3, kAudited = 0.01;

struct MachineRun {
    GangOutcome out;
    std::int64_t changes = 0;  ///< arrivals and ends
};

MachineRun run_machine(const Experiment& what, GangScheduling how, std::uint64_t seed) {
    const auto jobs = static_cast<std::int64_t>(what.horizon_s / 100) + 100;  // one comes in 400 to 980 s
    const Workload source = jann_workload(what.processors, jobs, seed);
    const GangWorkload workload = make_gang_workload(source, what.kinds, what.bursts, seed * 77).value();
    how.packing.max_tasks_per_node = kCap;
    GangRun run{.horizon = Time{seconds_to_duration(what.horizon_s)}, .checkpoints = {}};
    for (const double at : what.checkpoints_s) run.checkpoints.push_back(Time{seconds_to_duration(at)});
    MachineRun done{run_gang_machine(workload, how, run).value()};
    done.changes = done.out.last.completed;
    for (const WorkloadJob& job : source.jobs) done.changes += job.job.submit < run.horizon ? 1 : 0;
    return done;
}

void enter(const Experiment& what, const MachineRun& run, Cell& cell) {
    const GangOutcome& out = run.out;
    const auto seconds = [](Duration d) { return to_seconds(d); };
    const double total = seconds(out.last.time.total());
    cell.completed.push_back(static_cast<double>(out.last.completed));
    const double utilization = seconds(out.last.time.busy()) / total;
    const double allocated = static_cast<double>(out.last.allocated_slots) / static_cast<double>(out.last.slots);
    const double io_share =
        static_cast<double>(std::ranges::count(what.kinds, kIo)) / static_cast<double>(what.kinds.size());
    cell.utilization.push_back(100 * utilization);
    cell.idle.push_back(seconds(out.last.time.idle()) / total * 100);
    cell.allocated.push_back(100 * allocated);
    cell.gap.push_back(100 * (utilization - allocated * (1 - io_share / 2)));
    cell.completed_at.resize(out.checkpoints.size());
    cell.idle_at.resize(out.checkpoints.size());
    for (std::size_t i = 0; i < out.checkpoints.size(); ++i) {
        const GangCheckpoint& point = out.checkpoints[i];
        cell.completed_at[i].push_back(static_cast<double>(point.completed));
        cell.idle_at[i].push_back(100 * seconds(point.time.idle()) / seconds(point.time.total()));
    }
    if (!out.checkpoints.empty()) {
        const ProcessorTime &all = out.last.time, &before = out.checkpoints.back().time;
        cell.late_utilization.push_back(100 * seconds(all.busy() - before.busy()) /
                                        seconds(all.total() - before.total()));
    }
}

void check(const Experiment& what, const MachineRun& run, Audit& audit) {
    const GangOutcome& out = run.out;
    ++audit.runs;
    const Duration length = seconds_to_duration(what.horizon_s);
    bool conserved = out.last.time.total() == length * what.processors;
    for (const ProcessorTime& time : out.processors) conserved = conserved && time.total() == length;
    audit.not_conserved += conserved ? 0 : 1;
    audit.most_tasks = std::max(audit.most_tasks, out.most_tasks_on_processor);
    audit.front_end += out.front_end_activations == run.changes ? 0 : 1;
    if (run.changes > 0)
        audit.least_slices_per_change =
            std::min(audit.least_slices_per_change, static_cast<double>(out.slices) / static_cast<double>(run.changes));
}

class MachineFindings : public dasilva::Findings {
  public:
    using Findings::Findings;

    Cell run(const Experiment& what, const GangScheduling& how) {
        Cell cell;
        for (int seed = 1; seed <= effort().seeds; ++seed)
            enter(what, run_machine(what, how, static_cast<std::uint64_t>(seed)), cell);
        return cell;
    }
    /// `seconds` of the thesis times `share`; the claims that follow state the share.
    double shortened(double seconds, double share) {
        note(format("horizon %.3g times the thesis's, stream of jobs ours: the thesis's has no public parameters",
                    share * effort().length));
        return seconds * share * effort().length;
    }

    struct Load {
        const char *id, *name;
        JobKind kind;
    };
    void chapter6(const char* table, double share, std::initializer_list<Load> loads) {
        const double longest_s = shortened(40'000, share);
        std::string csv =
            "# source: DaSilva2000, figures 6.4 to 6.12 (curves lost); 16 processors\n"
            "# unit: jobs completed; per cent of processor time idle\n"
            "workload,horizon_s,scheduler,completed,completed_sd,idle_percent,idle_sd\n";
        for (const Load& load : loads) {
            Experiment what{.processors = 16,
                            .kinds = {load.kind},
                            .bursts = {.io = milliseconds{50},
                                       .compute_between_io = milliseconds{50},
                                       .between_messages = milliseconds{5},
                                       .between_barriers = milliseconds{5}},
                            .horizon_s = longest_s,
                            .checkpoints_s = {}};
            for (const double part : {.25, .5, .75}) what.checkpoints_s.push_back(part * longest_s);
            GangScheduling literal = concurrent_gang_round_robin();
            literal.resume_in_slice = false;
            const std::array names{"Gang", "CG-RR", "CG-prio", "CG-RR, not resumed"};
            std::array<Cell, 4> cells{run(what, pure_gang()), run(what, concurrent_gang_round_robin()),
                                      run(what, concurrent_gang_priority()), run(what, literal)};
            for (Cell& cell : cells) {
                cell.completed_at.push_back(cell.completed);
                cell.idle_at.push_back(cell.idle);
            }
            what.checkpoints_s.push_back(what.horizon_s);
            for (std::size_t i = 0; i < what.checkpoints_s.size(); ++i)
                for (std::size_t s = 0; s < cells.size(); ++s)
                    csv += format("%s,%.0f,\"%s\",%.1f,%.1f,%.2f,%.2f\n", load.name, what.checkpoints_s[i], names[s],
                                  mean(cells[s].completed_at[i]), deviation(cells[s].completed_at[i]),
                                  mean(cells[s].idle_at[i]), deviation(cells[s].idle_at[i]));
            const auto& [gang, rr, prio, lost] = cells;
            const std::string ours = "jobs Gang " + text_of(gang.completed, 1) + ", CG-RR " + text_of(rr.completed, 1) +
                                     ", CG-prio " + text_of(prio.completed, 1) + ", CG-RR without resuming " +
                                     text_of(lost.completed, 1) + "; idle " + text_of(gang.idle, 1) + ", " +
                                     text_of(rr.idle, 1) + ", " + text_of(prio.idle, 1) + ", " + text_of(lost.idle, 1) +
                                     " %";
            bool always = true;
            for (std::size_t i = 0; i < what.checkpoints_s.size(); ++i)
                always = always && at_least(prio.completed_at[i], rr.completed_at[i]) &&
                         clearly_more(rr.completed_at[i], gang.completed_at[i]);
            const std::string name = load.id;
            if (name == "C16")
                add(name, "I/O workload of chapter 6", "jobs CG-prio > CG-RR > Gang, idle reversed, at all horizons",
                    ours, {always, at_least(rr.idle, prio.idle), clearly_more(gang.idle, rr.idle)});
            else if (name == "C17")
                add(name, "Computing workload of chapter 6", "jobs equal within noise, idle CG <= Gang", ours,
                    {mean(prio.completed) < 1.05 * mean(gang.completed), at_least(gang.idle, prio.idle)});
            else
                add(name, std::string(load.name) + " workload of chapter 6",
                    name == "C18" ? "jobs CG-prio > Gang > CG-RR" : "the same, by less", ours,
                    {at_least(prio.completed, gang.completed), at_least(prio.completed, rr.completed),
                     at_least(gang.completed, rr.completed), at_least(gang.idle, prio.idle)},
                    {}, {},
                    format("under Gang %.1f jobs end within the horizon; the source does not state what a task that "
                           "becomes ready in its slot does",
                           mean(gang.completed)));
        }
        add_table(table, csv);
    }

    void theorem7() {
        struct Count {
            int longer = 0, blocked = 0, space = 0, cases = 0;
            double worst = 0;
        };
        const auto compare = [&](const Kinds& kinds, bool against_local) {
            Count count;
            for (int seed = 1; seed <= 4 * effort().seeds; ++seed) {
                const UniformWorkload uniform{
                    .common = {.jobs = 12, .processors = 8, .seed = static_cast<std::uint64_t>(seed)},
                    .least_runtime_s = 2,
                    .most_runtime_s = 30};
                GangWorkload workload =
                    make_gang_workload(generate(uniform).value(), kinds, {}, static_cast<std::uint64_t>(seed)).value();
                for (GangJob& job : workload.jobs) job.arrival = Time{};
                GangScheduling cg = concurrent_gang_priority(),
                               other = against_local ? local_scheduling() : pure_gang();
                cg.context_switch = other.context_switch = Duration{0};
                other.seed = static_cast<std::uint64_t>(seed);
                const GangOutcome a = run_gang_machine(workload, cg).value();
                const GangOutcome b = run_gang_machine(workload, other).value();
                ++count.cases;
                count.longer += a.last.at > b.last.at ? 1 : 0;
                count.worst = std::max(count.worst, to_seconds(a.last.at - Time{}) / to_seconds(b.last.at - Time{}));
                count.blocked += a.last.time.blocked_idle > b.last.time.blocked_idle ? 1 : 0;
                count.space += a.last.time.space_idle > b.last.time.space_idle ? 1 : 0;
            }
            return count;
        };
        const Count apart = compare({kIo, kEmb}, false), local = compare({kIo, kEmb}, true);
        const Count together = compare({kMsg, kBsp, kEmb}, false), mixed = compare({kIo, kMsg, kBsp}, true);
        const auto text = [](const char* name, const Count& c) {
            return format("%s: longer in %d of %d (worst %.3f times), more space-idle in %d, more blocked-idle in %d",
                          name, c.longer, c.cases, c.worst, c.space, c.blocked);
        };
        add("C21", "Theorem 7: Concurrent Gang's schedule is no longer than Gang's or an oblivious local scheduler's",
            "never longer, neither idle part larger",
            text("I/O and computing, against Gang", apart) + "; " + text("against local", local) + "; " +
                text("messages, barriers and computing, against Gang", together) + "; " +
                text("I/O, messages and barriers, against local", mixed),
            {apart.longer == 0, local.longer == 0, together.longer == 0, mixed.longer == 0,
             apart.space + local.space + together.space + mixed.space == 0,
             apart.blocked + local.blocked + together.blocked + mixed.blocked == 0},
            {}, {}, "the proof looks at one processor and one moment, not at a whole run");
    }

    void chapter8() {
        const double horizon_s = shortened(50'000, kMixtures);
        struct Mix {
            const char* name;
            Kinds kinds;
            std::array<std::array<double, 4>, 2> published;  ///< by size: jobs and utilization, with and without
        };
        const std::vector<Mix> mixes{{"IO", {kIo}, {{{60, 40, 84, 42}, {55, 36, 84, 43}}}},
                                     {"IO/Msg", {kIo, kMsg}, {{{50, 43, 82, 63}, {53, 40, 79, 62}}}},
                                     {"IO/Msg/Emb", {kIo, kMsg, kEmb}, {{{47, 40, 83, 72}, {61, 51, 81, 70}}}},
                                     {"IO/BSP", {kIo, kBsp}, {}},
                                     {"IO/BSP/Emb", {kIo, kBsp, kEmb}, {}},
                                     {"Emb/Msg", {kEmb, kMsg}, {}},
                                     {"Emb/BSP", {kEmb, kBsp}, {}}};
        struct Pair {
            Cell with, without, resumed, no_control;
        };
        std::map<std::string, std::array<Pair, 2>> cells;
        GangScheduling resumed = pure_gang(), no_control = modified_gang();
        resumed.resume_in_slice = true;
        no_control.wait = GangScheduling::Wait::kSpin;
        const std::array<std::int32_t, 2> sizes{8, 16};
        std::string rest =
            "# source: DaSilva2000, figures 8.6 to 8.13 (curves lost) and tables 8.1 to 8.6; quotients per seed, mean "
            "and sd\n"
            "# unit: 1; modified gang over pure gang, and modified gang over itself without spin control\n"
            "workload,processors,jobs_ratio,jobs_sd,utilization_ratio,utilization_sd,spin_jobs_ratio,spin_jobs_sd,"
            "spin_utilization_ratio,spin_utilization_sd\n";
        int number = 1;
        for (const Mix& mix : mixes) {
            for (std::size_t s = 0; s < sizes.size(); ++s) {
                const Experiment what{.processors = sizes[s],
                                      .kinds = mix.kinds,
                                      .bursts = {},
                                      .horizon_s = horizon_s,
                                      .checkpoints_s = {}};
                const bool io = std::ranges::count(mix.kinds, kIo) > 0;
                Pair& pair = cells[mix.name][s];
                // Spin control only where there are I/O jobs [DaSilva2000, section 8.5].
                pair.with = run(what, io ? modified_gang() : no_control);
                pair.without = run(what, pure_gang());
                const bool table = mix.published[0][0] > 0;
                if (table) pair.resumed = run(what, resumed);
                const bool ablation = std::string(mix.name) == "IO/Msg" || std::string(mix.name) == "IO/BSP";
                if (ablation) pair.no_control = run(what, no_control);
                const Samples jobs = ratio(pair.with.completed, pair.without.completed);
                const Samples utilization = ratio(pair.with.utilization, pair.without.utilization);
                rest += format("%s,%d,%.3f,%.3f,%.3f,%.3f", mix.name, sizes[s], mean(jobs), deviation(jobs),
                               mean(utilization), deviation(utilization));
                if (ablation) {
                    const Samples a = ratio(pair.with.completed, pair.no_control.completed);
                    const Samples b = ratio(pair.with.utilization, pair.no_control.utilization);
                    rest += format(",%.3f,%.3f,%.3f,%.3f", mean(a), deviation(a), mean(b), deviation(b));
                } else {
                    rest += ",,,,";
                }
                rest += "\n";
                if (table) {
                    const auto& p = mix.published[s];
                    std::string csv =
                        format("# source: DaSilva2000, Table 8.%d (workload %s, %d processors, 50,000 s)\n", number,
                               mix.name, sizes[s]) +
                        format(
                            "# unit: jobs completed; per cent of processor time busy, spinning included; ours: mean "
                            "and "
                            "standard deviation over %d seeds\n",
                            effort().seeds) +
                        "# tolerance: none; the thesis's job stream is not public, see README.md\n"
                        "# pure_resumed: the same gang scheduler, but a task whose I/O ends in its slot goes on at "
                        "once\n"
                        "figure,published,ours,ours_sd\n";
                    const auto row = [&](const char* figure, const std::string& published, const Samples& ours) {
                        csv +=
                            std::string(figure) + "," + published + format(",%.2f,%.2f\n", mean(ours), deviation(ours));
                    };
                    row("jobs_with_runtime_information", format("%.0f", p[0]), pair.with.completed);
                    row("jobs_without", format("%.0f", p[1]), pair.without.completed);
                    row("jobs_pure_resumed", "", pair.resumed.completed);
                    row("utilization_with_runtime_information", format("%.0f", p[2]), pair.with.utilization);
                    row("utilization_without", format("%.0f", p[3]), pair.without.utilization);
                    row("utilization_pure_resumed", "", pair.resumed.utilization);
                    row("jobs_ratio", format("%.3f", p[0] / p[1]), jobs);
                    row("utilization_ratio", format("%.3f", p[2] / p[3]), utilization);
                    row("jobs_ratio_to_pure_resumed", "", ratio(pair.with.completed, pair.resumed.completed));
                    row("utilization_ratio_to_pure_resumed", "",
                        ratio(pair.with.utilization, pair.resumed.utilization));
                    add_table(format("table_8_%d", number++), csv);
                }
            }
        }
        add_table("figure_8_ratios", rest);

        const auto jobs = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.completed, cells.at(mix)[s].without.completed);
        };
        const auto utilization = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.utilization, cells.at(mix)[s].without.utilization);
        };
        const auto both = [&](const char* mix, const auto& of, int decimals = 2) {
            return text_of(of(mix, 0), decimals) + " / " + text_of(of(mix, 1), decimals);
        };
        const auto resumed_ratio = [&](std::size_t s) {
            return ratio(cells.at("IO")[s].with.utilization, cells.at("IO")[s].resumed.utilization);
        };
        const Cell &gang8 = cells.at("IO")[0].without, &gang16 = cells.at("IO")[1].without;
        const auto near = [](double x, double target, double by) { return std::abs(x - target) <= by; };
        add("C26", "I/O workload of chapter 8 (8 / 16 processors)",
            "utilization ratio 2.00 / 1.95, at most 2; jobs ratio 1.50 / 1.53; gang's utilization about A/2",
            "utilization ratio " + both("IO", utilization) + " (against the resumed gang " + text_of(resumed_ratio(0)) +
                " / " + text_of(resumed_ratio(1)) + "), jobs ratio " + both("IO", jobs) + "; gang's utilization " +
                text_of(gang8.utilization, 1) + " / " + text_of(gang16.utilization, 1) + " % with A " +
                text_of(gang8.allocated, 1) + " / " + text_of(gang16.allocated, 1) + " %",
            {near(mean(utilization("IO", 0)), 2, 0.2) && near(mean(utilization("IO", 1)), 1.95, 0.2),
             mean(utilization("IO", 0)) <= 2 && mean(utilization("IO", 1)) <= 2,
             near(mean(jobs("IO", 0)), 1.5, 0.2) && near(mean(jobs("IO", 1)), 1.53, 0.2),
             near(mean(gang8.utilization), mean(gang8.allocated) / 2, 4) &&
                 near(mean(gang16.utilization), mean(gang16.allocated) / 2, 4)},
            {.name = "printed ratios between the readings of a slot after I/O",
             .statement = "the source does not state whether a task whose I/O ends in its slot goes on at once: the "
                          "printed ratios lie between the two readings",
             .evaluate = [&] {
                 const double most8 = mean(utilization("IO", 0)), most16 = mean(utilization("IO", 1));
                 const double least8 = mean(resumed_ratio(0)), least16 = mean(resumed_ratio(1));
                 return Evidence{format("2.00 in %.2f to %.2f, 1.95 in %.2f to %.2f", least8, most8, least16, most16),
                                 least8 <= 2 && 2 <= most8 && least16 <= 1.95 && 1.95 <= most16};
             }});
        const auto falls = [&](std::size_t s) {
            return mean(utilization("IO", s)) > mean(utilization("IO/Msg", s)) &&
                   mean(utilization("IO/Msg", s)) > mean(utilization("IO/Msg/Emb", s));
        };
        double least_jobs = 1e300, least_with = 1e300, most_with = 0;
        std::string with_text;
        for (const char* mix : {"IO", "IO/Msg", "IO/Msg/Emb"})
            for (std::size_t s = 0; s < 2; ++s) {
                least_jobs = std::min(least_jobs, mean(jobs(mix, s)));
                least_with = std::min(least_with, mean(cells.at(mix)[s].with.utilization));
                most_with = std::max(most_with, mean(cells.at(mix)[s].with.utilization));
            }
        add("C27", "Mixtures: the gain falls from IO over IO/Msg to IO/Msg/Emb",
            "utilization ratios 2.0, 1.3, 1.15; with runtime information 79 to 84 % everywhere; jobs ratios all > 1.15",
            "utilization ratios " + both("IO", utilization) + ", " + both("IO/Msg", utilization) + ", " +
                both("IO/Msg/Emb", utilization) +
                format("; with runtime information %.1f to %.1f %%; least jobs ratio %.2f", least_with, most_with,
                       least_jobs),
            {falls(0), falls(1), most_with - least_with <= 6, least_jobs > 1.15});
        const auto close = [&](const char* a, const char* b, std::size_t s) {
            return near(mean(utilization(a, s)), mean(utilization(b, s)), 0.1 * mean(utilization(b, s))) &&
                   near(mean(jobs(a, s)), mean(jobs(b, s)), 0.1 * mean(jobs(b, s)));
        };
        add("C28", "IO/BSP and IO/BSP/Emb come out like IO/Msg and IO/Msg/Emb",
            "similar in relative and absolute values",
            "IO/BSP: utilization " + both("IO/BSP", utilization) + ", jobs " + both("IO/BSP", jobs) +
                "; IO/Msg: " + both("IO/Msg", utilization) + ", " + both("IO/Msg", jobs) +
                "; IO/BSP/Emb: " + both("IO/BSP/Emb", utilization) + ", " + both("IO/BSP/Emb", jobs) +
                "; IO/Msg/Emb: " + both("IO/Msg/Emb", utilization) + ", " + both("IO/Msg/Emb", jobs),
            {close("IO/BSP", "IO/Msg", 0) && close("IO/BSP", "IO/Msg", 1),
             close("IO/BSP/Emb", "IO/Msg/Emb", 0) && close("IO/BSP/Emb", "IO/Msg/Emb", 1)},
            {}, {}, "similar taken for within 10 %");
        const auto spin_jobs = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.completed, cells.at(mix)[s].no_control.completed);
        };
        const auto spin_utilization = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.utilization, cells.at(mix)[s].no_control.utilization);
        };
        bool more_jobs = true, less_utilization = true;
        for (const char* mix : {"IO/BSP", "IO/Msg"})
            for (std::size_t s = 0; s < 2; ++s) {
                more_jobs = more_jobs && mean(spin_jobs(mix, s)) > 1;
                const double u = mean(spin_utilization(mix, s));
                less_utilization = less_utilization && u < 1 && u > 0.9;
            }
        add("C29", "Spin control against priority alone, IO/BSP and IO/Msg",
            "jobs ratio > 1, utilization ratio slightly < 1",
            "IO/BSP: jobs " + both("IO/BSP", spin_jobs, 3) + ", utilization " + both("IO/BSP", spin_utilization, 3) +
                "; IO/Msg: jobs " + both("IO/Msg", spin_jobs, 3) + ", utilization " +
                both("IO/Msg", spin_utilization, 3),
            {more_jobs, less_utilization}, {}, {},
            "supersteps are equally long for all tasks of a job, as in section 6.4, so little is spun at barriers");
        bool small = true, ordered = true;
        for (const char* mix : {"Emb/Msg", "Emb/BSP"})
            for (std::size_t s = 0; s < 2; ++s) {
                small = small && mean(jobs(mix, s)) >= 1 && mean(utilization(mix, s)) >= 1 &&
                        mean(jobs(mix, s)) < 1.25 && mean(utilization(mix, s)) < 1.25;
                ordered = ordered && mean(utilization(mix, s)) >= mean(jobs(mix, s));
            }
        add("C30", "Emb/Msg and Emb/BSP", "gains small, in utilization more than in jobs",
            "Emb/Msg: jobs " + both("Emb/Msg", jobs) + ", utilization " + both("Emb/Msg", utilization) +
                "; Emb/BSP: jobs " + both("Emb/BSP", jobs) + ", utilization " + both("Emb/BSP", utilization),
            {small, ordered}, {}, {}, "small taken for less than a quarter");
        std::string gaps;
        std::vector<bool> within, between;
        for (const char* mix : {"IO", "IO/Msg", "IO/Msg/Emb"})
            for (std::size_t s = 0; s < 2; ++s) {
                const Cell &literal = cells.at(mix)[s].without, &went_on = cells.at(mix)[s].resumed;
                gaps += std::string(gaps.empty() ? "" : "; ") + mix + format(" %d: ", sizes[s]) +
                        text_of(literal.gap, 1) + " (resumed " + text_of(went_on.gap, 1) + ")";
                within.push_back(std::abs(mean(literal.gap)) <= 2);
                between.push_back(mean(literal.gap) <= 0 && mean(went_on.gap) >= 0);
            }
        add("C34", "Gang's utilization is A (1 - p/2), p the share of I/O jobs",
            "within 2 points of all six table rows", "measured less model, in points: " + gaps, Conditions(within),
            {.name = "model between the readings of a slot after I/O",
             .statement = "the source does not state whether a task whose I/O ends in its slot goes on at once: the "
                          "model lies between the two readings",
             .evaluate = [&] {
                 const auto rows = std::ranges::count(between, true);
                 return Evidence{format("%d of %d rows", static_cast<int>(rows), static_cast<int>(between.size())),
                                 rows == std::ssize(between)};
             }});
    }

    void hierarchical() {
        const double horizon_s = shortened(50'000, kHierarchical);
        const auto experiment = [&](const Kinds& kinds) {
            return Experiment{.processors = 16,
                              .kinds = kinds,
                              .bursts = {},
                              .horizon_s = horizon_s,
                              .checkpoints_s = {.6 * horizon_s}};
        };
        GangScheduling plain = hierarchical_control();
        const Cell emb = run(experiment({kEmb}), plain);
        const Cell emb_runtime = run(experiment({kEmb}), hierarchical_control_runtime());
        const Cell io = run(experiment({kIo}), plain);
        const Cell io_runtime = run(experiment({kIo}), hierarchical_control_runtime());
        add("C31", "DHC with alternative scheduling, 16 processors",
            "Emb: above 90 % after 30,000 s, with runtime information slightly more; I/O: clearly more",
            "after 30,000 s: Emb " + text_of(emb.late_utilization, 1) + " %, with runtime information " +
                text_of(emb_runtime.late_utilization, 1) + " %; I/O " + text_of(io.late_utilization, 1) + " %, " +
                text_of(io_runtime.late_utilization, 1) + " %",
            {mean(emb.late_utilization) > 90, at_least(emb_runtime.late_utilization, emb.late_utilization),
             clearly_more(io_runtime.late_utilization, io.late_utilization)},
            {}, {}, "the stream, which is ours, leaves processors without jobs at times");
    }

    void audit() {
        Audit audit;
        const double horizon_s = 50'000 * kAudited * effort().length;
        for (const Kinds& kinds : {Kinds{kIo, kMsg, kEmb}, Kinds{kIo, kBsp}})
            for (const GangScheduling& how :
                 {pure_gang(), modified_gang(), concurrent_gang_round_robin(), concurrent_gang_priority(),
                  local_scheduling(), hierarchical_control(), hierarchical_control_runtime()})
                for (int seed = 1; seed <= effort().seeds; ++seed) {
                    const Experiment what{
                        .processors = 16, .kinds = kinds, .bursts = {}, .horizon_s = horizon_s, .checkpoints_s = {}};
                    check(what, run_machine(what, how, static_cast<std::uint64_t>(seed)), audit);
                }
        constexpr const char* kSameWork =
            "tests/property/gang/gang_machine_property_test.cpp#GangMachineProperty.EverySchedulerDoesTheSameWork";
        add("C1", "Area conservation: processors x time = busy + space-idle + blocked-idle + switching", "exact",
            format("%lld runs under seven schedulers, %lld not exact to the microsecond",
                   static_cast<long long>(audit.runs), static_cast<long long>(audit.not_conserved)),
            {audit.not_conserved == 0}, {}, kSameWork);
        add("C35", "Admission: at most 10 tasks on a processor", "10",
            format("most seen in these runs: %d", audit.most_tasks), {audit.most_tasks <= kCap});
        add("C36", "The front end acts at workload changes only", "independent of the number of slices",
            format("activations = arrivals + ends in all but %lld of %lld runs, with at least %.0f slices a change",
                   static_cast<long long>(audit.front_end), static_cast<long long>(audit.runs),
                   audit.least_slices_per_change),
            {audit.front_end == 0});
    }
};

}  // namespace

Part dasilva_io_and_computing(const Effort& effort) {
    MachineFindings findings(effort);
    findings.chapter6("figure_6_io_and_computing", kChapter6, {{"C16", "I/O", kIo}, {"C17", "computing", kEmb}});
    return findings.take();
}
Part dasilva_communicating(const Effort& effort) {
    MachineFindings findings(effort);
    findings.chapter6("figure_6_communicating", kCommunicating,
                      {{"C18", "synchronizing", kBsp}, {"C19", "communicating", kMsg}});
    return findings.take();
}
Part dasilva_theorem7(const Effort& effort) {
    MachineFindings findings(effort);
    findings.theorem7();
    return findings.take();
}
Part dasilva_mixtures(const Effort& effort) {
    MachineFindings findings(effort);
    findings.chapter8();
    return findings.take();
}
Part dasilva_hierarchical_control(const Effort& effort) {
    MachineFindings findings(effort);
    findings.hierarchical();
    return findings.take();
}
Part dasilva_audit(const Effort& effort) {
    MachineFindings findings(effort);
    findings.audit();
    return findings.take();
}

}  // namespace zbs::claims
