#include "studies/claims/dasilva_packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "algorithms/base/rng.hpp"
#include "algorithms/gang/packing.hpp"
#include "studies/claims/dasilva_support.hpp"
#include "studies/models/fluid_makespan.hpp"

namespace zbs::claims {
namespace {

using dasilva::format;
using dasilva::jann_workload;
using gang::GangPacking;

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

class PackingFindings : public dasilva::Findings {
  public:
    using Findings::Findings;

    void static_claims() {
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
            "2n/(n+2): 1.3333, 1.6, 1.7778, 1.9394, 1.9961", ratios, {exact});

        double literal = 0, filled = 0;
        const auto random_sets = static_cast<int>(effort().scaled(6000, 300));
        for (int set = 0; set < random_sets; ++set) {
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
                   random_sets, literal, filled, counter),
            {literal < 2, counter < 2},
            {.name = "left-over slots filled",
             .statement = "the proof needs the longest job in every slice with room for it, but the printed rule "
                          "places each job once: where left-over slots are filled the bound holds",
             .evaluate = [&] {
                 return Evidence{format("worst %.3f", filled), filled < 2};
             }});

        const std::vector<StaticJob> units(1000, {1, 1});
        const double simple = fluid_makespan(units, 128, StaticRule::kSimpleGang);
        const double shared = fluid_makespan(units, 128, StaticRule::kFirstFitDecreasing);
        add("C6", "Simple gang on m unit jobs of one processor", "m against ceil(m/n)",
            format("m = 1000, n = 128: %.0f against %.0f", simple, shared), {simple == 1000, shared == 8});
    }

    /// Rules for jobs that stay until they have had their slices, at half the load so that they do not pile up.
    static constexpr const char* kSlicedFf = "FF, one slice a period, half the load";
    static constexpr const char* kSlicedBf = "BF, one slice a period, half the load";
    static constexpr const char* kStayingFf = "FF, nobody leaves";
    static constexpr const char* kStayingBf = "BF, nobody leaves";

    void packing() {
        std::map<std::string, std::vector<PackingRun>> runs;
        const std::vector<std::pair<std::string, gang::PackingOptions>> rules = [] {
            std::vector<std::pair<std::string, gang::PackingOptions>> list;
            const auto with = [](std::string_view rule, gang::PackingOptions options) {
                options.processors = 128;
                return gang::make_packing_options(rule, options).value();
            };
            list.emplace_back("FF", with("first-fit", {}));
            list.emplace_back("BF", with("best-fit", {}));
            list.emplace_back(kSlicedFf, with("first-fit", {}));
            list.emplace_back(kSlicedBf, with("best-fit", {}));
            list.emplace_back(kStayingFf, with("first-fit", {}));
            list.emplace_back(kStayingBf, with("best-fit", {}));
            list.emplace_back("FF, migration", with("first-fit", {.repack = gang::Repack::kAtArrival}));
            list.emplace_back("BF, migration", with("best-fit", {.repack = gang::Repack::kAtArrival}));
            list.emplace_back("FFD, migration", with("ffd", {}));
            list.emplace_back("buddy, all idle together", with("buddy", {.selective_disabling = false}));
            list.emplace_back("buddy", with("buddy", {}));
            list.emplace_back("FF, filled", with("first-fit", {.fill = true}));
            list.emplace_back("BF, filled", with("best-fit", {.fill = true}));
            list.emplace_back("buddy, filled", with("buddy", {.fill = true}));
            return list;
        }();
        std::string csv =
            "# source: DaSilva2000, figures 5.1 to 5.4 (curves lost); 128 processors\n"
            "# unit: CR_d = mean over arrivals of slices / ceil(tasks / processors); idling ratio 0..1\n"
            "rule,mean_cr_d,sd_cr_d,mean_slices,mean_idling,sd_idling\n";
        for (const auto& [name, options] : rules) {
            Samples ratios, idling, slices;
            for (int seed = 1; seed <= effort().seeds; ++seed) {
                const bool sliced = name == kSlicedFf || name == kSlicedBf;
                const bool stays = name == kStayingFf || name == kStayingBf;
                runs[name].push_back(pack(
                    jann_workload(128, effort().scaled(30'000, 500), static_cast<std::uint64_t>(seed), sliced ? 2 : 1),
                    options,
                    sliced  ? Residence::kSlices
                    : stays ? Residence::kForEver
                            : Residence::kRunTime));
                ratios.push_back(runs[name].back().dynamic_ratio);
                idling.push_back(runs[name].back().idling);
                slices.push_back(runs[name].back().slices);
            }
            csv += "\"" + name + "\"," +
                   format("%.5f,%.5f,%.4f,%.5f,%.5f\n", mean(ratios), deviation(ratios), mean(slices), mean(idling),
                          deviation(idling));
        }
        add_table("figure_5_packing", csv);

        const auto ratios = [&](const std::string& name) {
            Samples sample;
            for (const PackingRun& r : runs.at(name)) sample.push_back(r.dynamic_ratio);
            return sample;
        };
        const auto idling = [&](const std::string& name) {
            Samples sample;
            for (const PackingRun& r : runs.at(name)) sample.push_back(r.idling);
            return sample;
        };
        double least = 1e300;
        for (const auto& [name, list] : runs)
            for (const PackingRun& r : list)
                for (const double value : r.ratio_so_far) least = std::min(least, value);
        add("C8", "Theorem 6: CR_d >= 1 for every scheduler", ">= 1",
            format("least CR_d at any checkpoint of any run: %.6f", least), {least >= 1});

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
        const Samples ff = ratios("FF"), bf = ratios("BF");
        const auto [bf_leads, ff_leads] = gaps("FF", "BF");
        const double spread = 100 * (std::ranges::max(ff) - std::ranges::min(ff)) / mean(ff);
        const auto [staying_bf_leads, staying_ff_leads] = gaps(kStayingFf, kStayingBf);
        add("C9", "FF and BF without migration, 30,000 arrivals",
            "BF <= FF always, gap at most 2 %; sequences agree; bounded",
            "CR_d FF " + text_of(ff, 4) + ", BF " + text_of(bf, 4) +
                "; jobs served one slice a period, half the load: FF " + text_of(ratios(kSlicedFf), 4) + ", BF " +
                text_of(ratios(kSlicedBf), 4) + "; nobody leaves: FF " + text_of(ratios(kStayingFf), 4) + ", BF " +
                text_of(ratios(kStayingBf), 4) +
                format("; at a checkpoint BF leads by at most %.2f %% and FF by %.2f %%, with nobody leaving %.2f and "
                       "%.2f %%; "
                       "seeds differ by %.2f %%",
                       bf_leads, ff_leads, staying_bf_leads, staying_ff_leads, spread),
            {mean(bf) <= mean(ff), ff_leads <= 0, bf_leads <= 2, spread < 5},
            {.name = "nobody leaves",
             .statement = "the source does not state how long jobs stay; the order is that of bin packing, where "
                          "nobody leaves, and returns there",
             .evaluate = [&] {
                 return Evidence{
                     format("BF leads by at most %.2f %%, FF by %.2f %%", staying_bf_leads, staying_ff_leads),
                     staying_ff_leads <= 0 && staying_bf_leads <= 2};
             }});
        const Samples ffm = ratios("FF, migration"), bfm = ratios("BF, migration");
        const auto [bfm_leads, ffm_leads] = gaps("FF, migration", "BF, migration");
        const double excess = (mean(ff) - 1) / (mean(ffm) - 1);
        add("C10", "With migration (repacked at each arrival)",
            "CR_d lower by an order of magnitude; FF and BF within 1 %",
            "CR_d FF " + text_of(ffm, 4) + ", BF " + text_of(bfm, 4) + ", FFD " + text_of(ratios("FFD, migration"), 4) +
                format(
                    "; CR_d - 1 falls by a factor of %.1f (CR_d itself by %.3f); FF and BF differ by at most %.2f %%",
                    excess, mean(ff) / mean(ffm), std::max(bfm_leads, ffm_leads)),
            {excess >= 10, std::max(bfm_leads, ffm_leads) < 1}, {}, {},
            "taken for the excess over 1: CR_d itself cannot fall tenfold unless it was above 10");
        const Samples buddy = idling("buddy, filled"), fff = idling("FF, filled"), bff = idling("BF, filled");
        add("C32", "Buddy with selective disabling and alternative scheduling packs better than FF and BF",
            "claim quoted from Feitelson 1996",
            "idling ratio FF " + text_of(idling("FF"), 3) + ", BF " + text_of(idling("BF"), 3) + "; buddy " +
                text_of(idling("buddy"), 3) + " with selective disabling, " +
                text_of(idling("buddy, all idle together"), 3) + " without; left-over slots filled: buddy " +
                text_of(buddy, 3) + ", FF " + text_of(fff, 3) + ", BF " + text_of(bff, 3),
            {at_least(fff, buddy), at_least(bff, buddy)},
            {.name = "FF and BF without alternative scheduling",
             .statement = "the claim compares schemes with and without alternative scheduling: against FF and BF that "
                          "do not fill left-over slots the order returns",
             .evaluate = [&] {
                 return Evidence{"buddy, filled " + text_of(buddy, 3) + ", FF " + text_of(idling("FF"), 3) + ", BF " +
                                     text_of(idling("BF"), 3),
                                 at_least(idling("FF"), buddy) && at_least(idling("BF"), buddy)};
             }});
    }

    void memory() {
        std::vector<double> until;
        for (const int at : {10'000, 20'000, 30'000, 40'000, 50'000}) until.push_back(at * effort().length);
        const auto options = [](std::string_view rule, gang::NewSlice new_slice) {
            return gang::make_packing_options(rule, {.processors = 128,
                                                     .new_slice = new_slice,
                                                     .memory_per_node = std::int64_t{512} << 20,
                                                     .overtaking = true})
                .value();
        };
        const std::array rules{
            std::pair{"BF", options("best-fit", gang::NewSlice::kOnlyIfNeeded)},
            std::pair{"MF", options("memory-fit", gang::NewSlice::kOnlyIfNeeded)},
            std::pair{"MF, new slice compared", options("memory-fit", gang::NewSlice::kAlwaysCompared)}};
        std::array<std::vector<Samples>, 3> used, done;
        for (std::size_t r = 0; r < rules.size(); ++r) {
            used[r].resize(until.size());
            done[r].resize(until.size());
            for (int seed = 1; seed <= effort().seeds; ++seed) {
                const MemoryRun run =
                    pack_memory(jann_workload(128, static_cast<std::int64_t>(until.back() / 100) + 200,
                                              static_cast<std::uint64_t>(seed)),
                                rules[r].second, until);
                for (std::size_t i = 0; i < until.size(); ++i) {
                    used[r][i].push_back(100 * run.utilization[i]);
                    done[r][i].push_back(run.completed[i]);
                }
            }
        }
        std::string csv =
            "# source: DaSilva2000, figures 5.5 and 5.6 (curves lost); 128 nodes of 512 MB\n"
            "# unit: per cent of memory in use since 0; jobs completed\n"
            "horizon_s,rule,memory_percent,memory_sd,completed,completed_sd\n";
        for (std::size_t i = 0; i < until.size(); ++i)
            for (std::size_t r = 0; r < rules.size(); ++r)
                csv += format("%.0f,\"%s\",%.2f,%.2f,%.1f,%.1f\n", until[i], rules[r].first, mean(used[r][i]),
                              deviation(used[r][i]), mean(done[r][i]), deviation(done[r][i]));
        add_table("figure_5_5_memory", csv);
        bool more_used = true, more_done = true;
        for (std::size_t i = 0; i < until.size(); ++i) {
            more_used = more_used && at_least(used[1][i], used[0][i]);
            more_done = more_done && at_least(done[1][i], done[0][i]);
        }
        add("C11", "Memory Fit against best fit with memory, 10,000 to 50,000 s",
            "MF uses more memory and completes more jobs",
            "at the last horizon: memory MF " + text_of(used[1].back(), 1) + " %, BF " + text_of(used[0].back(), 1) +
                " %; jobs MF " + text_of(done[1].back(), 1) + ", BF " + text_of(done[0].back(), 1) +
                "; with the new slice always compared " + text_of(used[2].back(), 1) + " %, " +
                text_of(done[2].back(), 1) + " jobs",
            {more_used, more_done}, {}, {},
            "jobs get one slice a period; the source does not state how long they stay");
    }
};

}  // namespace

Part dasilva_static_sets(const Effort& effort) {
    PackingFindings findings(effort);
    findings.static_claims();
    return findings.take();
}
Part dasilva_packing(const Effort& effort) {
    PackingFindings findings(effort);
    findings.packing();
    return findings.take();
}
Part dasilva_memory(const Effort& effort) {
    PackingFindings findings(effort);
    findings.memory();
    return findings.take();
}

}  // namespace zbs::claims
