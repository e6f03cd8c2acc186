#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/formats/swf_cleaning.hpp"
#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/reference_traces.hpp"
#include "tests/support/source_folder.hpp"

// The simulator held against schedules that other programs made of real traces.
namespace zbs {
namespace {

std::string test_name(const std::string& words) {
    std::string name;
    for (const char c : words) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
}

struct Replay {
    formats::SwfTrace trace;
    formats::CleanedSwf cleaned;
    SimulationOutcome outcome;
};
void replay(const std::string& text, std::int64_t processors, bool exact_estimates, const std::string& policy,
            EventRules rules, Replay& made) {
    Result<formats::SwfTrace> trace = formats::read_swf(text, "trace");
    ASSERT_TRUE(trace) << trace.error();
    Result<formats::CleanedSwf> cleaned =
        formats::clean_swf(*trace, "trace", {.processors = processors, .exact_estimates = exact_estimates});
    ASSERT_TRUE(cleaned) << cleaned.error();
    Result<SimulationOutcome> outcome = simulate(cleaned->workload, **make_policy(policy), {.rules = rules});
    ASSERT_TRUE(outcome) << outcome.error();
    made = {std::move(*trace), std::move(*cleaned), std::move(*outcome)};
}

// --- averages ---------------------------------------------------------------------------------------------------

struct Row {
    std::string trace;
    std::int64_t processors = 0;
    std::string rules, estimates, policy;
    std::vector<std::string> figures;
    friend std::ostream& operator<<(std::ostream& out, const Row& row) {
        return out << row.trace << ' ' << row.rules << ' ' << row.estimates << ' ' << row.policy;
    }
};
std::vector<Row> rows() {
    std::ifstream file(zbs::test::source_folder() + "/tests/golden/swf/reference_schedules.csv");
    std::vector<Row> found;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#') || line.starts_with("trace,")) continue;
        for (char& c : line) c = c == ',' ? ' ' : c;
        std::istringstream words(line);
        Row row;
        words >> row.trace >> row.processors >> row.rules >> row.estimates >> row.policy;
        for (std::string figure; words >> figure;) row.figures.push_back(figure);
        found.push_back(row);
    }
    return found;
}

void expect_averages(const Replay& made, const Row& row) {
    const ScheduleMetrics found =
        schedule_metrics(made.cleaned.workload,
                         {.start = made.outcome.start, .end = made.outcome.end, .processors = made.outcome.processors});
    const double ours[] = {found.all.wait_s.mean,           found.all.wait_s.p95, found.all.wait_s.max,
                           found.all.bounded_slowdown.mean, found.utilization,    found.makespan_s};
    ASSERT_EQ(row.figures.size(), std::size(ours));
    for (std::size_t i = 0; i < row.figures.size(); ++i) {
        if (row.figures[i] == "-") continue;
        const std::size_t point = row.figures[i].find('.');
        const double digits = point == std::string::npos ? 0 : static_cast<double>(row.figures[i].size() - point - 1);
        // Sums in another order differ in the last bits of a double.
        EXPECT_NEAR(ours[i], std::stod(row.figures[i]), 0.5 * std::pow(10, -digits) * 1.000'1) << "column " << i + 6;
    }
}

/// Rows whose schedule is compared job by job are looked at there, on the same replay.
bool is_job_by_job(const Row& row);
std::vector<Row> other_rows() {
    std::vector<Row> found = rows();
    std::erase_if(found, is_job_by_job);
    return found;
}

class ReferenceAverages : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(, ReferenceAverages, testing::ValuesIn(other_rows()),
                         [](const auto& tested) { return test_name(testing::PrintToString(tested.param)); });

TEST_P(ReferenceAverages, AreOurs) {
    const Row& row = GetParam();
    ZBS_REFERENCE_TRACE(text, row.trace);
    Replay made;
    replay(text, row.processors, row.estimates == "exact", row.policy,
           row.rules == "batched" ? EventRules::kBatched : EventRules::kReference, made);
    if (!HasFatalFailure()) expect_averages(made, row);
}

TEST(ReferenceAveragesTable, HasAllRows) { EXPECT_EQ(rows().size(), 38u); }

// --- job by job -------------------------------------------------------------------------------------------------

struct Published {
    std::string trace;
    std::int64_t processors;
    std::string policy;
    std::string waits;  ///< file of waits; empty: field 3 of the trace itself
    friend std::ostream& operator<<(std::ostream& out, const Published& which) {
        return out << (which.waits.empty() ? which.trace : which.waits);
    }
};
std::vector<Published> published() {
    std::vector<Published> all;
    const struct {
        std::string label, file;
        std::int64_t processors;
        std::vector<std::string> policies;
    } traces[] = {
        {"KTH-SP2", "KTH-SP2-1996-2.swf", 100, {"fcfs", "easy", "sjbf", "cons"}},
        {"SDSC-SP2", "oracle/predictsim-EASY-SDSC-SP2.swf", 128, {"fcfs", "easy", "sjbf", "cons"}},
        {"SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln.swf", 1152, {"fcfs", "easy", "sjbf", "cons"}},
        {"HPC2N", "HPC2N-2002-2.1-cln.swf", 240, {"fcfs", "easy", "sjbf", "cons"}},
        {"CEA-Curie", "CEA-Curie-2011-2.1-cln.swf", 80'640, {"fcfs", "sjbf"}},
    };
    for (const auto& trace : traces)
        for (const std::string& policy : trace.policies)
            all.push_back({trace.file, trace.processors, policy == "cons" ? "conservative" : policy,
                           "oracle/" + trace.label + "-" + policy + ".wait"});
    all.push_back({"oracle/predictsim-EASY-KTH-SP2.swf", 100, "easy", ""});
    all.push_back({"oracle/predictsim-EASY-SDSC-SP2.swf", 128, "easy", ""});
    all.push_back({"oracle/predictsim-EASY-SDSC-BLUE.swf", 1152, "easy", ""});
    all.push_back({"oracle/predictsim-EASY-CEA-curie.swf", 80'640, "easy", ""});
    return all;
}

bool is_job_by_job(const Row& row) {
    const std::vector<Published> all = published();
    return row.rules == "reference" && row.estimates == "user" && std::ranges::any_of(all, [&](const Published& each) {
               return each.trace == row.trace && each.policy == row.policy;
           });
}

std::map<std::int64_t, std::int64_t> read_waits(const std::string& table) {
    std::map<std::int64_t, std::int64_t> waits;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::int64_t id = 0, wait = 0;
        if (words >> id >> wait) waits[id] = wait;
    }
    return waits;
}

void expect_waits(const Replay& made, const std::map<std::int64_t, std::int64_t>& waits) {
    const std::vector<WorkloadJob>& jobs = made.cleaned.workload.jobs;
    ASSERT_EQ(jobs.size(), waits.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto found = waits.find(jobs[i].job.id.value);
        ASSERT_NE(found, waits.end()) << "job " << jobs[i].job.id;
        const Duration wait = made.outcome.start[i] - jobs[i].job.submit;
        if (wait == std::chrono::seconds{found->second}) continue;
        if (++different <= 3)
            ADD_FAILURE() << "job " << jobs[i].job.id << " waits " << to_seconds(wait) << " s, published "
                          << found->second;
    }
    EXPECT_EQ(different, 0u) << "of " << jobs.size() << " jobs";
}

class ReferenceSchedule : public testing::TestWithParam<Published> {};
INSTANTIATE_TEST_SUITE_P(, ReferenceSchedule, testing::ValuesIn(published()),
                         [](const auto& tested) { return test_name(testing::PrintToString(tested.param)); });

TEST_P(ReferenceSchedule, IsOursJobByJobAndToTheSecond) {
    const Published& which = GetParam();
    ZBS_REFERENCE_TRACE(text, which.trace);
    Replay made;
    replay(text, which.processors, false, which.policy, EventRules::kReference, made);
    if (HasFatalFailure()) return;

    std::map<std::int64_t, std::int64_t> waits;
    if (which.waits.empty()) {
        for (const formats::SwfRecord& record : made.trace.records)
            waits[record.whole(formats::SwfField::kJob)] = record.whole(formats::SwfField::kWait);
    } else {
        ZBS_REFERENCE_TRACE(table, which.waits);
        waits = read_waits(table);
    }
    expect_waits(made, waits);
    for (const Row& row : rows())
        if (is_job_by_job(row) && row.trace == which.trace && row.policy == which.policy) expect_averages(made, row);
}

TEST(ReferenceScheduleList, AllAreListed) { EXPECT_EQ(published().size(), 22u); }

// --- excerpts, in every clone -------------------------------------------------------------------------------------

/// A published schedule whose beginning is in the tree; see excerpts/README.md.
struct Excerpt {
    std::string trace;
    std::int64_t processors;
    std::string policy;
    friend std::ostream& operator<<(std::ostream& out, const Excerpt& which) {
        return out << which.trace << '_' << which.policy;
    }
};
std::vector<Excerpt> excerpts() {
    std::vector<Excerpt> all;
    for (const auto& [trace, processors] : std::vector<std::pair<std::string, std::int64_t>>{
             {"KTH-SP2", 100}, {"SDSC-SP2", 128}, {"SDSC-BLUE", 1152}, {"HPC2N", 240}, {"CEA-Curie", 80'640}})
        for (const char* policy : {"fcfs", "easy", "sjbf", "cons"})
            if (processors < 80'640 || policy[0] == 'f' || policy[0] == 's') all.push_back({trace, processors, policy});
    return all;
}

class ReferenceExcerpt : public testing::TestWithParam<Excerpt> {};
INSTANTIATE_TEST_SUITE_P(, ReferenceExcerpt, testing::ValuesIn(excerpts()),
                         [](const auto& tested) { return test_name(testing::PrintToString(tested.param)); });

TEST_P(ReferenceExcerpt, IsOursJobByJobAndToTheSecond) {
    const Excerpt& which = GetParam();
    const std::string path = zbs::test::source_folder() + "/tests/golden/swf/excerpts/" + which.trace;
    const auto trace = zbs::test::read_packed(path + ".swf.gz");
    const auto table = zbs::test::read_packed(path + "-" + which.policy + ".wait.gz");
    ASSERT_TRUE(trace && table) << path;
    Replay made;
    replay(*trace, which.processors, false, which.policy == "cons" ? "conservative" : which.policy,
           EventRules::kReference, made);
    if (!HasFatalFailure()) expect_waits(made, read_waits(*table));
}

}  // namespace
}  // namespace zbs
