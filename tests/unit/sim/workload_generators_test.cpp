#include "algorithms/sim/workload_generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "algorithms/base/random_variates.hpp"

namespace zbs {
namespace {

double seconds(Duration d) { return to_seconds(d); }
double submit_of(const WorkloadJob& entry) { return to_seconds(entry.job.submit.time_since_epoch()); }

/// A share seen in `n` draws differs from its probability by less than this, but for one run in two million.
double share_error(double probability, double n) { return 5 * std::sqrt(probability * (1 - probability) / n); }

template <class Claim>
double share(const Workload& workload, Claim&& claim) {
    return static_cast<double>(std::ranges::count_if(workload.jobs, claim)) / static_cast<double>(workload.jobs.size());
}

GeneratorRequest request(const std::string& name, std::vector<std::pair<std::string, std::string>> options = {}) {
    return {.name = name, .options = std::move(options)};
}

class EveryGenerator : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, EveryGenerator, testing::Values("uniform", "feitelson96", "lublin", "jann", "scojo"),
                         [](const auto& param_info) { return param_info.param; });

TEST_P(EveryGenerator, MakesTheSameJobsOneAfterTheOther) {
    const GeneratorRequest wanted = request(GetParam(), {{"jobs", "300"}, {"overestimate", "2"}});
    EXPECT_EQ(common_options(wanted)->jobs, 300);
    std::vector<WorkloadJob> jobs;
    const Result<void> done = generate(wanted, [&](const WorkloadJob& entry) {
        jobs.push_back(entry);
        return jobs.size() < 300 ? Result<void>{} : invalid("enough");
    });
    EXPECT_EQ(jobs, generate(wanted)->jobs);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().message, "enough");
}

TEST_P(EveryGenerator, MakesJobsInOrderThatFitTheMachine) {
    for (const std::string processors : {"32", "100", "128"}) {
        SCOPED_TRACE(processors);
        const Result<Workload> made =
            generate(request(GetParam(), {{"jobs", "3000"}, {"processors", processors}, {"overestimate", "5"}}));
        ASSERT_TRUE(made) << made.error();
        ASSERT_EQ(made->jobs.size(), 3000U);
        EXPECT_EQ(made->processors, std::stoi(processors));
        EXPECT_FALSE(made->name.empty());
        bool overestimated = false;
        for (std::size_t i = 0; i < made->jobs.size(); ++i) {
            const auto& [job, runtime] = made->jobs[i];
            ASSERT_EQ(job.id.value, static_cast<std::int64_t>(i) + 1);
            ASSERT_TRUE(i == 0 || made->jobs[i - 1].job.submit <= job.submit);
            ASSERT_GE(job.processors, 1);
            ASSERT_LE(job.processors, made->processors);
            ASSERT_GT(runtime, Duration::zero());
            ASSERT_GE(job.walltime, runtime);
            ASSERT_LE(job.walltime, 5 * runtime + std::chrono::seconds{1});
            ASSERT_EQ(runtime % std::chrono::seconds{1}, Duration::zero());
            ASSERT_EQ(job.walltime % std::chrono::seconds{1}, Duration::zero());
            ASSERT_EQ(job.submit.time_since_epoch() % std::chrono::seconds{1}, Duration::zero());
            overestimated |= job.walltime > 2 * runtime;
        }
        EXPECT_TRUE(overestimated);
    }
}

TEST_P(EveryGenerator, IsAFunctionOfOptionsAndSeed) {
    GeneratorRequest asked = request(GetParam(), {{"jobs", "500"}});
    const Workload first = *generate(asked);
    EXPECT_EQ(first, *generate(asked));
    asked.seed = 2;
    EXPECT_NE(first, *generate(asked));
}

TEST_P(EveryGenerator, EstimatesDoNotChangeTheJobs) {
    const Workload exact = *generate(request(GetParam(), {{"jobs", "500"}}));
    Workload vague = *generate(request(GetParam(), {{"jobs", "500"}, {"overestimate", "10"}}));
    EXPECT_NE(vague, exact);
    for (WorkloadJob& entry : vague.jobs) entry.job.walltime = entry.runtime;
    EXPECT_EQ(vague, exact);
}

TEST_P(EveryGenerator, ALongerWorkloadBeginsWithTheShorterOne) {
    const Workload shorter = *generate(request(GetParam(), {{"jobs", "300"}}));
    Workload longer = *generate(request(GetParam(), {{"jobs", "900"}}));
    longer.jobs.resize(300);
    EXPECT_EQ(longer, shorter);
}

TEST_P(EveryGenerator, MakesNoJobsIfAsked) {
    EXPECT_TRUE(generate(request(GetParam(), {{"jobs", "0"}}))->jobs.empty());
}

TEST_P(EveryGenerator, BadOptionsAreNamed) {
    using Options = std::vector<std::pair<std::string, std::string>>;
    for (const auto& [options, text] :
         {std::pair{Options{{"jbos", "1"}}, "did you mean 'jobs'?"}, std::pair{Options{{"jobs", "-1"}}, "option jobs"},
          std::pair{Options{{"jobs", "50000001"}}, "50000000"}, std::pair{Options{{"jobs", "1x"}}, "'1x'"},
          std::pair{Options{{"jobs", ""}}, "option jobs is ''"},
          std::pair{Options{{"overestimate", "0.5"}}, "from 1 to 1000"},
          std::pair{Options{{"overestimate", "nan"}}, "option overestimate is 'nan'"},
          std::pair{Options{{"processors", "0"}}, "option processors"},
          std::pair{Options{{"processors", "99999999999"}}, "option processors"},
          std::pair{Options{{"jobs", "1"}, {"jobs", "2"}}, "given twice"}}) {
        const Result<Workload> made = generate(request(GetParam(), options));
        ASSERT_FALSE(made) << text;
        EXPECT_NE(made.error().message.find(text), std::string::npos) << made.error();
    }
}

TEST(WorkloadGenerators, AnUnknownNameIsAnsweredWithTheNearest) {
    const Result<Workload> made = generate(request("lubln"));
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("did you mean 'lublin'?"), std::string::npos) << made.error();
}

TEST(WorkloadGenerators, OnlyJannTakesAParameterFile) {
    GeneratorRequest asked = request("lublin");
    asked.parameters = "zbs-hyper-erlang/1\n";
    EXPECT_FALSE(generate(asked));
}

TEST(WorkloadGenerators, AreListedWithTheirDefaults) {
    ASSERT_EQ(workload_generators().size(), 5U);
    for (const GeneratorInfo& info : workload_generators()) {
        SCOPED_TRACE(info.name);
        GeneratorRequest spelled = request(std::string(info.name));
        for (const GeneratorInfo::Option& option : info.options)
            spelled.options.emplace_back(option.name, option.default_value);
        const Result<Workload> made = generate(spelled);
        ASSERT_TRUE(made) << made.error();
        EXPECT_EQ(*made, *generate(request(std::string(info.name))));
    }
}

TEST(WorkloadGenerators, WorkloadsThatLastTooLongAreRefused) {
    const Result<Workload> made = generate(UniformWorkload{.common = {.jobs = 10'000}, .mean_gap_s = 1e9});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kTooLarge);
}

TEST(UniformWorkload, DrawsItsRangesEvenly) {
    const Workload made = *generate(UniformWorkload{.common = {.jobs = 40'000, .processors = 16},
                                                    .least_size = 3,
                                                    .most_size = 6,
                                                    .least_runtime_s = 10,
                                                    .most_runtime_s = 14,
                                                    .mean_gap_s = 50});
    for (int size = 3; size <= 6; ++size)
        EXPECT_NEAR(share(made, [&](const auto& e) { return e.job.processors == size; }), 0.25, share_error(.25, 4e4));
    for (int runtime = 10; runtime <= 14; ++runtime)
        EXPECT_NEAR(share(made, [&](const auto& e) { return seconds(e.runtime) == runtime; }), 0.2,
                    share_error(.2, 4e4));
    EXPECT_NEAR(submit_of(made.jobs.back()) / 4e4, 50, 5 * 50 / std::sqrt(3 * 4e4));
}

TEST(UniformWorkload, RangesThatContradictAreRefused) {
    EXPECT_FALSE(generate(UniformWorkload{.least_size = 5, .most_size = 4}));
    EXPECT_FALSE(generate(UniformWorkload{.common = {.processors = 8}, .most_size = 9}));
    EXPECT_FALSE(generate(UniformWorkload{.least_runtime_s = 5, .most_runtime_s = 4}));
}

TEST(Feitelson96Workload, SizesAreHarmonicWithPowersOfTwoPreferred) {
    const Feitelson96Workload options{.common = {.jobs = 100'000, .processors = 64}, .most_repeats = 1};
    const Workload made = *generate(options);
    double sum = 0;
    std::map<int, double> weights;
    for (int n = 1; n <= 64; ++n)
        sum += weights[n] = std::pow(n, -1.5) * (std::has_single_bit(static_cast<unsigned>(n)) ? 8 : 1);
    for (const int size : {1, 2, 3, 5, 8, 16, 64}) {
        SCOPED_TRACE(size);
        const double expected = weights[size] / sum;
        EXPECT_NEAR(share(made, [&](const auto& e) { return e.job.processors == size; }), expected,
                    share_error(expected, 1e5));
    }
}

TEST(Feitelson96Workload, LargeJobsRunLonger) {
    const Workload made = *generate(Feitelson96Workload{
        .common = {.jobs = 200'000, .processors = 64}, .size_order = 0, .power_of_two_weight = 1, .most_repeats = 1});
    for (const auto& [from, upto] : {std::pair{1, 4}, std::pair{61, 64}}) {
        double sum = 0, count = 0;
        for (const WorkloadJob& entry : made.jobs) {
            if (entry.job.processors < from || entry.job.processors > upto) continue;
            sum += seconds(entry.runtime);
            ++count;
        }
        const double p = 0.95 - 0.20 * (from + upto) / 2.0 / 64, expected = 600 * (p + (1 - p) * 7);
        const double deviation = 600 * std::sqrt(2 * (p + (1 - p) * 49));
        EXPECT_NEAR(sum / count, expected, 5 * deviation / std::sqrt(count) + 1) << from;
    }
}

TEST(Feitelson96Workload, JobsAreRepeatedByTheirUsersOneAfterTheOther) {
    // Short enough that nearly all repeats come to pass within the workload.
    const Workload made = *generate(Feitelson96Workload{.common = {.jobs = 100'000}, .unit_s = 10, .mean_gap_s = 1200});
    struct Chain {
        int runs = 0;
        double free_at_s = 0;
        WorkloadJob last;
    };
    std::map<int, Chain> chains;
    for (const WorkloadJob& entry : made.jobs) {
        Chain& chain = chains[entry.job.user];
        if (chain.runs > 0) {
            ASSERT_NEAR(submit_of(entry), chain.free_at_s, 1);
            ASSERT_EQ(entry.runtime, chain.last.runtime);
            ASSERT_EQ(entry.job.processors, chain.last.job.processors);
        }
        ++chain.runs;
        chain.free_at_s = submit_of(entry) + seconds(entry.runtime);
        chain.last = entry;
    }
    double sum = 0;
    for (int r = 1; r <= 64; ++r) sum += std::pow(r, -2.5);
    const auto n = static_cast<double>(chains.size());
    for (int r = 1; r <= 4; ++r) {
        const double expected = std::pow(r, -2.5) / sum;
        const auto found = std::ranges::count_if(chains, [&](const auto& c) { return c.second.runs == r; });
        EXPECT_NEAR(static_cast<double>(found) / n, expected, share_error(expected, n) + 0.001) << r;
    }
}

TEST(LublinWorkload, SizesAreThoseOfTheTwoStageModel) {
    const Workload made = *generate(LublinWorkload{.common = {.jobs = 100'000, .processors = 128}});
    EXPECT_NEAR(share(made, [](const auto& e) { return e.job.processors == 1; }), 0.244, share_error(0.244, 1e5));
    // Of the parallel jobs of powers of two, log2 of the size is rounded: the share of 2 is that of 0.8 .. 1.5 in the
    // early stage 0.8 .. 4.5; other sizes round to 2, if log2 is below log2(2.5).
    const double early = 0.86 / (4.5 - 0.8);
    const double other = 1 - 0.244 - 0.576;
    const double two = 0.576 * early * (1.5 - 0.8) + other * early * (std::log2(2.5) - 0.8);
    EXPECT_NEAR(share(made, [](const auto& e) { return e.job.processors == 2; }), two, share_error(two, 1e5));
    const double late = 0.14 / 2.5;
    const double full = 0.576 * late * 0.5 + other * late * (7 - std::log2(127.5));
    EXPECT_NEAR(share(made, [](const auto& e) { return e.job.processors == 128; }), full, share_error(full, 1e5));
    const double three = other * early * (std::log2(3.5) - std::log2(2.5));
    EXPECT_NEAR(share(made, [](const auto& e) { return e.job.processors == 3; }), three, share_error(three, 1e5));
}

TEST(LublinWorkload, RunTimesAreHyperGammaInTheirLogarithm) {
    const Workload made = *generate(LublinWorkload{.common = {.jobs = 200'000}});
    for (const int size : {1, 16}) {
        const double p = 0.78 - 0.0054 * size;
        const auto below = [&](double log_runtime) {
            return p * gamma_distribution(log_runtime / 0.94, 4.2) +
                   (1 - p) * gamma_distribution(log_runtime / 0.03, 312);
        };
        double count = 0;
        for (const WorkloadJob& entry : made.jobs) count += entry.job.processors == size ? 1 : 0;
        for (const double runtime : {2.0, 60.0, 1000.0, 10'000.0, 20'000.0}) {
            const double expected = below(std::log(runtime)) / below(12);
            double found = 0;
            for (const WorkloadJob& entry : made.jobs)
                found += entry.job.processors == size && seconds(entry.runtime) < runtime ? 1 : 0;
            EXPECT_NEAR(found / count, expected, share_error(expected, count)) << size << " " << runtime;
        }
    }
    EXPECT_TRUE(std::ranges::all_of(made.jobs, [](const auto& e) { return seconds(e.runtime) <= std::exp(12.0); }));
}

TEST(LublinWorkload, ArrivalsFollowTheDailyCycle) {
    const Workload made = *generate(LublinWorkload{.common = {.jobs = 200'000}});
    // Half hour i of the fit's day, 11 .. 58, is the (i-1)-th of the clock's. Compared are six hours at a time.
    double whole = 0;
    std::array<double, 4> expected{};
    for (int i = 11; i < 59; ++i) {
        const double part =
            gamma_distribution((i + 0.5) / 3.9631, 8.1737) - gamma_distribution((i - 0.5) / 3.9631, 8.1737);
        whole += part;
        expected[static_cast<std::size_t>((i - 1) % 48 / 12)] += part;
    }
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
        const double found = share(made, [&](const auto& e) {
            return static_cast<std::size_t>(std::fmod(submit_of(e), 86400) / 21600) == quarter;
        });
        // Gaps vary more than exponential ones, so that sums over a quarter do, too.
        EXPECT_NEAR(found, expected[quarter] / whole, 4 * share_error(expected[quarter] / whole, 2e5)) << quarter;
    }
    EXPECT_GT(expected[2], 5 * expected[0]);
}

TEST(LublinWorkload, GapFactorDividesTheLoad) {
    const double base = submit_of(generate(LublinWorkload{.common = {.jobs = 20'000}})->jobs.back());
    const double doubled =
        submit_of(generate(LublinWorkload{.common = {.jobs = 20'000}, .gap_factor = 2})->jobs.back());
    EXPECT_NEAR(doubled / base, 2, 0.02);
}

TEST(LublinWorkload, BothTypesAreTwoStreams) {
    using Types = LublinWorkload::Types;
    const Workload both = *generate(LublinWorkload{.common = {.jobs = 50'000}, .types = Types::kBoth});
    for (const auto& [queue, types, serial] :
         {std::tuple{0, Types::kInteractive, 0.1541}, std::tuple{1, Types::kBatch, 0.2927}}) {
        const Workload alone = *generate(LublinWorkload{.common = {.jobs = 50'000}, .types = types});
        double of_type = 0, serial_of_type = 0;
        for (const WorkloadJob& entry : both.jobs) {
            if (entry.job.queue != queue) continue;
            ++of_type;
            serial_of_type += entry.job.processors == 1 ? 1 : 0;
        }
        EXPECT_NEAR(serial_of_type / of_type, serial, share_error(serial, of_type));
        const double rate_alone = 50'000 / submit_of(alone.jobs.back());
        const double rate = of_type / submit_of(both.jobs.back());
        EXPECT_NEAR(rate / rate_alone, 1, 0.1);
    }
}

TEST(LublinWorkload, TakesAMachineOfOneProcessor) {
    for (const auto types : {LublinWorkload::Types::kAll, LublinWorkload::Types::kBoth}) {
        for (const std::int32_t processors : {1, 2, 3}) {
            const Workload made =
                *generate(LublinWorkload{.common = {.jobs = 1000, .processors = processors}, .types = types});
            for (const WorkloadJob& entry : made.jobs) ASSERT_LE(entry.job.processors, processors);
        }
    }
}

TEST(HyperErlangWorkload, ExampleHasTheFactsItIsMadeFor) {
    const std::vector<SizeClass> classes = *parse_size_classes(example_size_classes(), "example");
    ASSERT_EQ(classes.size(), 10U);
    double rate = 0;
    for (const SizeClass& sizes : classes) rate += 1 / sizes.gap.mean();
    EXPECT_NEAR(17'440 / rate / 86400, 79, 0.5);
    EXPECT_NEAR(1 / classes[0].gap.mean() / rate, 0.4, 0.002);
    EXPECT_EQ(classes[2], (SizeClass{3, 4, *HyperErlang::fit_gamma(3558, 2.2), *HyperErlang::fit_gamma(4500, 2.2),
                                     std::int64_t{8} << 20}));
}

TEST(HyperErlangWorkload, ClassesHaveTheirRatesAndRunTimes) {
    const std::vector<SizeClass> classes = *parse_size_classes(example_size_classes(), "example");
    const Workload made =
        *generate(HyperErlangWorkload{.common = {.jobs = 200'000, .processors = 128}, .classes = classes});
    const double span = submit_of(made.jobs.back());
    for (std::size_t c = 0; c < 8; ++c) {
        SCOPED_TRACE(c);
        double count = 0, runtime = 0, in_middle = 0;
        for (const WorkloadJob& entry : made.jobs) {
            if (entry.job.queue != static_cast<int>(c)) continue;
            ASSERT_GE(entry.job.processors, classes[c].least);
            ASSERT_LE(entry.job.processors, classes[c].most);
            ASSERT_EQ(entry.job.memory_bytes, classes[c].memory_bytes);
            ++count;
            runtime += seconds(entry.runtime);
            in_middle += entry.job.processors == classes[c].most ? 1 : 0;
        }
        const auto deviation = [](const HyperErlang& v) { return std::sqrt(v.moment(2) - v.mean() * v.mean()); };
        EXPECT_NEAR(runtime / count, classes[c].runtime.mean(),
                    5 * deviation(classes[c].runtime) / std::sqrt(count) + 0.5);
        EXPECT_NEAR(span / count, classes[c].gap.mean(), 5 * deviation(classes[c].gap) / std::sqrt(count));
        const double one_size = 1.0 / (classes[c].most - classes[c].least + 1);
        EXPECT_NEAR(in_middle / count, one_size, share_error(one_size, count) + 1e-12);
    }
    // Classes that do not fit the machine take no part.
    EXPECT_TRUE(std::ranges::all_of(made.jobs, [](const auto& e) { return e.job.queue < 8; }));
}

TEST(HyperErlangWorkload, NoClassThatFitsIsAnError) {
    HyperErlangWorkload options{.common = {.processors = 2}};
    EXPECT_FALSE(generate(options));
    options.classes = {{.least = 2, .most = 4}};
    const auto made = generate(options);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("2 processors"), std::string::npos);
}

TEST(SizeClasses, AllThreeFormsAreRead) {
    const auto classes = parse_size_classes(
        "# a comment\nzbs-hyper-erlang/1\n\nsizes 3-4 gap rates 0.25 0.5 2 3 runtime moments 2 8 60 # and more\r\n",
        "file");
    ASSERT_TRUE(classes) << classes.error();
    ASSERT_EQ(classes->size(), 1U);
    EXPECT_EQ((*classes)[0].least, 3);
    EXPECT_EQ((*classes)[0].most, 4);
    EXPECT_EQ((*classes)[0].gap, (HyperErlang{0.25, 0.5, 2, 3}));
    EXPECT_NEAR((*classes)[0].runtime.moment(3), 60, 1e-9);
    EXPECT_EQ((*classes)[0].memory_bytes, 0);
}

TEST(SizeClasses, FaultsNameTheirLineAndTheRemedy) {
    const std::string head = "zbs-hyper-erlang/1\n";
    for (const auto& [text, line, message] : {
             std::tuple{std::string(), "file:0", "no size class"},
             std::tuple{head, "file:1", "no size class"},
             std::tuple{std::string("sizes 1"), "file:1", "begins with the line"},
             std::tuple{head + "size 1", "file:2", "'size' is unknown"},
             std::tuple{head + "\nsizes 4-3 gap", "file:3", "'4-3' is no range"},
             std::tuple{head + "sizes 1-", "file:2", "'1-' is no range"},
             std::tuple{head + "sizes 0", "file:2", "'0' is no range"},
             std::tuple{head + "sizes 1 runtime", "file:2", "'gap'"},
             std::tuple{head + "sizes 1 gap normal 1", "file:2", "not 'normal'"},
             std::tuple{head + "sizes 1 gap rates 1 2 3", "file:2", "four numbers"},
             std::tuple{head + "sizes 1 gap rates 2 1 1 1", "file:2", "0 .. 1"},
             std::tuple{head + "sizes 1 gap moments 1 2", "file:2", "three numbers"},
             std::tuple{head + "sizes 1 gap mean 1 2", "file:2", "mean M cv C"},
             std::tuple{head + "sizes 1 gap mean 1 cv 0.001", "file:2", "no hyper-Erlang"},
             std::tuple{head + "sizes 1 gap mean 1 cv 1", "file:2", "'runtime'"},
             std::tuple{head + "sizes 1 gap mean 1 cv 1 runtime mean 1 cv 1 memory_mb -1", "file:2", "memory_mb"},
             std::tuple{head + "sizes 1 gap mean 1 cv 1 runtime mean 1 cv 1 2", "file:2", "'2' is too much"},
         }) {
        const auto classes = parse_size_classes(text, "file");
        ASSERT_FALSE(classes) << text;
        EXPECT_EQ(classes.error().pointer, line) << text;
        EXPECT_NE(classes.error().message.find(message), std::string::npos) << classes.error();
    }
}

TEST(ScojoWorkload, ClassesAndFlexibilityHaveTheirShares) {
    // Rows of [Huang2004, table 7-2]: per class and flexibility, the share of all jobs.
    const double shares[2][9] = {{0, .4, 0, .1, .2, .1, 0, 0, .2}, {0, .3, 0, .05, .3, 0, .05, 0, .3}};
    const double work[2] = {16038.5, 399928.9};  // processor seconds of a mean job
    const double runtimes[2][4] = {{0, 60, 1800, 3600}, {0, 180, 3600, 108'000}};
    const int sizes[3][2] = {{1, 4}, {4, 24}, {8, 32}};
    for (const std::size_t table : {0, 1}) {
        const double n = 100'000;
        const Workload made =
            *generate(ScojoWorkload{.common = {.jobs = static_cast<std::int64_t>(n), .processors = 64},
                                    .table = static_cast<ScojoWorkload::Table>(table)});
        double sum = 0, squares = 0;
        for (const WorkloadJob& entry : made.jobs) {
            const auto c = static_cast<std::size_t>(entry.job.queue);
            ASSERT_GE(entry.job.processors, sizes[c][0]);
            ASSERT_LE(entry.job.processors, sizes[c][1]);
            ASSERT_GT(seconds(entry.runtime), runtimes[table][c]);
            ASSERT_LE(seconds(entry.runtime), runtimes[table][c + 1]);
            ASSERT_EQ(entry.job.priority, 10 - 5 * static_cast<int>(c));
            ASSERT_EQ(entry.job.group, static_cast<int>(entry.job.flexibility));
            const double area = entry.job.processors * seconds(entry.runtime);
            sum += area / n;
            squares += area * area / n;
        }
        EXPECT_NEAR(sum, work[table], 5 * std::sqrt((squares - sum * sum) / n));
        for (int kind = 0; kind < 9; ++kind)
            EXPECT_NEAR(share(made, [&](const auto& e) { return e.job.queue == kind / 3 && e.job.group == kind % 3; }),
                        shares[table][kind], share_error(shares[table][kind], n))
                << table << " " << kind;
    }
}

TEST(ScojoWorkload, GapsFollowTheFormulaOrTheOption) {
    for (const auto& [options, gap_s] :
         {std::pair{ScojoWorkload{.common = {.jobs = 100'000, .processors = 64}}, 66.5},
          std::pair{
              ScojoWorkload{.common = {.jobs = 100'000, .processors = 64}, .table = ScojoWorkload::Table::kWorkload2},
              2187.1},
          std::pair{ScojoWorkload{.common = {.jobs = 100'000, .processors = 64}, .mean_gap_s = 166}, 166.0}}) {
        // Uniform in 1 .. 2 T, cut to whole seconds.
        const Workload made = *generate(options);
        EXPECT_NEAR(submit_of(made.jobs.back()) / 1e5, gap_s + 0.5, 5 * gap_s / std::sqrt(3e5) + 0.05);
        for (std::size_t i = 1; i < made.jobs.size(); ++i) {
            const double gap = submit_of(made.jobs[i]) - submit_of(made.jobs[i - 1]);
            ASSERT_GE(gap, 1);
            ASSERT_LE(gap, 2 * gap_s + 1);
        }
    }
}

TEST(ScojoWorkload, NeedsAMachineForItsLargestJob) {
    EXPECT_FALSE(generate(ScojoWorkload{.common = {.jobs = 1, .processors = 31}}));
}

}  // namespace
}  // namespace zbs
