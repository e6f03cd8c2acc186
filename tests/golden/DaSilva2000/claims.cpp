#include "tests/golden/DaSilva2000/claims.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <queue>
#include <thread>

#include "algorithms/base/rng.hpp"
#include "algorithms/gang/fluid_makespan.hpp"
#include "algorithms/sim/gang_machine.hpp"
#include "algorithms/sim/workload_generators.hpp"

namespace zbs::claims {
namespace {

using gang::GangPacking;
using std::chrono::milliseconds;
using Kinds = std::vector<JobKind>;
constexpr JobKind kIo = JobKind::kIo, kMsg = JobKind::kMessages, kBsp = JobKind::kBarriers, kEmb = JobKind::kCompute;

template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::array<char, 512> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

/// One figure over the seeds.
struct Sample {
    std::vector<double> values;

    void add(double value) { values.push_back(value); }
    double mean() const {
        if (values.empty()) return 0;
        return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }
    double deviation() const {
        double sum = 0;
        for (const double value : values) sum += (value - mean()) * (value - mean());
        return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
    }
    double least() const { return std::ranges::min(values); }
    double most() const { return std::ranges::max(values); }
    std::string text(const char* pattern = "%.2f") const {
        if (values.empty()) return "none";
        return format(pattern, mean()) + " ± " + format(pattern, deviation());
    }
};
/// Seed by seed, of those where there is one.
Sample ratio(const Sample& a, const Sample& b) {
    Sample result;
    for (std::size_t i = 0; i < a.values.size(); ++i)
        if (b.values[i] != 0) result.add(a.values[i] / b.values[i]);
    return result;
}
Sample difference(const Sample& a, const Sample& b) {
    Sample result;
    for (std::size_t i = 0; i < a.values.size(); ++i) result.add(a.values[i] - b.values[i]);
    return result;
}
/// Whether the means say a >= b, by no more than what the seeds scatter (a tie counts).
bool at_least(const Sample& a, const Sample& b) {
    const Sample d = difference(a, b);
    return d.mean() >= -d.deviation() / std::sqrt(static_cast<double>(d.values.size()));
}
bool clearly_more(const Sample& a, const Sample& b) {
    const Sample d = difference(a, b);
    return d.mean() > 2 * d.deviation() / std::sqrt(static_cast<double>(d.values.size()));
}
std::string verdict(std::initializer_list<bool> parts) {
    const auto held = std::ranges::count(parts, true);
    return held == std::ssize(parts) ? "holds" : held > 0 ? "partly" : "not";
}

const std::vector<SizeClass>& size_classes() {
    static const std::vector<SizeClass> classes =
        parse_size_classes(example_size_classes(), "example size classes").value();
    return classes;
}
Workload jann_workload(std::int32_t processors, std::int64_t jobs, std::uint64_t seed, double gap_factor = 1) {
    return generate(HyperErlangWorkload{.common = {.jobs = jobs, .processors = processors, .seed = seed},
                                        .classes = size_classes(),
                                        .gap_factor = gap_factor})
        .value();
}

// -- Packing ---------------------------------------------------------------------------------------------------------

struct PackingRun {
    double dynamic_ratio = 0;          ///< CR_d over all arrivals
    std::vector<double> ratio_so_far;  ///< at 20 checkpoints, equally far apart
    double idling = 0;                 ///< mean over arrivals, copies counted as busy
    double slices = 0;                 ///< mean over arrivals
};

/// How long a job stays: its run time, as if on a machine of its own, or until it has had that many seconds of slices,
/// one a period, or for ever. The thesis does not say.
enum class Residence { kRunTime, kSlices, kForEver };

PackingRun pack(const Workload& workload, const gang::PackingOptions& options, Residence residence) {
    GangPacking packing(options);
    using End = std::pair<double, JobId>;  ///< of service
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    PackingRun run;
    double sum = 0, idling = 0, slices = 0, now = 0, service = 0;
    std::int64_t tasks = 0;
    std::map<JobId, std::int32_t> size_of;
    const std::size_t checkpoint = std::max<std::size_t>(1, workload.jobs.size() / 20);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const WorkloadJob& job = workload.jobs[i];
        const double arrival = to_seconds(job.job.submit - Time{});
        for (;;) {
            const double period = residence == Residence::kSlices ? std::max(1, packing.diagram().row_count()) : 1;
            if (ends.empty() || now + (ends.top().first - service) * period > arrival) {
                service += (arrival - now) / period;
                now = arrival;
                break;
            }
            now += (ends.top().first - service) * period;
            service = ends.top().first;
            const JobId id = ends.top().second;
            ends.pop();
            packing.leave(id);
            tasks -= size_of.at(id);
            size_of.erase(id);
        }
        ZBS_EXPECTS(packing.arrive({job.job.id, job.job.processors, 0}).has_value());
        size_of[job.job.id] = job.job.processors;
        tasks += job.job.processors;
        if (residence != Residence::kForEver) ends.emplace(service + to_seconds(job.runtime), job.job.id);
        const double rows = packing.diagram().row_count();
        sum += rows / static_cast<double>(gang::fewest_slices(tasks, options.processors));
        idling += packing.diagram().idling_ratio();
        slices += rows;
        if ((i + 1) % checkpoint == 0) run.ratio_so_far.push_back(sum / static_cast<double>(i + 1));
    }
    const auto count = static_cast<double>(workload.jobs.size());
    run.dynamic_ratio = sum / count;
    run.idling = idling / count;
    run.slices = slices / count;
    return run;
}

struct MemoryRun {
    std::vector<double> utilization;  ///< mean memory in use since 0, at the horizons
    std::vector<double> completed;
};

/// Jobs advance by one slice a period: their service is time / slices of the diagram.
MemoryRun pack_memory(const Workload& workload, const gang::PackingOptions& options, const std::vector<double>& until) {
    GangPacking packing(options);
    MemoryRun run;
    std::map<JobId, std::int64_t> runtime_us;
    struct Present {
        double service_at_end;
        JobId id;
        bool operator>(const Present& other) const {
            return std::pair(service_at_end, id) > std::pair(other.service_at_end, other.id);
        }
    };
    std::priority_queue<Present, std::vector<Present>, std::greater<>> present;
    double now = 0, service = 0, memory_time = 0;
    const double capacity = static_cast<double>(options.memory_per_node) * options.processors;
    std::int64_t completed = 0;
    const auto in_use = [&] {
        return capacity - static_cast<double>(std::accumulate(packing.free_memory().begin(),
                                                              packing.free_memory().end(), std::int64_t{0}));
    };
    const auto take_in = [&](const gang::WorkloadChange& change) {
        for (const JobId id : change.placed)
            present.push({service + static_cast<double>(runtime_us.at(id)) * 1e-6, id});
    };
    std::size_t next = 0;
    for (const double horizon : until) {
        for (;;) {
            const double rows = std::max(1, packing.diagram().row_count());
            const double arrival = next < workload.jobs.size() ? to_seconds(workload.jobs[next].job.submit - Time{})
                                                               : std::numeric_limits<double>::max();
            const double end = present.empty() ? std::numeric_limits<double>::max()
                                               : now + (present.top().service_at_end - service) * rows;
            const double then = std::min({arrival, end, horizon});
            memory_time += (then - now) * in_use();
            if (!present.empty()) service += (then - now) / rows;
            now = then;
            if (then == horizon) break;
            if (end <= arrival) {
                service = present.top().service_at_end;
                const JobId id = present.top().id;
                present.pop();
                ++completed;
                take_in(packing.leave(id));
            } else {
                const WorkloadJob& job = workload.jobs[next++];
                runtime_us[job.job.id] = job.runtime.count();
                take_in(packing.arrive({job.job.id, job.job.processors, job.job.memory_bytes}).value());
            }
        }
        run.utilization.push_back(memory_time / (capacity * now));
        run.completed.push_back(static_cast<double>(completed));
    }
    return run;
}

// -- Machine ---------------------------------------------------------------------------------------------------------

struct Cell {
    Sample completed, utilization, idle, allocated, gap;  ///< gap: utilization less A(1 - p/2), in points
    std::vector<Sample> completed_at, idle_at;            ///< at checkpoints
    Sample late_utilization;                              ///< in the last two fifths
};

/// What every run of the machine in this report is held against.
struct Audit {
    std::int64_t runs = 0, not_conserved = 0, over_cap = 0, front_end = 0, events = 0;
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

void enter(const Experiment& what, const MachineRun& run, Cell& cell, Audit& audit) {
    const GangOutcome& out = run.out;
    const auto seconds = [](Duration d) { return to_seconds(d); };
    const double total = seconds(out.last.time.total());
    cell.completed.add(static_cast<double>(out.last.completed));
    const double utilization = seconds(out.last.time.busy()) / total;
    const double allocated = static_cast<double>(out.last.allocated_slots) / static_cast<double>(out.last.slots);
    const double io_share =
        static_cast<double>(std::ranges::count(what.kinds, kIo)) / static_cast<double>(what.kinds.size());
    cell.utilization.add(100 * utilization);
    cell.idle.add(seconds(out.last.time.idle()) / total * 100);
    cell.allocated.add(100 * allocated);
    cell.gap.add(100 * (utilization - allocated * (1 - io_share / 2)));
    cell.completed_at.resize(out.checkpoints.size());
    cell.idle_at.resize(out.checkpoints.size());
    for (std::size_t i = 0; i < out.checkpoints.size(); ++i) {
        const GangCheckpoint& point = out.checkpoints[i];
        cell.completed_at[i].add(static_cast<double>(point.completed));
        cell.idle_at[i].add(100 * seconds(point.time.idle()) / seconds(point.time.total()));
    }
    if (!out.checkpoints.empty()) {
        const ProcessorTime &all = out.last.time, &before = out.checkpoints.back().time;
        cell.late_utilization.add(100 * seconds(all.busy() - before.busy()) / seconds(all.total() - before.total()));
    }
    ++audit.runs;
    audit.events += out.events;
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

/// What seeds 1 .. `count` give, in that order; on two threads, for no seed depends on another.
template <class Run>
auto over_seeds(int count, Run run) {
    std::vector<decltype(run(std::uint64_t{}))> results(static_cast<std::size_t>(count));
    const auto work = [&](std::size_t first) {
        for (std::size_t i = first; i < results.size(); i += 2) results[i] = run(static_cast<std::uint64_t>(i + 1));
    };
    std::thread other(work, std::size_t{1});
    work(0);
    other.join();
    return results;
}

class ReportMaker {
  public:
    ReportMaker(const Effort& effort, const std::function<void(std::string_view)>& progress)
        : effort_(effort), progress_(progress) {}

    Report make() {
        static_claims();
        packing();
        memory();
        asserted();
        chapter6();
        theorem7();
        chapter8();
        hierarchical();
        audits();
        std::ranges::stable_sort(report_.claims, {}, [](const Claim& c) { return std::stoi(c.id.substr(1)); });
        return std::move(report_);
    }

  private:
    void say(std::string_view what) {
        if (progress_) progress_(what);
    }
    void add(std::string id, std::string claim, std::string published, std::string ours, std::string said,
             std::string reason) {
        if (said == "holds") reason.clear();
        report_.claims.push_back({std::move(id), std::move(claim), std::move(published), std::move(ours),
                                  std::move(said), std::move(reason)});
    }
    void add_asserted(std::string id, std::string claim, std::string test) {
        add(std::move(id), std::move(claim), "stated", "asserted by `" + test + "`", "holds", "");
    }
    Cell run(const Experiment& what, const GangScheduling& how, const std::string& name) {
        say(name);
        Cell cell;
        for (const MachineRun& one :
             over_seeds(effort_.seeds, [&](std::uint64_t seed) { return run_machine(what, how, seed); }))
            enter(what, one, cell, audit_);
        return cell;
    }

    void static_claims() {
        say("static sets");
        using gang::StaticJob;
        using gang::StaticRule;
        std::string ratios;
        bool exact = true;
        for (const std::int32_t n : {4, 8, 16, 64, 1024}) {
            const std::vector<StaticJob> jobs(static_cast<std::size_t>(n), {n / 2 + 1, 1});
            const double r = fluid_makespan(jobs, n, StaticRule::kFirstFitDecreasing) / optimal_makespan(jobs, n);
            exact = exact && std::abs(r - 2.0 * n / (n + 2)) < 1e-9;
            ratios += format(ratios.empty() ? "%.4f" : ", %.4f", r);
        }
        add("C4", "Theorem 4, lower bound: equal jobs of n/2 + 1 processors",
            "2n/(n+2): 1.3333, 1.6, 1.7778, 1.9394, 1.9961", ratios, verdict({exact}), "");

        double literal = 0, filled = 0;
        for (int set = 0; set < effort_.random_sets; ++set) {
            Rng rng(static_cast<std::uint64_t>(set));
            const auto processors = static_cast<std::int32_t>(2 + rng.below(31));
            std::vector<StaticJob> jobs(1 + rng.below(24));
            const bool big = rng.below(2) == 0;
            for (StaticJob& job : jobs) {
                job.processors = big && rng.below(5) != 0 ? processors / 2 + 1
                                                          : static_cast<std::int32_t>(1 + rng.below(processors));
                job.seconds = rng.below(6) == 0 ? 10 + 30 * rng.uniform() : 0.1 + rng.uniform();
            }
            const double optimum = optimal_makespan(jobs, processors);
            literal = std::max(literal, fluid_makespan(jobs, processors, StaticRule::kFirstFitDecreasing) / optimum);
            filled = std::max(filled, fluid_makespan(jobs, processors, StaticRule::kFirstFitDecreasingFill) / optimum);
        }
        std::vector<StaticJob> jobs(7, {5, 1});
        jobs.push_back({1, 5});
        const double counter = fluid_makespan(jobs, 8, StaticRule::kFirstFitDecreasing) / optimal_makespan(jobs, 8);
        add("C5", "Theorem 4, upper bound: FFD gang takes less than twice the optimum",
            "< 2 (4 in the introduction and chapters 9 and 10)",
            format("worst of %d random sets: %.3f as printed, %.3f with left-over slots filled; 11/5 on the "
                   "counterexample: %.3f",
                   effort_.random_sets, literal, filled, counter),
            verdict({filled < 2, literal < 2 && counter < 2}),
            "The proof needs the longest job in every slice with room for it, but the printed rule places each job "
            "once. "
            "With filling the bound is provable; without, it is 3 (`fluid_makespan_test.cpp`).");

        const std::vector<StaticJob> units(1000, {1, 1});
        const double simple = fluid_makespan(units, 128, StaticRule::kSimpleGang);
        const double shared = fluid_makespan(units, 128, StaticRule::kFirstFitDecreasing);
        add("C6", "Simple gang on m unit jobs of one processor", "m against ceil(m/n)",
            format("m = 1000, n = 128: %.0f against %.0f", simple, shared), verdict({simple == 1000, shared == 8}), "");
    }

    /// Rules for jobs that stay until they have had their slices, at half the load so that they do not pile up.
    static constexpr const char* kSlicedFf = "FF, one slice a period, half the load";
    static constexpr const char* kSlicedBf = "BF, one slice a period, half the load";
    static constexpr const char* kStayingFf = "FF, nobody leaves";
    static constexpr const char* kStayingBf = "BF, nobody leaves";

    static constexpr const char* kBestFitReason =
        "The order claimed is that of classic bin packing, where nobody leaves. Where jobs leave, best fit has put "
        "small ones "
        "into whatever slice was fullest; when the large ones are gone, each of those slices lives on for a few small "
        "jobs. "
        "First fit gathers them in the first slices, and the others empty.";

    void packing() {
        std::map<std::string, std::vector<PackingRun>> runs;
        const std::vector<std::pair<std::string, gang::PackingOptions>> rules = [] {
            std::vector<std::pair<std::string, gang::PackingOptions>> list;
            const auto with = [](std::string_view rule,
                                 std::initializer_list<std::pair<std::string, std::string>> given) {
                return gang::make_packing_options(rule, 128, std::vector(given)).value();
            };
            list.emplace_back("FF", with("first-fit", {}));
            list.emplace_back("BF", with("best-fit", {}));
            list.emplace_back(kSlicedFf, with("first-fit", {}));
            list.emplace_back(kSlicedBf, with("best-fit", {}));
            list.emplace_back(kStayingFf, with("first-fit", {}));
            list.emplace_back(kStayingBf, with("best-fit", {}));
            list.emplace_back("FF, migration", with("first-fit", {{"migration", "arrival"}}));
            list.emplace_back("BF, migration", with("best-fit", {{"migration", "arrival"}}));
            list.emplace_back("FFD, migration", with("ffd", {}));
            list.emplace_back("buddy, all idle together", with("buddy", {{"selective-disabling", "false"}}));
            list.emplace_back("buddy", with("buddy", {}));
            list.emplace_back("FF, filled", with("first-fit", {{"fill", "true"}}));
            list.emplace_back("BF, filled", with("best-fit", {{"fill", "true"}}));
            list.emplace_back("buddy, filled", with("buddy", {{"fill", "true"}}));
            return list;
        }();
        std::string csv =
            "# source: DaSilva2000, figures 5.1 to 5.4 (curves lost); 128 processors\n"
            "# unit: CR_d = mean over arrivals of slices / ceil(tasks / processors); idling ratio 0..1\n"
            "rule,mean_cr_d,sd_cr_d,mean_slices,mean_idling,sd_idling\n";
        for (const auto& [name, options] : rules) {
            say("packing: " + name);
            Sample ratios, idling, slices;
            for (int seed = 1; seed <= effort_.seeds; ++seed) {
                const bool sliced = name == kSlicedFf || name == kSlicedBf;
                const bool stays = name == kStayingFf || name == kStayingBf;
                runs[name].push_back(pack(
                    jann_workload(128, effort_.packed_jobs, static_cast<std::uint64_t>(seed), sliced ? 2 : 1), options,
                    sliced  ? Residence::kSlices
                    : stays ? Residence::kForEver
                            : Residence::kRunTime));
                ratios.add(runs[name].back().dynamic_ratio);
                idling.add(runs[name].back().idling);
                slices.add(runs[name].back().slices);
            }
            csv += "\"" + name + "\"," +
                   format("%.5f,%.5f,%.4f,%.5f,%.5f\n", ratios.mean(), ratios.deviation(), slices.mean(), idling.mean(),
                          idling.deviation());
        }
        report_.tables.push_back({"figure_5_packing", csv});

        const auto ratios = [&](const std::string& name) {
            Sample sample;
            for (const PackingRun& r : runs.at(name)) sample.add(r.dynamic_ratio);
            return sample;
        };
        const auto idling = [&](const std::string& name) {
            Sample sample;
            for (const PackingRun& r : runs.at(name)) sample.add(r.idling);
            return sample;
        };
        double least = 1e300;
        for (const auto& [name, list] : runs)
            for (const PackingRun& r : list)
                for (const double value : r.ratio_so_far) least = std::min(least, value);
        add("C8", "Theorem 6: CR_d >= 1 for every scheduler", ">= 1",
            format("least CR_d at any checkpoint of any run: %.6f", least), verdict({least >= 1}), "");

        /// Largest lead of BF over FF and of FF over BF at a checkpoint, in per cent.
        const auto gaps = [&](const std::string& ff, const std::string& bf) {
            std::pair<double, double> gap{-100, -100};
            for (std::size_t seed = 0; seed < runs.at(ff).size(); ++seed)
                for (std::size_t i = 0; i < runs.at(ff)[seed].ratio_so_far.size(); ++i) {
                    const double percent =
                        100 * (runs.at(ff)[seed].ratio_so_far[i] / runs.at(bf)[seed].ratio_so_far[i] - 1);
                    gap.first = std::max(gap.first, percent);
                    gap.second = std::max(gap.second, -percent);
                }
            return gap;
        };
        const Sample ff = ratios("FF"), bf = ratios("BF");
        const auto [bf_leads, ff_leads] = gaps("FF", "BF");
        const double spread = 100 * (ff.most() - ff.least()) / ff.mean();
        const auto [staying_bf_leads, staying_ff_leads] = gaps(kStayingFf, kStayingBf);
        add("C9", "FF and BF without migration, 30,000 arrivals",
            "BF <= FF always, gap at most 2 %; sequences agree; bounded",
            "CR_d FF " + ff.text("%.4f") + ", BF " + bf.text("%.4f") +
                "; jobs served one slice a period, half the load: FF " + ratios(kSlicedFf).text("%.4f") + ", BF " +
                ratios(kSlicedBf).text("%.4f") + "; nobody leaves: FF " + ratios(kStayingFf).text("%.4f") + ", BF " +
                ratios(kStayingBf).text("%.4f") +
                format("; at a checkpoint BF leads by at most %.2f %% and FF by %.2f %%, with nobody leaving %.2f and "
                       "%.2f %%; "
                       "seeds differ by %.2f %%",
                       bf_leads, ff_leads, staying_bf_leads, staying_ff_leads, spread),
            verdict({bf.mean() <= ff.mean() && ff_leads <= 0 && bf_leads <= 2.5,
                     staying_ff_leads <= 0 && staying_bf_leads <= 2.5, spread < 5}),
            kBestFitReason);
        const Sample ffm = ratios("FF, migration"), bfm = ratios("BF, migration");
        const auto [bfm_leads, ffm_leads] = gaps("FF, migration", "BF, migration");
        const double excess = (ff.mean() - 1) / (ffm.mean() - 1);
        add("C10", "With migration (repacked at each arrival)",
            "CR_d lower by an order of magnitude; FF and BF within 1 %",
            "CR_d FF " + ffm.text("%.4f") + ", BF " + bfm.text("%.4f") + ", FFD " +
                ratios("FFD, migration").text("%.4f") +
                format(
                    "; CR_d - 1 falls by a factor of %.1f (CR_d itself by %.3f); FF and BF differ by at most %.2f %%",
                    excess, ff.mean() / ffm.mean(), std::max(bfm_leads, ffm_leads)),
            verdict({excess >= 10, std::max(bfm_leads, ffm_leads) < 1}),
            "CR_d cannot fall tenfold unless it was above 10. Its excess over 1 falls, by how much depends on the "
            "number of "
            "slices, that is on the load of the stream, which is ours.");
        const Sample buddy = idling("buddy, filled"), fff = idling("FF, filled"), bff = idling("BF, filled");
        add("C32", "Buddy with selective disabling and alternative scheduling packs better than FF and BF",
            "claim quoted from Feitelson 1996",
            "idling ratio FF " + idling("FF").text("%.3f") + ", BF " + idling("BF").text("%.3f") + "; buddy " +
                idling("buddy").text("%.3f") + " with selective disabling, " +
                idling("buddy, all idle together").text("%.3f") + " without; left-over slots filled: buddy " +
                buddy.text("%.3f") + ", FF " + fff.text("%.3f") + ", BF " + bff.text("%.3f"),
            verdict({at_least(idling("FF"), buddy) && at_least(idling("BF"), buddy),
                     at_least(fff, buddy) && at_least(bff, buddy)}),
            "Against plain FF and BF the filled buddy tree wins; where FF and BF may fill left-over slots as well, "
            "they do better on our "
            "stream. The claim compares schemes with and without alternative scheduling.");
    }

    void memory() {
        say("memory fit");
        std::vector<double> until;
        for (const int at : {10'000, 20'000, 30'000, 40'000, 50'000}) until.push_back(at * effort_.horizon);
        const auto options = [](std::string_view rule, const char* new_slice) {
            const std::vector<std::pair<std::string, std::string>> given{
                {"memory", std::to_string(std::int64_t{512} << 20)}, {"overtaking", "true"}, {"new-slice", new_slice}};
            return gang::make_packing_options(rule, 128, given).value();
        };
        const std::array rules{std::pair{"BF", options("best-fit", "if-needed")},
                               std::pair{"MF", options("memory-fit", "if-needed")},
                               std::pair{"MF, new slice compared", options("memory-fit", "always-compared")}};
        std::array<std::vector<Sample>, 3> used, done;
        for (std::size_t r = 0; r < rules.size(); ++r) {
            used[r].resize(until.size());
            done[r].resize(until.size());
            for (int seed = 1; seed <= effort_.seeds; ++seed) {
                const MemoryRun run =
                    pack_memory(jann_workload(128, static_cast<std::int64_t>(until.back() / 100) + 200,
                                              static_cast<std::uint64_t>(seed)),
                                rules[r].second, until);
                for (std::size_t i = 0; i < until.size(); ++i) {
                    used[r][i].add(100 * run.utilization[i]);
                    done[r][i].add(run.completed[i]);
                }
            }
        }
        std::string csv =
            "# source: DaSilva2000, figures 5.5 and 5.6 (curves lost); 128 nodes of 512 MB\n"
            "# unit: per cent of memory in use since 0; jobs completed\n"
            "horizon_s,rule,memory_percent,memory_sd,completed,completed_sd\n";
        for (std::size_t i = 0; i < until.size(); ++i)
            for (std::size_t r = 0; r < rules.size(); ++r)
                csv += format("%.0f,\"%s\",%.2f,%.2f,%.1f,%.1f\n", until[i], rules[r].first, used[r][i].mean(),
                              used[r][i].deviation(), done[r][i].mean(), done[r][i].deviation());
        report_.tables.push_back({"figure_5_5_memory", csv});
        bool more_used = true, more_done = true;
        for (std::size_t i = 0; i < until.size(); ++i) {
            more_used = more_used && at_least(used[1][i], used[0][i]);
            more_done = more_done && at_least(done[1][i], done[0][i]);
        }
        add("C11", "Memory Fit against best fit with memory, 10,000 to 50,000 s",
            "MF uses more memory and completes more jobs",
            "at the last horizon: memory MF " + used[1].back().text("%.1f") + " %, BF " + used[0].back().text("%.1f") +
                " %; jobs MF " + done[1].back().text("%.1f") + ", BF " + done[0].back().text("%.1f") +
                "; with the new slice always compared " + used[2].back().text("%.1f") + " %, " +
                done[2].back().text("%.1f") + " jobs",
            verdict({more_used, more_done}),
            "Memory fit with the new slice compared does use more memory, but jobs here get one slice a period, so "
            "what is admitted more "
            "is served more slowly and fewer complete. With a new slice only where needed the two rules differ in "
            "places, hardly in "
            "figures. How long jobs stay is not said in the thesis.");
    }

    void asserted() {
        add_asserted("C2", "Corollary 1: the shortest period idles least", "packing_property_test.cpp, brute force");
        add_asserted("C3", "Theorem 5: a periodic part idles no more, and serves tasks equally",
                     "theorem_property_test.cpp, brute force over all parts");
        add_asserted("C7", "FFD is optimal where sizes divide each other", "packing_property_test.cpp");
        add_asserted("C12", "Memory Fit's choice; a new slice is never worse balanced",
                     "packing_test.cpp, packing_property_test.cpp");
        add_asserted("C13", "Fuzzy classifier, sequences and limits", "classifier_test.cpp");
        add_asserted("C14", "Bayesian classifier: vectors, underflow after 45 slices, floor", "classifier_test.cpp");
        add_asserted("C15", "Proposition 1: nothing is run below the floor; gangs keep their slices",
                     "gang_machine_property_test.cpp, gang_machine_test.cpp");
        add_asserted("C20", "Figure 6.9: round robin loses a gang's slice, priorities do not", "gang_machine_test.cpp");
        add_asserted("C22", "Uncoordinated barriers take l^(n-1) times as long: 8 and 9",
                     "gang_machine_property_test.cpp, within 15 %");
        add_asserted("C23", "Equation 7.1: local blocking takes max_j sum_i, not sum_i max_j",
                     "gang_machine_property_test.cpp");
        add_asserted("C24", "Families end with floor or ceiling of T/K tasks; several on one processor block at once",
                     "family_test.cpp, waiting_test.cpp");
        add_asserted("C25", "Baseline 55 us, delta 800 us, truth table of spin control", "waiting_test.cpp");
        add_asserted("C33", "The same jobs, arrivals and bursts under every scheduler",
                     "gang_machine_property_test.cpp, by a fingerprint of all steps");
    }

    void chapter6() {
        struct Load {
            const char *id, *name;
            JobKind kind;
            double scale;
        };
        std::string csv =
            "# source: DaSilva2000, figures 6.4 to 6.12 (curves lost); 16 processors\n"
            "# unit: jobs completed; per cent of processor time idle\n"
            "workload,horizon_s,scheduler,completed,completed_sd,idle_percent,idle_sd\n";
        for (const Load& load :
             {Load{"C16", "I/O", kIo, effort_.horizon}, Load{"C17", "computing", kEmb, effort_.horizon},
              Load{"C18", "synchronizing", kBsp, effort_.talking_horizon},
              Load{"C19", "communicating", kMsg, effort_.talking_horizon}}) {
            Experiment what{.processors = 16,
                            .kinds = {load.kind},
                            .bursts = {.io = milliseconds{50},
                                       .compute_between_io = milliseconds{50},
                                       .between_messages = milliseconds{5},
                                       .between_barriers = milliseconds{5}},
                            .horizon_s = 40'000 * load.scale,
                            .checkpoints_s = {}};
            for (const int at : {10'000, 20'000, 30'000}) what.checkpoints_s.push_back(at * load.scale);
            GangScheduling literal = concurrent_gang_round_robin();
            literal.resume_in_slice = false;
            const std::array names{"Gang", "CG-RR", "CG-prio", "CG-RR, not resumed"};
            std::array<Cell, 4> cells{
                run(what, pure_gang(), std::string("chapter 6, gang: ") + load.name),
                run(what, concurrent_gang_round_robin(), std::string("chapter 6, CG-RR: ") + load.name),
                run(what, concurrent_gang_priority(), std::string("chapter 6, CG-prio: ") + load.name),
                run(what, literal, std::string("chapter 6, CG-RR not resumed: ") + load.name)};
            for (Cell& cell : cells) {
                cell.completed_at.push_back(cell.completed);
                cell.idle_at.push_back(cell.idle);
            }
            what.checkpoints_s.push_back(what.horizon_s);
            for (std::size_t i = 0; i < what.checkpoints_s.size(); ++i)
                for (std::size_t s = 0; s < cells.size(); ++s)
                    csv += format("%s,%.0f,\"%s\",%.1f,%.1f,%.2f,%.2f\n", load.name, what.checkpoints_s[i], names[s],
                                  cells[s].completed_at[i].mean(), cells[s].completed_at[i].deviation(),
                                  cells[s].idle_at[i].mean(), cells[s].idle_at[i].deviation());
            const auto& [gang, rr, prio, lost] = cells;
            const std::string ours = "jobs Gang " + gang.completed.text("%.1f") + ", CG-RR " +
                                     rr.completed.text("%.1f") + ", CG-prio " + prio.completed.text("%.1f") +
                                     ", CG-RR without resuming " + lost.completed.text("%.1f") + "; idle " +
                                     gang.idle.text("%.1f") + ", " + rr.idle.text("%.1f") + ", " +
                                     prio.idle.text("%.1f") + ", " + lost.idle.text("%.1f") + " %";
            bool always = true;
            for (std::size_t i = 0; i < what.checkpoints_s.size(); ++i)
                always = always && at_least(prio.completed_at[i], rr.completed_at[i]) &&
                         clearly_more(rr.completed_at[i], gang.completed_at[i]);
            const std::string name = load.id;
            if (name == "C16")
                add(name, "I/O workload of chapter 6", "jobs CG-prio > CG-RR > Gang, idle reversed, at all horizons",
                    ours, verdict({always, at_least(rr.idle, prio.idle) && clearly_more(gang.idle, rr.idle)}),
                    "In a workload of I/O jobs alone all tasks have one class, so the two ways to fill differ by "
                    "chance.");
            else if (name == "C17")
                add(name, "Computing workload of chapter 6", "jobs equal within noise, idle CG <= Gang", ours,
                    verdict({prio.completed.mean() < 1.05 * gang.completed.mean(), at_least(gang.idle, prio.idle)}),
                    "Slots that first fit leaves idle are filled, and with our stream there are enough of them to show "
                    "in the "
                    "number of jobs: see the idle time of Gang.");
            else
                add(name, std::string(load.name) + " workload of chapter 6",
                    name == "C18" ? "jobs CG-prio > Gang > CG-RR" : "the same, by less", ours,
                    verdict({at_least(prio.completed, gang.completed), at_least(prio.completed, rr.completed),
                             at_least(gang.completed, rr.completed), at_least(gang.idle, prio.idle)}),
                    "Filling idle slots with one-processor jobs gives both versions more jobs than lost slices cost, "
                    "also where a gang task "
                    "that becomes ready in its slot is not resumed (fourth figure); that one idles more, as the thesis "
                    "says of round robin. "
                    "Gang's spinning counts as busy, which makes its idle time look small. What the thesis resumes is "
                    "not said, and our "
                    "horizons are a quarter of its.");
        }
        report_.tables.push_back({"figure_6_throughput_and_idle", csv});
    }

    void theorem7() {
        say("theorem 7");
        struct Count {
            int longer = 0, blocked = 0, space = 0, cases = 0;
            double worst = 0;
        };
        const auto compare = [&](const Kinds& kinds, bool against_local) {
            Count count;
            for (int seed = 1; seed <= 4 * effort_.seeds; ++seed) {
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
            verdict({apart.longer == 0, local.longer == 0, together.longer == 0, mixed.longer == 0}),
            "The proof looks at one processor and one moment. Over a whole run other orders at the disk, and which "
            "task is "
            "left for the end, move the last job; a local scheduler never leaves a ready task waiting for a slice.");
    }

    void chapter8() {
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
                                      .horizon_s = 50'000 * effort_.horizon,
                                      .checkpoints_s = {}};
                const std::string name = std::string("chapter 8, ") + mix.name + format(", %d processors", sizes[s]);
                const bool io = std::ranges::count(mix.kinds, kIo) > 0;
                Pair& pair = cells[mix.name][s];
                // Spin control only where there are I/O jobs [DaSilva2000, section 8.5].
                pair.with = run(what, io ? modified_gang() : no_control, name + ", modified");
                pair.without = run(what, pure_gang(), name + ", pure");
                const bool table = mix.published[0][0] > 0;
                if (table) pair.resumed = run(what, resumed, name + ", pure, resumed");
                const bool ablation = std::string(mix.name) == "IO/Msg" || std::string(mix.name) == "IO/BSP";
                if (ablation) pair.no_control = run(what, no_control, name + ", no spin control");
                const Sample jobs = ratio(pair.with.completed, pair.without.completed);
                const Sample utilization = ratio(pair.with.utilization, pair.without.utilization);
                rest += format("%s,%d,%.3f,%.3f,%.3f,%.3f", mix.name, sizes[s], jobs.mean(), jobs.deviation(),
                               utilization.mean(), utilization.deviation());
                if (ablation) {
                    const Sample a = ratio(pair.with.completed, pair.no_control.completed);
                    const Sample b = ratio(pair.with.utilization, pair.no_control.utilization);
                    rest += format(",%.3f,%.3f,%.3f,%.3f", a.mean(), a.deviation(), b.mean(), b.deviation());
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
                            effort_.seeds) +
                        "# tolerance: none; the thesis's job stream is not public, see README.md\n"
                        "# pure_resumed: the same gang scheduler, but a task whose I/O ends in its slot goes on at "
                        "once\n"
                        "figure,published,ours,ours_sd\n";
                    const auto row = [&](const char* figure, const std::string& published, const Sample& ours) {
                        csv += std::string(figure) + "," + published +
                               format(",%.2f,%.2f\n", ours.mean(), ours.deviation());
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
                    report_.tables.push_back({format("table_8_%d", number++), csv});
                }
            }
        }
        report_.tables.push_back({"figure_8_ratios", rest});

        const auto jobs = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.completed, cells.at(mix)[s].without.completed);
        };
        const auto utilization = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.utilization, cells.at(mix)[s].without.utilization);
        };
        const auto both = [&](const char* mix, const auto& of, const char* pattern = "%.2f") {
            return of(mix, 0).text(pattern) + " / " + of(mix, 1).text(pattern);
        };
        const auto resumed_ratio = [&](std::size_t s) {
            return ratio(cells.at("IO")[s].with.utilization, cells.at("IO")[s].resumed.utilization);
        };
        const Cell &gang8 = cells.at("IO")[0].without, &gang16 = cells.at("IO")[1].without;
        const auto near = [](double x, double target, double by) { return std::abs(x - target) <= by; };
        add("C26", "I/O workload of chapter 8 (8 / 16 processors)",
            "utilization ratio 2.00 / 1.95, at most 2; jobs ratio 1.50 / 1.53; gang's utilization about A/2",
            "utilization ratio " + both("IO", utilization) + " (against the resumed gang " + resumed_ratio(0).text() +
                " / " + resumed_ratio(1).text() + "), jobs ratio " + both("IO", jobs) + "; gang's utilization " +
                gang8.utilization.text("%.1f") + " / " + gang16.utilization.text("%.1f") + " % with A " +
                gang8.allocated.text("%.1f") + " / " + gang16.allocated.text("%.1f") + " %",
            verdict({near(utilization("IO", 0).mean(), 2, 0.2) && near(utilization("IO", 1).mean(), 1.95, 0.2),
                     near(jobs("IO", 0).mean(), 1.5, 0.2) && near(jobs("IO", 1).mean(), 1.53, 0.2),
                     near(gang8.utilization.mean(), gang8.allocated.mean() / 2, 4) &&
                         near(gang16.utilization.mean(), gang16.allocated.mean() / 2, 4)}),
            "Read literally, gang leaves a slot idle to its end after the first I/O, so it computes less than half of "
            "its slots and "
            "more than twice as much can be gained; resumed in its slot it computes more than half. On 8 processors "
            "the published "
            "2.0 lies between the two readings. On 16 our stream does not fill the machine in some seeds, which lowers "
            "both ratios.");
        const auto falls = [&](std::size_t s) {
            return utilization("IO", s).mean() > utilization("IO/Msg", s).mean() &&
                   utilization("IO/Msg", s).mean() > utilization("IO/Msg/Emb", s).mean();
        };
        double least_jobs = 1e300, least_with = 1e300, most_with = 0;
        std::string with_text;
        for (const char* mix : {"IO", "IO/Msg", "IO/Msg/Emb"})
            for (std::size_t s = 0; s < 2; ++s) {
                least_jobs = std::min(least_jobs, jobs(mix, s).mean());
                least_with = std::min(least_with, cells.at(mix)[s].with.utilization.mean());
                most_with = std::max(most_with, cells.at(mix)[s].with.utilization.mean());
            }
        add("C27", "Mixtures: the gain falls from IO over IO/Msg to IO/Msg/Emb",
            "utilization ratios 2.0, 1.3, 1.15; with runtime information 79 to 84 % everywhere; jobs ratios all > 1.15",
            "utilization ratios " + both("IO", utilization) + ", " + both("IO/Msg", utilization) + ", " +
                both("IO/Msg/Emb", utilization) +
                format("; with runtime information %.1f to %.1f %%; least jobs ratio %.2f", least_with, most_with,
                       least_jobs),
            verdict({falls(0) && falls(1), most_with - least_with <= 6, least_jobs > 1.15}),
            "Ours uses more of the machine the more jobs compute: idle slots are filled, too, where the thesis's "
            "runtime "
            "utilization stays at the share of allocated slots.");
        const auto close = [&](const char* a, const char* b, std::size_t s) {
            return near(utilization(a, s).mean(), utilization(b, s).mean(), 0.1 * utilization(b, s).mean()) &&
                   near(jobs(a, s).mean(), jobs(b, s).mean(), 0.1 * jobs(b, s).mean());
        };
        add("C28", "IO/BSP and IO/BSP/Emb come out like IO/Msg and IO/Msg/Emb",
            "similar in relative and absolute values",
            "IO/BSP: utilization " + both("IO/BSP", utilization) + ", jobs " + both("IO/BSP", jobs) +
                "; IO/Msg: " + both("IO/Msg", utilization) + ", " + both("IO/Msg", jobs) +
                "; IO/BSP/Emb: " + both("IO/BSP/Emb", utilization) + ", " + both("IO/BSP/Emb", jobs) +
                "; IO/Msg/Emb: " + both("IO/Msg/Emb", utilization) + ", " + both("IO/Msg/Emb", jobs),
            verdict({close("IO/BSP", "IO/Msg", 0) && close("IO/BSP", "IO/Msg", 1),
                     close("IO/BSP/Emb", "IO/Msg/Emb", 0) && close("IO/BSP/Emb", "IO/Msg/Emb", 1)}),
            "Within 10 % for one of the pairs only: our messages wait for a partner that computes for a random time, "
            "our "
            "barriers for tasks that all compute equally long (section 6.4's rule; chapter 8 gives none).");
        const auto spin_jobs = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.completed, cells.at(mix)[s].no_control.completed);
        };
        const auto spin_utilization = [&](const char* mix, std::size_t s) {
            return ratio(cells.at(mix)[s].with.utilization, cells.at(mix)[s].no_control.utilization);
        };
        bool more_jobs = true, less_utilization = true;
        for (const char* mix : {"IO/BSP", "IO/Msg"})
            for (std::size_t s = 0; s < 2; ++s) {
                more_jobs = more_jobs && spin_jobs(mix, s).mean() > 1;
                const double u = spin_utilization(mix, s).mean();
                less_utilization = less_utilization && u < 1 && u > 0.9;
            }
        add("C29", "Spin control against priority alone, IO/BSP and IO/Msg",
            "jobs ratio > 1, utilization ratio slightly < 1",
            "IO/BSP: jobs " + both("IO/BSP", spin_jobs, "%.3f") + ", utilization " +
                both("IO/BSP", spin_utilization, "%.3f") + "; IO/Msg: jobs " + both("IO/Msg", spin_jobs, "%.3f") +
                ", utilization " + both("IO/Msg", spin_utilization, "%.3f"),
            verdict({more_jobs, less_utilization}),
            "Tasks of a balanced BSP job meet at the barrier within the baseline, so there is little spinning to give "
            "up; with "
            "messages there is.");
        bool small = true, ordered = true;
        for (const char* mix : {"Emb/Msg", "Emb/BSP"})
            for (std::size_t s = 0; s < 2; ++s) {
                small = small && jobs(mix, s).mean() >= 1 && utilization(mix, s).mean() >= 1 &&
                        jobs(mix, s).mean() < 1.25 && utilization(mix, s).mean() < 1.25;
                ordered = ordered && utilization(mix, s).mean() >= jobs(mix, s).mean();
            }
        add("C30", "Emb/Msg and Emb/BSP", "gains small, in utilization more than in jobs",
            "Emb/Msg: jobs " + both("Emb/Msg", jobs) + ", utilization " + both("Emb/Msg", utilization) +
                "; Emb/BSP: jobs " + both("Emb/BSP", jobs) + ", utilization " + both("Emb/BSP", utilization),
            verdict({small, ordered}), "The gain is the idle slots that first fit leaves, about a fifth here.");
        std::string gaps;
        bool within = true;
        for (const char* mix : {"IO", "IO/Msg", "IO/Msg/Emb"})
            for (std::size_t s = 0; s < 2; ++s) {
                const Cell &literal = cells.at(mix)[s].without, &went_on = cells.at(mix)[s].resumed;
                gaps += std::string(gaps.empty() ? "" : "; ") + mix + format(" %d: ", sizes[s]) +
                        literal.gap.text("%.1f") + " (resumed " + went_on.gap.text("%.1f") + ")";
                within = within && std::abs(literal.gap.mean()) <= 5;
            }
        add("C34", "Gang's utilization is A (1 - p/2), p the share of I/O jobs",
            "within 2 points of all six table rows", "measured less model, in points: " + gaps, verdict({within}),
            "Within 2 points for the mixtures, not for I/O alone. Read literally gang stays below the model, for the "
            "rest of a slot is "
            "lost with the first I/O. Resumed it lies above: every slot begins with computing, since I/O under way "
            "ends while other "
            "rows have their turn.");
    }

    void hierarchical() {
        const auto experiment = [&](const Kinds& kinds) {
            return Experiment{.processors = 16,
                              .kinds = kinds,
                              .bursts = {},
                              .horizon_s = 50'000 * effort_.horizon,
                              .checkpoints_s = {30'000 * effort_.horizon}};
        };
        GangScheduling plain = hierarchical_control();
        const Cell emb = run(experiment({kEmb}), plain, "DHC, Emb");
        const Cell emb_runtime = run(experiment({kEmb}), hierarchical_control_runtime(), "DHC runtime, Emb");
        const Cell io = run(experiment({kIo}), plain, "DHC, IO");
        const Cell io_runtime = run(experiment({kIo}), hierarchical_control_runtime(), "DHC runtime, IO");
        add("C31", "DHC with alternative scheduling, 16 processors",
            "Emb: above 90 % after 30,000 s, with runtime information slightly more; I/O: clearly more",
            "after 30,000 s: Emb " + emb.late_utilization.text("%.1f") + " %, with runtime information " +
                emb_runtime.late_utilization.text("%.1f") + " %; I/O " + io.late_utilization.text("%.1f") + " %, " +
                io_runtime.late_utilization.text("%.1f") + " %",
            verdict({emb.late_utilization.mean() > 90, at_least(emb_runtime.late_utilization, emb.late_utilization),
                     clearly_more(io_runtime.late_utilization, io.late_utilization)}),
            "Without runtime information short of 90 % by less than the seeds scatter; even with every slot filled "
            "there is less than "
            "100 %, so the stream leaves processors without jobs at times.");
    }

    void audits() {
        add("C1", "Area conservation: processors x time = busy + space-idle + blocked-idle + switching", "exact",
            format("%lld runs of the machine, %lld not exact to the microsecond", static_cast<long long>(audit_.runs),
                   static_cast<long long>(audit_.not_conserved)),
            verdict({audit_.not_conserved == 0}), "");
        add("C35", "Admission: at most 10 tasks on a processor", "10",
            format("most seen in all runs: %d", audit_.most_tasks), verdict({audit_.most_tasks <= kCap}), "");
        add("C36", "The front end acts at workload changes only", "independent of the number of slices",
            format("activations = arrivals + ends in all but %lld of %lld runs, with at least %.0f slices a change",
                   static_cast<long long>(audit_.front_end), static_cast<long long>(audit_.runs),
                   audit_.least_slices_per_change),
            verdict({audit_.front_end == 0}), "");
    }

    const Effort& effort_;
    const std::function<void(std::string_view)>& progress_;
    Audit audit_;
    Report report_;
};

}  // namespace

Report make_report(const Effort& effort, const std::function<void(std::string_view)>& progress) {
    return ReportMaker(effort, progress).make();
}

std::string page_of(const Report& report, const Effort& effort) {
    std::string page =
        "# DaSilva2000\n\nClaims of the thesis beside what we find. Made by `build/release/bin/zbs_gang_claims "
        "tests/golden/DaSilva2000`";
    page += format(
        " with %d seeds; figures are mean ± standard deviation over the seeds. Of the thesis's figures only tables "
        "8.1 to 8.6 and\nsentences survive, and its job stream has no public parameters, so numbers cannot be "
        "matched, but claims can be tested. Nothing was tuned to a published\nnumber: every choice that the thesis "
        "leaves open is listed in `algorithms/gang/README.md` and `algorithms/sim/README.md` with its reason.\n\n",
        effort.seeds);
    if (effort.horizon != 1)
        page += format("Horizons are %.3g of the thesis's: this is what the golden test runs, not the report.\n\n",
                       effort.horizon);
    page += "| claim | what | published | ours | verdict | why it differs |\n|---|---|---|---|---|---|\n";
    std::map<std::string, int> verdicts;
    for (const Claim& claim : report.claims) {
        page += "| " + claim.id + " | " + claim.claim + " | " + claim.published + " | " + claim.ours + " | " +
                claim.verdict + " | " + claim.reason + " |\n";
        ++verdicts[claim.verdict];
    }
    page += format("\nOf %d claims %d hold, %d hold in part, %d do not.\n", static_cast<int>(report.claims.size()),
                   verdicts["holds"], verdicts["partly"], verdicts["not"]);
    page += "\nTables:";
    for (const Table& table : report.tables) page += " `" + table.name + ".csv`";
    page += format(
        "\n\nSet-up: the stream of `example_size_classes()`, sizes up to the machine; per seed the same jobs for all "
        "schedulers. Chapter 5: 128 processors, %lld arrivals, jobs stay for their run\ntime; for memory they advance "
        "one "
        "slice a period. Chapter 6: 16 processors, bursts of 50 ms, messages and barriers every 5 ms, horizons %.0f to "
        "%.0f s "
        "(%.0f to %.0f s where jobs\ncommunicate: their events are two hundred times as many). Chapter 8: %.0f s. At "
        "most 10 "
        "tasks a processor, first fit, slices of 200 ms, switches of 200 us.\n",
        static_cast<long long>(effort.packed_jobs), 10'000 * effort.horizon, 40'000 * effort.horizon,
        10'000 * effort.talking_horizon, 40'000 * effort.talking_horizon, 50'000 * effort.horizon);
    return page;
}

std::string whole_text_of(const Report& report, const Effort& effort) {
    std::string text = page_of(report, effort);
    for (const Table& table : report.tables) text += "\n## " + table.name + "\n\n```\n" + table.text + "```\n";
    return text;
}

}  // namespace zbs::claims
