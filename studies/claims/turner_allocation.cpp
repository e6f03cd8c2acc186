#include "studies/claims/turner_allocation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "studies/models/chart.hpp"

namespace zbs::claims {
namespace {

using formats::Chart;

constexpr std::array kShares{.1, .3, .5, .7, .9};
/// The two methods of the figures, on a cube of so many dimensions.
struct Methods {
    FreeListCubes fl;
    AuxiliaryFreeList afl;
    explicit Methods(int dimensions) : fl({.dimensions = dimensions}), afl({.dimensions = dimensions}) {}
};

MeshOutcome run(const std::vector<MeshJob>& jobs, const Allocator& allocator) {
    const Result<MeshOutcome> outcome = simulate_meshes(jobs, allocator);
    ZBS_EXPECTS(outcome.has_value());
    return *outcome;
}

std::vector<MeshJob> jobs_of(const MeshWorkload& workload) {
    Result<std::vector<MeshJob>> jobs = make_mesh_jobs(workload);
    ZBS_EXPECTS(jobs.has_value());
    return *std::move(jobs);
}

/// Points of one workload over loads.
struct Curve {
    std::string name;
    std::vector<double> loads;
    std::vector<Samples> fl_turnaround_s, afl_turnaround_s, fl_utilization, afl_utilization;
};

Curve curve(std::string name, MeshWorkload workload, int dimensions, const std::vector<double>& loads,
            const Effort& effort) {
    const Methods methods(dimensions);
    Curve out{.name = std::move(name), .loads = loads};
    workload.jobs = effort.scaled(400, 20);
    for (const double load : loads) {
        Samples fl_s, afl_s, fl_u, afl_u;
        for (int seed = 1; seed <= effort.seeds; ++seed) {
            workload.seed = static_cast<std::uint64_t>(seed);
            workload.load = load;
            const std::vector<MeshJob> jobs = jobs_of(workload);
            const MeshOutcome fl = run(jobs, methods.fl), afl = run(jobs, methods.afl);
            fl_s.push_back(fl.turnaround_s);
            afl_s.push_back(afl.turnaround_s);
            fl_u.push_back(fl.utilization);
            afl_u.push_back(afl.utilization);
        }
        out.fl_turnaround_s.push_back(fl_s);
        out.afl_turnaround_s.push_back(afl_s);
        out.fl_utilization.push_back(fl_u);
        out.afl_utilization.push_back(afl_u);
    }
    return out;
}

/// Table and two plots of a figure; like the source's, the plots end at 100 s.
std::vector<File> figure(const std::string& name, const std::string& title, const std::vector<Curve>& curves) {
    std::string table =
        "workload,load,fl_jtt_s,fl_jtt_sd,afl_jtt_s,afl_jtt_sd,fl_utilization_percent,afl_utilization_percent\n";
    Chart turnaround{.title = title + ": turnaround time", .x_label = "system load", .y_label = "JTT, s", .series = {}};
    Chart utilization{.title = title + ": utilisation", .x_label = "system load", .y_label = "%", .series = {}};
    for (const Curve& shown : curves) {
        for (const bool afl : {false, true}) {
            const std::string series = (afl ? "AFL " : "FL ") + shown.name;
            Chart::Series seconds{.name = series, .points = {}}, busy{.name = series, .points = {}};
            for (std::size_t i = 0; i < shown.loads.size(); ++i) {
                const double jtt = mean((afl ? shown.afl_turnaround_s : shown.fl_turnaround_s)[i]);
                if (jtt <= 100) seconds.points.emplace_back(shown.loads[i], jtt);
                busy.points.emplace_back(shown.loads[i],
                                         100 * mean((afl ? shown.afl_utilization : shown.fl_utilization)[i]));
            }
            turnaround.series.push_back(std::move(seconds));
            utilization.series.push_back(std::move(busy));
        }
        for (std::size_t i = 0; i < shown.loads.size(); ++i)
            table += shown.name + "," + number(shown.loads[i], 3) + "," + number(mean(shown.fl_turnaround_s[i])) + "," +
                     number(deviation(shown.fl_turnaround_s[i])) + "," + number(mean(shown.afl_turnaround_s[i])) + "," +
                     number(deviation(shown.afl_turnaround_s[i])) + "," +
                     number(100 * mean(shown.fl_utilization[i]), 1) + "," +
                     number(100 * mean(shown.afl_utilization[i]), 1) + "\n";
    }
    return {{name + ".csv", table},
            {name + "_jtt.svg", chart_svg(turnaround)},
            {name + "_utilization.svg", chart_svg(utilization)}};
}

void add(std::vector<File>& all, std::vector<File> more) { std::ranges::move(more, std::back_inserter(all)); }

std::string row(const std::string& name, const Saturation& s) {
    return name + "," + number(mean(s.fl_load), 3) + "," + number(deviation(s.fl_load), 3) + "," +
           number(100 * mean(s.fl_utilization), 1) + "," + number(100 * deviation(s.fl_utilization), 1) + "," +
           number(mean(s.afl_load), 3) + "," + number(deviation(s.afl_load), 3) + "," +
           number(100 * mean(s.afl_utilization), 1) + "," + number(100 * deviation(s.afl_utilization), 1) + "\n";
}
constexpr const char* kSaturationHeader =
    "workload,fl_load,fl_load_sd,fl_utilization_percent,fl_utilization_sd,afl_load,afl_load_sd,"
    "afl_utilization_percent,afl_utilization_sd\n";

/// Loads up to a little past saturation.
std::vector<double> loads_up_to(double most) {
    std::vector<double> loads;
    for (const double share : {.2, .4, .6, .7, .8, .9, 1.0}) loads.push_back(std::round(share * most * 1000) / 1000);
    return loads;
}

}  // namespace

Saturation saturation(MeshWorkload workload, int dimensions, const Effort& effort) {
    const Methods methods(dimensions);
    Saturation out;
    workload.load = 0;
    workload.jobs = effort.scaled(1000, 50);
    for (int seed = 1; seed <= effort.seeds; ++seed) {
        workload.seed = static_cast<std::uint64_t>(seed);
        const std::vector<MeshJob> jobs = jobs_of(workload);
        const MeshOutcome fl = run(jobs, methods.fl), afl = run(jobs, methods.afl);
        out.fl_load.push_back(fl.jobs_in_service);
        out.fl_utilization.push_back(fl.utilization_started);
        out.afl_load.push_back(afl.jobs_in_service);
        out.afl_utilization.push_back(afl.utilization_started);
    }
    return out;
}

Part turner_constant_workload(const Effort& effort) {
    Part part;
    std::string table = kSaturationHeader;
    const auto measure = [&](int dimensions, MeshWorkload::Service service) {
        const MeshWorkload workload{.kind = MeshWorkload::Kind::kConstant, .service = service};
        const Saturation found = saturation(workload, dimensions, effort);
        table += row(std::to_string(dimensions) + "-cube " +
                         (service == MeshWorkload::Service::kConstant ? "constant" : "exponential") + " service",
                     found);
        return found;
    };
    const Saturation exact = measure(6, MeshWorkload::Service::kConstant);
    for (const int dimensions : {5, 7, 8, 10}) measure(dimensions, MeshWorkload::Service::kConstant);
    measure(6, MeshWorkload::Service::kExponential);
    const Saturation as_said = measure(10, MeshWorkload::Service::kExponential);
    const auto claim = [&](const char* id, const char* what, const char* published, const Samples& load,
                           const Samples& busy, double expected_load, double expected_share) {
        part.claims.push_back(
            judged({.id = id,
                    .source = "Turner1995, fig 4.1",
                    .claim = what,
                    .published = published,
                    .ours = number(mean(load), 3) + ", " + number(100 * mean(busy), 1) + " %",
                    .spread = number(deviation(load), 3) + ", " + number(100 * deviation(busy), 1)},
                   {std::abs(mean(load) - expected_load) < 1e-9, std::abs(mean(busy) - expected_share) < 1e-9},
                   "on a 6-cube with constant service; the chapter names a 10-cube and exponential service"));
    };
    claim("AFL-4.1a", "constant workload, FL: load and utilisation at saturation", "2.0, 50 %", exact.fl_load,
          exact.fl_utilization, 2, .5);
    claim("AFL-4.1b", "constant workload, AFL: load and utilisation at saturation", "4.0, 100 %", exact.afl_load,
          exact.afl_utilization, 4, 1);
    const Samples gain = ratio(as_said.afl_load, as_said.fl_load);
    part.claims.push_back(
        judged({.id = "AFL-4.1c",
                .source = "Turner1995, fig 4.1 and set-up of chapter 4",
                .claim = "constant workload on the machine that the chapter names: AFL's load over FL's",
                .published = "2",
                .ours = number(mean(gain)),
                .spread = number(deviation(gain))},
               {mean(gain) >= 1.9, mean(gain) <= 2.1}, "10-cube, exponential service",
               {.name = "6-cube, constant service",
                .statement = "a small tenant keeps a large host from becoming whole again; where all jobs end together "
                             "on the smallest cube that has both, the published quotient comes out",
                .evaluate = [&exact] {
                    const double quotient = mean(ratio(exact.afl_load, exact.fl_load));
                    return Evidence{number(quotient), std::abs(quotient - 2) <= .1};
                }}));
    part.files.push_back({"saturation_constant.csv", table});
    const MeshWorkload workload{.kind = MeshWorkload::Kind::kConstant, .service = MeshWorkload::Service::kConstant};
    const Curve shown = curve("6-cube", workload, 6, {.5, 1, 1.5, 1.8, 2, 2.5, 3, 3.5, 3.8, 4}, effort);
    add(part.files, figure("figure_4_01", "Figure 4.1, 4x6 and 4x2", {shown}));
    // Meshes have 16 nodes on average, the machine 64; FL is stable below a load of 2, AFL below 4.
    double worst = 0, spread = 0;
    const auto compare = [&](double load, const Samples& utilization) {
        Samples over = utilization;
        for (double& value : over) value /= load * 16 / 64;
        if (std::abs(mean(over) - 1) <= std::abs(worst)) return;
        worst = mean(over) - 1;
        spread = deviation(over);
    };
    for (std::size_t i = 0; i < shown.loads.size(); ++i) {
        if (shown.loads[i] < 2) compare(shown.loads[i], shown.fl_utilization[i]);
        if (shown.loads[i] < 4) compare(shown.loads[i], shown.afl_utilization[i]);
    }
    part.claims.push_back(judged(
        {.id = "AFL-12",
         .source = "Turner1995, section 4.1 (follows from it)",
         .claim = "utilisation at every stable load is load x mean size / nodes: largest difference",
         .published = "0 %",
         .ours = number(100 * worst, 1) + " %",
         .spread = number(100 * spread, 1) + " points"},
        std::abs(worst) <= .05, "within 5 %: the arrivals of a run come to another load than the one drawn from"));
    return part;
}

Part turner_uniform_workloads(const Effort& effort) {
    Part part;
    std::string table = kSaturationHeader;
    int figure_number = 2;
    for (const std::int32_t most : {16, 32}) {
        for (const bool square : {true, false}) {
            const MeshWorkload workload{.intervals = {{1, most, 1}}, .square = square};
            const std::string name = "[1;" + std::to_string(most) + "] " + (square ? "square" : "rectangular");
            const Saturation found = saturation(workload, 10, effort);
            table += row(name, found);
            const Samples gain = ratio(found.afl_load, found.fl_load);
            const double g = mean(gain);
            const std::string figure_name = "4." + std::to_string(figure_number);
            const bool about_equal = most == 16;
            part.claims.push_back(
                judged({.id = "AFL-" + figure_name,
                        .source = "Turner1995, fig " + figure_name,
                        .claim = "sides " + name + ": AFL " + (about_equal ? "and FL about equal" : "slightly better") +
                                 " (ratio of saturation loads)",
                        .published = about_equal ? "about 1" : "above 1",
                        .ours = number(g, 3),
                        .spread = number(deviation(gain), 3)},
                       about_equal ? std::abs(g - 1) <= .05 : g > 1, about_equal ? "within 5 %" : ""));
            add(part.files, figure("figure_4_0" + std::to_string(figure_number), "Figure " + figure_name + ", " + name,
                                   {curve(name, workload, 10,
                                          loads_up_to(std::max(mean(found.fl_load), mean(found.afl_load))), effort)}));
            ++figure_number;
        }
    }
    part.files.push_back({"saturation_uniform.csv", table});
    return part;
}

Part turner_interval_workloads(const Effort& effort) {
    struct Pair {
        std::int32_t small, least;
        auto operator<=>(const Pair&) const = default;
    };
    Part part;
    std::string table = kSaturationHeader;
    std::map<Pair, std::array<Saturation, kShares.size()>> cells;
    std::vector<Pair> order;
    for (const std::int32_t least : {9, 17, 20, 25, 28, 30}) order.push_back({8, least});
    for (const std::int32_t least : {17, 20, 25, 28, 30}) order.push_back({16, least});
    const auto name_of = [](const Pair& pair) {
        return "[1;" + std::to_string(pair.small) + "]/[" + std::to_string(pair.least) + ";32]";
    };
    int figure_number = 6;
    for (const Pair& pair : order) {
        std::vector<Curve> few, many;
        for (std::size_t a = 0; a < kShares.size(); ++a) {
            const double share = kShares[a];
            const MeshWorkload workload{.intervals = {{1, pair.small, share}, {pair.least, 32, 1 - share}}};
            const Saturation& found = cells[pair][a] = saturation(workload, 10, effort);
            const std::string name = name_of(pair) + " A=" + number(share, 1);
            table += row(name, found);
            (a < 2 ? few : many)
                .push_back(curve("A=" + number(share, 1), workload, 10,
                                 loads_up_to(std::max(mean(found.fl_load), mean(found.afl_load))), effort));
        }
        for (const std::vector<Curve>* curves : {&few, &many}) {
            const std::string digits = (figure_number < 10 ? "0" : "") + std::to_string(figure_number);
            add(part.files, figure("figure_4_" + digits,
                                   "Figure 4." + std::to_string(figure_number) + ", " + name_of(pair), *curves));
            ++figure_number;
        }
    }
    part.files.push_back({"saturation_intervals.csv", table});

    // AFL above FL, row by row.
    int first_figure = 6;
    for (const Pair& pair : order) {
        double least_gain = 1e9, most_gain = 0, least_points = 1e9, spread = 0;
        for (const Saturation& cell : cells[pair]) {
            const Samples gain = ratio(cell.afl_load, cell.fl_load);
            least_gain = std::min(least_gain, mean(gain));
            most_gain = std::max(most_gain, mean(gain));
            spread = std::max(spread, deviation(gain));
            least_points = std::min(least_points, 100 * mean(difference(cell.afl_utilization, cell.fl_utilization)));
        }
        const std::string figures = "4." + std::to_string(first_figure) + "-4." + std::to_string(first_figure + 1);
        const std::string remark =
            pair == Pair{16, 25} ? "the third series of these figures, \"RAFL\", is explained nowhere and is left out"
                                 : "";
        part.claims.push_back(judged({.id = "AFL-" + figures,
                                      .source = "Turner1995, figs " + figures,
                                      .claim = name_of(pair) + ": AFL better than FL at every A",
                                      .published = "load and utilisation above FL's",
                                      .ours = "load x" + number(least_gain) + " to x" + number(most_gain) +
                                              ", utilisation at least +" + number(least_points, 1) + " points",
                                      .spread = "x" + number(spread)},
                                     {least_gain > 1, least_points > 0}, remark));
        first_figure += 2;
    }

    // Trends over A, over the lower limit, and over the small interval: counted over all steps between neighbours.
    struct Count {
        int agree = 0, all = 0;
        double worst = 1e9, spread = 0;
        /// `step`: by how much each seed goes the published way.
        void step(const Samples& step) {
            ++all;
            if (mean(step) > 0) ++agree;
            if (mean(step) < worst) {
                worst = mean(step);
                spread = deviation(step);
            }
        }
    };
    const auto trend = [&](const char* id, const char* figures, const char* claim, const Count& count, const char* unit,
                           const Reason& reason = {}) {
        // A step of twice its standard error or less could be one of these seeds alone.
        const bool clear = std::abs(count.worst) > 2 * count.spread / std::sqrt(static_cast<double>(effort.seeds));
        part.claims.push_back(judged({.id = id,
                                      .source = std::string("Turner1995, ") + figures,
                                      .claim = claim,
                                      .published = "every step",
                                      .ours = std::to_string(count.agree) + " of " + std::to_string(count.all) +
                                              " steps; worst step " + number(count.worst, 3) + unit,
                                      .spread = number(count.spread, 3)},
                                     count.agree == count.all,
                                     clear ? "" : "the smallest step is within twice its standard error", reason));
    };
    Count falls, falls_fl, rises_load, with_limit, jtt_with_limit, worse_16, gap_16, more_used_fl, more_used_afl;
    const auto scaled = [](Samples samples) {
        for (double& sample : samples) sample *= 100;
        return samples;
    };
    for (const Pair& pair : order) {
        for (std::size_t a = 0; a < kShares.size(); ++a) {
            const Saturation& cell = cells[pair][a];
            if (a > 0) {
                const Saturation& before = cells[pair][a - 1];
                rises_load.step(difference(cell.afl_load, before.afl_load));
                rises_load.step(difference(cell.fl_load, before.fl_load));
                if (kShares[a] < .8) {
                    falls.step(scaled(difference(before.afl_utilization, cell.afl_utilization)));
                    falls_fl.step(scaled(difference(before.fl_utilization, cell.fl_utilization)));
                }
            }
            const auto next = std::ranges::find(order, pair) + 1;
            if (pair.least >= 17 && next != order.end() && next->small == pair.small) {
                const Saturation& after = cells[*next][a];
                with_limit.step(scaled(difference(after.afl_utilization, cell.afl_utilization)));
                with_limit.step(scaled(difference(after.fl_utilization, cell.fl_utilization)));
                jtt_with_limit.step(difference(after.afl_load, cell.afl_load));
            }
            if (pair.small == 16) {
                const Saturation& with_8 = cells[{8, pair.least}][a];
                worse_16.step(difference(with_8.afl_load, cell.afl_load));
                more_used_fl.step(scaled(difference(cell.fl_utilization, with_8.fl_utilization)));
                more_used_afl.step(scaled(difference(cell.afl_utilization, with_8.afl_utilization)));
                if (a > 0)
                    gap_16.step(
                        difference(difference(with_8.afl_load, cell.afl_load),
                                   difference(cells[{8, pair.least}][a - 1].afl_load, cells[pair][a - 1].afl_load)));
            }
        }
    }
    trend("AFL-A-load", "figs 4.6-4.27", "turnaround time falls (saturation load rises) as A rises, both methods",
          rises_load, "");
    trend("AFL-A-use", "figs 4.6-4.27", "AFL's utilisation falls as A rises from .1 to .7", falls, " points");
    trend("FL-A-use", "figs 4.6-4.27", "FL's utilisation falls as A rises from .1 to .7", falls_fl, " points");
    trend("AFL-limit-use", "figs 4.8-4.27", "utilisation rises with the lower limit of the large interval from 17 on",
          with_limit, " points");
    trend("AFL-limit-jtt", "figs 4.8-4.27", "turnaround time improves (AFL's load rises) with the lower limit",
          jtt_with_limit, "",
          {.name = "processors instead of jobs",
           .statement = "larger jobs leave less room, so the load in jobs falls; counted in processors in use it rises",
           .evaluate = [&with_limit] {
               return Evidence{std::to_string(with_limit.agree) + " of " + std::to_string(with_limit.all) + " steps",
                               with_limit.agree == with_limit.all};
           }});
    trend("AFL-16-jtt", "figs 4.18-4.27", "sides of small jobs up to 16 instead of 8: turnaround time up (load down)",
          worse_16, "");
    trend("AFL-16-gap", "figs 4.18-4.27", "that difference grows with A", gap_16, "");
    trend("FL-16-use", "figs 4.18-4.27", "sides of small jobs up to 16 instead of 8: FL's utilisation up", more_used_fl,
          " points");
    trend("AFL-16-use", "figs 4.18-4.27", "sides of small jobs up to 16 instead of 8: AFL's utilisation up",
          more_used_afl, " points");

    // Plain FL does not see the lower limit: every large job reserves the whole cube.
    bool same = true;
    for (const std::int32_t small : {8, 16})
        for (const std::int32_t least : {20, 25, 28, 30})
            for (std::size_t a = 0; a < kShares.size(); ++a)
                same = same && cells[{small, least}][a].fl_load == cells[{small, 17}][a].fl_load;
    part.claims.push_back(
        judged({.id = "FL-limit-same",
                .source = "Turner1995, set-up of chapter 4 (follows from it)",
                .claim = "FL's schedule is the same for all large intervals from 17 on, given the same streams",
                .published = "equal",
                .ours = same ? "equal in all 40 cells and seeds" : "differs",
                .spread = "0"},
               same));
    const struct {
        Pair pair;
        std::size_t share;
        double afl, fl;
        const char *published, *id;
    } readings[] = {{{8, 30}, 0, 80, 80, "above 80, near 80 %", "AFL-read-30a"},
                    {{8, 30}, 1, 80, 70, "just under 80, about 70 %", "AFL-read-30b"},
                    {{8, 28}, 1, 75, 65, "mid 70s, mid 60s %", "AFL-read-28"},
                    {{8, 25}, 2, 60, 50, "near 60, near 50 %", "AFL-read-25"}};
    for (const auto& reading : readings) {
        const Saturation& cell = cells[reading.pair][reading.share];
        const double afl = 100 * mean(cell.afl_utilization), fl = 100 * mean(cell.fl_utilization);
        part.claims.push_back(judged({.id = reading.id,
                                      .source = "Turner1995, figs 4.10-4.17",
                                      .claim = name_of(reading.pair) + " A=" + number(kShares[reading.share], 1) +
                                               ": plateaus of utilisation, AFL and FL (read off markers, +-10 points)",
                                      .published = reading.published,
                                      .ours = number(afl, 1) + " and " + number(fl, 1) + " %",
                                      .spread = number(100 * deviation(cell.afl_utilization), 1) + ", " +
                                                number(100 * deviation(cell.fl_utilization), 1)},
                                     {std::abs(afl - reading.afl) <= 10, std::abs(fl - reading.fl) <= 10},
                                     "the curves cannot be read better than that"));
    }
    return part;
}

}  // namespace zbs::claims
