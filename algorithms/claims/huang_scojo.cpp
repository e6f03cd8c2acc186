#include "algorithms/claims/huang_scojo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "algorithms/base/rng.hpp"
#include "algorithms/claims/samples.hpp"
#include "algorithms/directory/directory.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/policy/scojo.hpp"
#include "algorithms/sim/workload_simulation.hpp"

namespace zbs::claims {
namespace {

using std::chrono::seconds;

constexpr std::int32_t kProcessors = 12;  // of the source's machine
constexpr const char* kTests = "tests/unit/policy/scojo_test.cpp#";
constexpr const char* kCaseTests = "tests/golden/Huang2004/scojo_cases_test.cpp#";

Time at(double time_s) { return Time{seconds_to_duration(time_s)}; }

std::int32_t program(std::string_view name) {
    const auto names = CoschedulingModel::application_names();
    const auto found = std::ranges::find(names, name);
    ZBS_EXPECTS(found != names.end());
    return static_cast<std::int32_t>(found - names.begin());
}

SimulationOutcome run(const Workload& workload, const PolicyOptions& options, const CoschedulingModel& truth) {
    const Result<std::unique_ptr<Policy>> policy = make_policy("scojo", options);
    ZBS_EXPECTS(policy.has_value());
    Result<SimulationOutcome> outcome = simulate(workload, **policy, {.coscheduling = truth});
    ZBS_EXPECTS(outcome.has_value());
    return *std::move(outcome);
}

// -- Worked example --------------------------------------------------------------------------------------------------

Claim exact(const char* id, const char* place, const char* claim, std::string published, std::string ours,
            const char* test) {
    return {.id = id,
            .source = std::string("Huang2004, ") + place,
            .claim = claim,
            .published = std::move(published),
            .ours = std::move(ours),
            .spread = "exact",
            .test = std::string(kTests) + test};
}

Claim effective_share() {
    const double share = Scojo::effective_share(40, 1.2);
    return judged(exact("scojo-T1a", "section 5.5", "effective share of 40 % beside a slowdown of 1.2", "48 %",
                        number(share, 6) + " %", "ScojoEstimator.EffectiveShareIsTheRequestTimesTheSlowdown"),
                  std::abs(share - 48) < 1e-9);
}

Claim measured_pairs() {
    struct Pair {
        const char *victim, *partner;
        double published;
    };
    std::string published, ours;
    bool equal = true;
    for (const Pair& pair : {Pair{"grid-1200", "central", 1.1}, Pair{"central", "grid-1200", 1.7},
                             Pair{"grid-1200", "grid-2400", 1.4}, Pair{"stream", "stream", 0.8}}) {
        const double found = CoschedulingModel::by_application().slowdown(
            program(pair.victim), std::vector<std::int32_t>{program(pair.partner)});
        const std::string name = std::string(pair.victim) + " beside " + pair.partner + " ";
        published += (published.empty() ? "" : ", ") + name + number(pair.published, 1);
        ours += (ours.empty() ? "" : ", ") + number(found, 1);
        equal = equal && found == pair.published;
    }
    return judged(
        exact("scojo-T1b", "table 5-2", "measured slowdowns", published, ours, "ScojoEstimator.MeasuredPairs"), equal);
}

/// When a job of the example ran in print, seconds.
struct Printed {
    int job, start, finish;
    bool promoted;  ///< 20 % became 40 % when a senior job had left
};
constexpr std::array kPrinted{Printed{1, 1, 868, false},   Printed{2, 31, 224, false},  Printed{3, 61, 443, false},
                              Printed{4, 224, 290, false}, Printed{5, 290, 355, false}, Printed{6, 443, 476, false},
                              Printed{7, 492, 603, true},  Printed{8, 443, 492, true},  Printed{9, 517, 746, true},
                              Printed{10, 476, 517, true}};

/// Work that the rate law gives to each printed job up to its printed end: share / slowdown of every second, shares
/// 40, 40 and 20 % by seniority. Seconds, by job.
std::vector<double> replayed_work(const Workload& jobs) {
    const CoschedulingModel law = CoschedulingModel::by_count({1.0, 1.2, 1.3});
    std::vector<double> work(13, 0);
    for (int t = 0; t < 868; ++t) {
        std::vector<const Printed*> running;
        for (const Printed& row : kPrinted)
            if (row.start <= t && t < row.finish) running.push_back(&row);
        std::ranges::stable_sort(running, {}, [](const Printed* row) { return row->start; });
        for (std::size_t place = 0; place < running.size(); ++place) {
            const Job& asked = jobs.jobs[static_cast<std::size_t>(running[place]->job) - 1].job;
            const bool senior = place < 2 && (running[place]->promoted || asked.least_share == asked.most_share);
            double share = senior && asked.most_share == 40 ? 0.4 : 0.2;
            if (running.size() == 1) share = 1;
            work[static_cast<std::size_t>(running[place]->job)] +=
                share / law.slowdown(-1, std::vector<std::int32_t>(running.size() - 1, -1));
        }
    }
    return work;
}

Claim rate_law() {
    const Workload jobs = scojo_table_5_1();
    const std::vector<double> work = replayed_work(jobs);
    std::string published, ours;
    bool within = true;
    for (const std::size_t job : {2, 3, 4, 5, 6, 7, 8, 10}) {
        const double runtime = to_seconds(jobs.jobs[job - 1].runtime);
        published += (published.empty() ? "" : ", ") + number(runtime, 0);
        ours += (ours.empty() ? "" : ", ") + number(work[job], 2);
        within = within && std::abs(work[job] - runtime) <= 2;
    }
    return judged(exact("scojo-T9b", "table 5-1",
                        "run times of jobs 2-8 and 10 follow from the printed starts and ends by the rate law, s",
                        published, ours, "ScojoTable51.RateLawGivesThePrintedExecutionTimes"),
                  within,
                  "within 2 s; job 3 held at 20 % throughout; jobs 1 (" + number(work[1], 1) + " of 300 s) and 9 (" +
                      number(work[9], 1) + " of 30 s) do not follow the law in print");
}

std::string order_of_starts(const SimulationOutcome& outcome) {
    std::vector<std::size_t> order(outcome.start.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t job) { return outcome.start[job]; });
    std::string text;
    for (const std::size_t job : order) text += (text.empty() ? "" : " ") + std::to_string(job + 1);
    return text;
}

int most_at_once(const SimulationOutcome& outcome) {
    int most = 0;
    for (const Time now : outcome.start) {
        int running = 0;
        for (std::size_t i = 0; i < outcome.start.size(); ++i)
            running += outcome.start[i] <= now && now < outcome.end[i] ? 1 : 0;
        most = std::max(most, running);
    }
    return most;
}

// -- Cases -----------------------------------------------------------------------------------------------------------

/// Of a schedule: times in seconds. Relative response is response over the time from start to end: so read, the printed
/// times of table 5-1 come to 3.3, next to case 3's 3.7; over the run time alone they come to 14.9.
struct Measures {
    double response, relative, over_runtime, total;
};

Measures measures_of(const Workload& workload, const SimulationOutcome& outcome) {
    Measures sum{0, 0, 0, 0};
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const double response = to_seconds(outcome.end[i] - workload.jobs[i].job.submit);
        sum.response += response;
        sum.relative += response / to_seconds(outcome.end[i] - outcome.start[i]);
        sum.over_runtime += response / to_seconds(workload.jobs[i].runtime);
    }
    const auto jobs = static_cast<double>(workload.jobs.size());
    return {sum.response / jobs, sum.relative / jobs, sum.over_runtime / jobs,
            to_seconds(std::ranges::max(outcome.end) - std::ranges::min(outcome.start))};
}

struct Strategy {
    std::string_view name;
    PolicyOptions options;
};
/// The four of cases 1 and 2, each with its class bounds and estimator.
std::vector<Strategy> strategies(int number) {
    const std::string classes = number == 1 ? "90s,300s,600s" : "10s,30s,60s";
    const PolicyOptions base{{"classes", classes},
                             {"share", "50"},
                             {"longest-together", "1"},
                             {"estimator", number == 1 ? "application" : "count"},
                             {"factors", "1,1.2"}};
    const auto with = [&base](std::initializer_list<std::pair<std::string, std::string>> more) {
        PolicyOptions options = base;
        options.insert(options.end(), more.begin(), more.end());
        return options;
    };
    return {{"FCFS", with({{"level", "1"}, {"order", "fcfs"}, {"backfill", "false"}})},
            {"Pri", with({{"level", "1"}, {"backfill", "false"}})},
            {"PriCo", with({{"level", "2"}, {"backfill", "false"}})},
            {"PriCoB", with({{"level", "2"}})}};
}
CoschedulingModel truth_of(int number) {
    if (number == 1) return CoschedulingModel::by_application();
    return CoschedulingModel::by_count(number == 2 ? std::vector<double>{1.0, 1.2}
                                                   : std::vector<double>{1.0, 1.2, 1.3});
}

/// Each measure over the seeds.
struct Found {
    Samples response, relative, over_runtime, total;
    void add(const Measures& measures) {
        response.push_back(measures.response);
        relative.push_back(measures.relative);
        over_runtime.push_back(measures.over_runtime);
        total.push_back(measures.total);
    }
};

/// By how much `ours` differs from `base`, per cent.
Samples change(const Samples& ours, const Samples& base) {
    Samples result = ratio(ours, base);
    for (double& value : result) value = 100 * (value - 1);
    return result;
}

Claim drawn(std::string id, std::string claim, std::string published, std::string ours, std::string spread,
            const char* test, const char* place = "section 5.6") {
    return {.id = std::move(id),
            .source = std::string("Huang2004, ") + place,
            .claim = std::move(claim),
            .published = std::move(published),
            .ours = std::move(ours),
            .spread = std::move(spread),
            .test = std::string(kCaseTests) + test};
}

struct PublishedCase {
    int number;
    double unit_s;  ///< of the printed response
    const char* unit;
    double fcfs_response, scojo_response, fcfs_relative, scojo_relative, fcfs_total_s, scojo_total_s;
};
constexpr std::array kPublishedCases{PublishedCase{1, 60, "min", 42.08, 25.57, 14.47, 3.22, 3.57 * 3600, 4.48 * 3600},
                                     PublishedCase{2, 60, "min", 5.57, 3.27, 12.64, 1.78, 45 * 60, 55 * 60}};

std::string percent(double value) { return (value > 0 ? "+" : "") + number(value, 1) + " %"; }

void judge_measure(Part& part, const PublishedCase& published, const char* what, const char* suffix, double fcfs,
                   double scojo, const Samples& ours_fcfs, const Samples& ours_scojo, double unit,
                   const char* unit_name, double tolerance, const char* reason) {
    const Samples by = change(ours_scojo, ours_fcfs);
    const double wanted = 100 * (scojo / fcfs - 1);
    const auto value = [&](double x) { return number(x / unit, 2); };
    part.claims.push_back(judged(
        drawn("scojo-T11-case" + std::to_string(published.number) + suffix,
              "case " + std::to_string(published.number) + ": " + what + " of FCFS and of SCOJO (PriCoB)",
              value(fcfs) + " and " + value(scojo) + " " + unit_name + " (" + percent(wanted) + ")",
              value(mean(ours_fcfs)) + " and " + value(mean(ours_scojo)) + " " + unit_name + " (" + percent(mean(by)) +
                  ")",
              value(deviation(ours_fcfs)) + " and " + value(deviation(ours_scojo)) + " " + unit_name + " (" +
                  number(deviation(by), 1) + " points)",
              "ScojoCases.CoschedulingBeatsFcfsAndKeepsUpWithPriority"),
        std::abs(mean(by) - wanted) <= tolerance, "the change is within " + number(tolerance, 0) + " points", reason));
}

constexpr const char* kOrderReason =
    "the order of submissions within the class mix is not published; ours is drawn, and with it how far the queue is "
    "behind when short jobs come";

void judge_case(Part& part, const PublishedCase& published, const Effort& effort) {
    std::map<std::string_view, Found> found;
    Samples serial;
    for (int seed = 1; seed <= effort.seeds; ++seed) {
        const Workload workload = scojo_case(published.number, static_cast<std::uint64_t>(seed));
        double work = 0;
        for (const WorkloadJob& job : workload.jobs) work += to_seconds(job.runtime);
        serial.push_back(work);
        for (const Strategy& strategy : strategies(published.number))
            found[strategy.name].add(
                measures_of(workload, run(workload, strategy.options, truth_of(published.number))));
    }
    const Found &fcfs = found.at("FCFS"), &pri = found.at("Pri"), &prico = found.at("PriCo"),
                &scojo = found.at("PriCoB");
    const std::string name = "case " + std::to_string(published.number);
    const auto four = [&](auto of, double unit, int decimals) {
        std::string means, spreads;
        for (const Found* each : {&fcfs, &pri, &prico, &scojo}) {
            means += (means.empty() ? "" : ", ") + number(mean(of(*each)) / unit, decimals);
            spreads += (spreads.empty() ? "" : ", ") + number(deviation(of(*each)) / unit, decimals);
        }
        return std::pair(means, spreads);
    };
    const auto response = four([](const Found& f) { return f.response; }, published.unit_s, 2);
    const auto relative = four([](const Found& f) { return f.relative; }, 1, 2);
    const auto over_runtime = four([](const Found& f) { return f.over_runtime; }, 1, 2);
    const auto beats_both = [&](Samples Found::*of) {
        return clearly_more(fcfs.*of, scojo.*of) && clearly_more(pri.*of, scojo.*of);
    };
    constexpr const char* kBest = "ScojoCases.CoschedulingBeatsFcfsAndKeepsUpWithPriority";
    const std::string id = "scojo-T11-case" + std::to_string(published.number);
    part.claims.push_back(judged(
        drawn(id + "-best-response", name + ": mean response of FCFS, Pri, PriCo, PriCoB: the last beats the first two",
              "PriCoB best of four (figure lost)", response.first + " " + published.unit, response.second, kBest),
        beats_both(&Found::response), "",
        "Pri is better by a little: together jobs do less work than one after the other, and this case is "
        "always behind with its work"));
    part.claims.push_back(judged(
        drawn(id + "-best-relative",
              name + ": mean relative response of FCFS, Pri, PriCo, PriCoB: the last beats the first two",
              "PriCoB best of four (figure lost)", relative.first + "; over the run time " + over_runtime.first,
              relative.second + "; " + over_runtime.second, kBest),
        beats_both(&Found::relative), "response over the time from start to end: see scojo-T11-relative-meaning"));
    part.claims.push_back(judged(
        drawn(id + "-backfilling", name + ": backfilling improves PriCo, on both measures",
              "PriCoB better than PriCo (figure lost)",
              "response " + percent(mean(change(scojo.response, prico.response))) + ", relative " +
                  percent(mean(change(scojo.relative, prico.relative))),
              number(deviation(change(scojo.response, prico.response)), 1) + ", " +
                  number(deviation(change(scojo.relative, prico.relative)), 1) + " points",
              kBest),
        clearly_more(prico.response, scojo.response) && clearly_more(prico.relative, scojo.relative), "",
        "all ask for the same share here, so a later job seldom fits where the first of the queue does not, and a "
        "higher class goes ahead by priority alone"));
    judge_measure(part, published, "mean response", "-response", published.fcfs_response * published.unit_s,
                  published.scojo_response * published.unit_s, fcfs.response, scojo.response, published.unit_s,
                  published.unit, 15, kOrderReason);
    judge_measure(part, published, "mean relative response", "-relative", published.fcfs_relative,
                  published.scojo_relative, fcfs.relative, scojo.relative, 1, "", 15, kOrderReason);
    judge_measure(part, published, "total execution time", "-total", published.fcfs_total_s, published.scojo_total_s,
                  fcfs.total, scojo.total, 60, "min", 10,
                  "a job alone has the whole machine and is not slowed down, and with one long job at a time jobs are "
                  "alone more often");
    if (published.number == 1)
        part.claims.push_back(judged(
            drawn("scojo-T11-case1-prico", name + ": PriCo is worse than Pri: shares left over without backfilling",
                  "PriCo above Pri",
                  "response Pri " + number(mean(pri.response) / 60) + ", PriCo " + number(mean(prico.response) / 60) +
                      " min; relative " + number(mean(pri.relative)) + ", " + number(mean(prico.relative)),
                  number(deviation(difference(prico.response, pri.response)) / 60) + " min; " +
                      number(deviation(difference(prico.relative, pri.relative))) + " (paired)",
                  "ScojoCases.CoschedulingBeatsFcfsAndKeepsUpWithPriority"),
            clearly_more(prico.response, pri.response) && clearly_more(prico.relative, pri.relative), "",
            "a job alone expands to the whole machine at once, and so do we: little share is left over; a second long "
            "job "
            "never joins the first"));
    else
        part.claims.push_back(judged(
            drawn("scojo-T11-case2-serial", name + ": total of PriCoB is the serial work times the slowdown of 1.2",
                  "55 min against 46.3 x 1.2 = 55.6",
                  number(mean(scojo.total) / 60, 1) + " min against " + number(mean(serial) / 60 * 1.2, 1),
                  number(deviation(scojo.total) / 60, 1) + " min",
                  "ScojoCases.CoschedulingBeatsFcfsAndKeepsUpWithPriority"),
            std::abs(mean(scojo.total) / (1.2 * mean(serial)) - 1) <= .05, "within 5 %",
            "a job alone is not slowed down, and with one long job at a time jobs are alone more often"));
}

void judge_levels(Part& part, const Effort& effort) {
    Found two, three, expanded;
    for (int seed = 1; seed <= effort.seeds; ++seed) {
        const Workload workload = scojo_case(3, static_cast<std::uint64_t>(seed));
        // With two jobs each has 40 %; three share 40, 40 and 20 %.
        Workload fixed = workload;
        for (WorkloadJob& job : fixed.jobs) job.job.least_share = job.job.most_share;
        two.add(measures_of(fixed, run(fixed, {{"level", "2"}, {"longest-together", "1"}}, truth_of(3))));
        expanded.add(measures_of(
            fixed, run(fixed, {{"level", "2"}, {"longest-together", "1"}, {"expand", "all"}}, truth_of(3))));
        three.add(measures_of(workload, run(workload, {{"level", "3"}, {"longest-together", "1"}}, truth_of(3))));
    }
    struct Row {
        const char *id, *what;
        double c2, c3;
        const Samples &two, &three, &expanded;
        double unit;
    };
    for (const Row& row : {Row{"scojo-T12-response", "mean response, min", 8.49, 6.07, two.response, three.response,
                               expanded.response, 60},
                           Row{"scojo-T12-relative", "mean relative response", 8.39, 3.73, two.relative, three.relative,
                               expanded.relative, 1}}) {
        const Samples by = change(row.three, row.two), against_expanded = change(row.three, row.expanded);
        const double wanted = 100 * (row.c3 / row.c2 - 1);
        part.claims.push_back(judged(
            drawn(row.id, std::string("case 3: three jobs at once (C3) beat two (C2), ") + row.what,
                  number(row.c2) + " and " + number(row.c3) + " (" + percent(wanted) + ")",
                  number(mean(row.two) / row.unit) + " and " + number(mean(row.three) / row.unit) + " (" +
                      percent(mean(by)) + "); C2 with shares expanded to 50 % each " +
                      number(mean(row.expanded) / row.unit) + ", against that " + percent(mean(against_expanded)),
                  number(deviation(row.two) / row.unit) + ", " + number(deviation(row.three) / row.unit) + " (" +
                      number(deviation(by), 1) + " points), " + number(deviation(row.expanded) / row.unit),
                  "ScojoCases.ThreeAtOnceBeatTwo"),
            mean(by) < 0 && clearly_more(row.two, row.three) && std::abs(mean(by) - wanted) <= 15,
            "within 15 points; much of the gain is the 20 % that two fixed shares of 40 % leave unused",
            clearly_more(row.two, row.three) ? "three at once win by less: in the pattern of table 5-1 the queue is "
                                               "empty before the next long job comes, and "
                                               "a job alone has the whole machine"
                                             : "two at once are as good in our streams"));
    }
}

}  // namespace

Workload scojo_table_5_1() {
    struct Row {
        int submit, runtime, least, most;
    };
    constexpr std::array kRows{Row{0, 300, 40, 40},  Row{30, 60, 40, 40},  Row{60, 60, 20, 40},   Row{90, 10, 20, 20},
                               Row{120, 10, 20, 20}, Row{150, 10, 40, 40}, Row{180, 30, 20, 40},  Row{210, 10, 20, 40},
                               Row{240, 30, 20, 40}, Row{270, 10, 20, 40}, Row{850, 300, 40, 40}, Row{880, 60, 40, 40}};
    Workload jobs{.name = "table 5-1", .processors = kProcessors, .jobs = {}};
    for (const Row& row : kRows) {
        Job job{.id = JobId{static_cast<std::int64_t>(jobs.jobs.size()) + 1},
                .submit = at(row.submit),
                .walltime = seconds{row.runtime},
                .processors = kProcessors,
                .least_share = static_cast<std::int8_t>(row.least),
                .most_share = static_cast<std::int8_t>(row.most)};
        if (job.id.value == 11) job.start_at = at(861);
        jobs.jobs.push_back({job, seconds{row.runtime}});
    }
    return jobs;
}

Workload scojo_case(int number, std::uint64_t seed) {
    ZBS_EXPECTS(number >= 1 && number <= 3);
    struct Class {
        int jobs;
        double least_s, most_s;
        std::array<const char*, 2> programs;
    };
    static constexpr std::array kCase1{
        Class{4, 1800, 1800, {"grid-2400", "grid-2400"}}, Class{4, 480, 600, {"random", "grid-300"}},
        Class{6, 180, 300, {"grid-300", "central"}}, Class{22, 60, 90, {"grid-1200", "stream"}}};
    static constexpr std::array kCase2{Class{6, 300, 300, {}}, Class{8, 60, 60, {}}, Class{12, 30, 30, {}},
                                       Class{14, 10, 10, {}}};
    static constexpr std::array kCase3{Class{4, 300, 300, {}}, Class{8, 60, 60, {}}, Class{8, 30, 30, {}},
                                       Class{20, 10, 10, {}}};
    const auto& classes = number == 1 ? kCase1 : number == 2 ? kCase2 : kCase3;
    Rng rng(seed);
    const auto job_of = [&](const Class& of, int which) {
        const double runtime_s = of.least_s + (of.most_s - of.least_s) * rng.uniform();
        Job job{.walltime = seconds_to_duration(runtime_s), .processors = kProcessors};
        if (of.programs[0] != nullptr) job.application = program(of.programs[static_cast<std::size_t>(which % 2)]);
        if (number == 3) {
            job.least_share = 20;
            job.most_share = 40;
        }
        return job;
    };
    std::vector<Job> longs, mediums, others;
    for (std::size_t c = 0; c < classes.size(); ++c)
        for (int i = 0; i < classes[c].jobs; ++i)
            (c == 0 ? longs : c == 1 && number == 3 ? mediums : others).push_back(job_of(classes[c], i));
    rng.shuffle(others);
    std::vector<Job> jobs;
    const auto submit = [&jobs](Job job, double time_s) {
        job.submit = at(time_s);
        jobs.push_back(job);
    };
    if (number == 3) {
        // As in table 5-1: 14 min 10 s from long job to long job, then two mediums and the others, every 30 s.
        for (std::size_t period = 0; period < longs.size(); ++period) {
            double time_s = 850.0 * static_cast<double>(period);
            submit(longs[period], time_s);
            for (std::size_t i = 0; i < 2; ++i) submit(mediums[2 * period + i], time_s += 30);
            for (std::size_t i = 0; i < 7; ++i) submit(others[7 * period + i], time_s += 30);
        }
    } else {
        // Case 1: a long job every 40 min, the others evenly. Case 2: printed are a long one every 10 min, which is six
        // in 50 min, and a total of 45 min under FCFS, which is the serial work; so one job a minute, the long ones
        // evenly among them. That was chosen for the printed total, and gives FCFS's printed response as well: these
        // two are no evidence.
        const auto count = static_cast<double>(longs.size() + others.size());
        const double span_s = number == 1 ? 2400 * static_cast<double>(longs.size()) : 60 * count;
        const double gap_s = span_s / static_cast<double>(longs.size());
        for (std::size_t i = 0; i < longs.size(); ++i) submit(longs[i], gap_s * static_cast<double>(i));
        const double step_s = span_s / static_cast<double>(others.size() + 1);
        for (std::size_t i = 0; i < others.size(); ++i) submit(others[i], step_s * static_cast<double>(i + 1));
    }
    std::ranges::stable_sort(jobs, {}, &Job::submit);
    Workload workload{.name = "scojo case " + std::to_string(number), .processors = kProcessors, .jobs = {}};
    for (Job& job : jobs) {
        job.id = JobId{static_cast<std::int64_t>(workload.jobs.size()) + 1};
        workload.jobs.push_back({job, job.walltime});
    }
    return workload;
}

namespace {

/// What the printed times of the worked example say of the relative response.
Claim meaning_of_relative_response() {
    struct Row {
        double response, runtime, span;
    };
    // From table 5-1: RES, runtime, finish - start.
    constexpr std::array kRows{Row{868, 300, 867}, Row{193, 60, 193}, Row{382, 60, 382},  Row{199, 10, 66},
                               Row{234, 10, 65},   Row{325, 10, 33},  Row{422, 30, 111},  Row{281, 10, 49},
                               Row{505, 30, 229},  Row{246, 10, 41},  Row{966, 300, 949}, Row{194, 60, 194}};
    double over_span = 0, over_runtime = 0;
    for (const Row& row : kRows) {
        over_span += row.response / row.span / static_cast<double>(kRows.size());
        over_runtime += row.response / row.runtime / static_cast<double>(kRows.size());
    }
    Claim claim = exact("scojo-T11-relative-meaning", "sections 2.1 and 5.6",
                        "relative response is response over the job's own run time",
                        "3.73 for C3, whose opening table "
                        "5-1 seems to be",
                        "the printed times of table 5-1 give " + number(over_runtime) + " over the run time, " +
                            number(over_span) + " over the time from start to end",
                        "ScojoTable51.StartsInThePublishedOrderAndNeverMoreThanThree");
    claim.verdict = over_runtime > 10 && std::abs(over_span - 3.73) < 1 ? Verdict::kContested : Verdict::kFails;
    claim.remark = "so the claims on cases 1 to 3 are judged by the time from start to end; both are shown";
    return claim;
}

/// Answers that another user gets, with and without a registration of the first.
Claim directory_keeps_secrets() {
    const DirectoryUser owner{"physics.example", "owner"}, other{"physics.example", "other"};
    Directory empty = Directory::make({.processors = kProcessors}).value(), used = empty;
    const ApplicationRegistration heat{
        .name = "heat", .walltime = seconds{600}, .least_share = 40, .most_share = 60, .program = 1};
    ZBS_EXPECTS(used.register_application(owner, heat).has_value());
    ZBS_EXPECTS(used.record(owner, "heat", {.ended = at(1), .served = seconds{700}}).has_value());
    int same = 0, asked = 0;
    for (const char* name : {"heat", "nothing"}) {
        const auto a = empty.find(other, name), b = used.find(other, name);
        same += !a && !b && a.error().code == b.error().code && a.error().message == b.error().message ? 1 : 0;
        const auto c = empty.job_of(other, name), d = used.job_of(other, name);
        same += !c && !d && c.error().code == d.error().code && c.error().message == d.error().message ? 1 : 0;
        asked += 2;
    }
    same += empty.names(other) == used.names(other) ? 1 : 0;
    same += empty.statistics(seconds{60}) == used.statistics(seconds{60}) ? 1 : 0;
    asked += 2;
    const Result<ApplicationRecord> own = used.find(owner, "heat");
    const bool apart = own && own->registered == heat && own->measured.size() == 1;
    Claim claim =
        exact("scojo-T13", "section 5.4",
              "the directory keeps registered and measured parts apart and discloses neither to others", "stated",
              std::to_string(same) + " of " + std::to_string(asked) +
                  " answers to another user are those of an empty directory; registration " +
                  (apart ? "untouched" : "changed") + " by a measured run",
              "");
    claim.test = "tests/unit/directory/directory_test.cpp#Directory.AnswersAsIfOthersHadNeverCome";
    return judged(claim, same == asked && apart);
}

}  // namespace

Part huang_scojo_example(const Effort&) {
    const Workload jobs = scojo_table_5_1();
    const SimulationOutcome outcome = run(jobs, {}, CoschedulingModel::by_count({1.0, 1.2, 1.3}));
    const std::string published_order = "1 2 3 4 5 6 8 10 7 9 11 12";
    const std::string order = order_of_starts(outcome);
    const int most = most_at_once(outcome);
    const double start_s = to_seconds(outcome.start[10] - Time{});
    Part part;
    part.claims = {
        effective_share(),
        measured_pairs(),
        judged(exact("scojo-T9a", "table 5-1", "order of starts in the worked example, and most jobs at once",
                     published_order + "; 3", order + "; " + std::to_string(most),
                     "ScojoTable51.StartsInThePublishedOrderAndNeverMoreThanThree"),
               order == published_order && most == 3),
        rate_law(),
        judged(exact("scojo-T10", "table 5-1", "the start reserved for job 11 is kept (s after the first submission)",
                     "861 reserved, 868 in print", number(start_s, 3), "ScojoTable51.ReservedStartIsKept"),
               start_s == 861, "the source's example misses its own reservation by 7 s; ours keeps it"),
        meaning_of_relative_response(),
        directory_keeps_secrets()};
    return part;
}

Part huang_scojo_cases(const Effort& effort) {
    Part part;
    for (const PublishedCase& published : kPublishedCases) judge_case(part, published, effort);
    judge_levels(part, effort);
    return part;
}

}  // namespace zbs::claims
