#include "studies/claims/directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace zbs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const DirectoryUser kAda{"physics.example", "ada"}, kBob{"physics.example", "bob"}, kEve{"other.example", "ada"};

Time at(double seconds) { return Time{seconds_to_duration(seconds)}; }

Directory directory() {
    return Directory::make({.processors = 12, .memory_bytes = 1 << 30, .disk_bytes = 1 << 30}).value();
}
ApplicationRegistration heat() {
    return {.name = "heat", .walltime = 600s, .least_share = 40, .most_share = 60, .program = 1};
}

TEST(Directory, StatisticsTellTheLastReadingAndTheMeanOfThePeriod) {
    Directory site = directory();
    EXPECT_EQ(site.statistics(60s).forecast, std::nullopt);
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(site.observe({.at = at(10 * i), .cpu_available = 0.1 * i, .memory_bytes = 100 * i}).has_value());
    const SiteStatistics found = site.statistics(20s);
    EXPECT_EQ(found.latest->memory_bytes, 300);
    EXPECT_DOUBLE_EQ(found.forecast->cpu_available, 0.25);  // the last two
    EXPECT_EQ(found.forecast->memory_bytes, 250);
    EXPECT_EQ(found.capacity.processors, 12);
}

TEST(Directory, RegistrationAndMeasurementsAreKeptApart) {  // T13
    Directory site = directory();
    ASSERT_TRUE(site.register_application(kAda, heat()).has_value());
    ASSERT_TRUE(site.record(kAda, "heat", {.ended = at(900), .served = 700s, .slowdown = 1.2}).has_value());
    EXPECT_EQ(site.find(kAda, "heat")->registered, heat());
    ASSERT_EQ(site.find(kAda, "heat")->measured.size(), 1u);
    EXPECT_EQ(site.job_of(kAda, "heat")->walltime, 700s) << "the longer of both";
    ApplicationRegistration longer = heat();
    longer.walltime = 900s;
    ASSERT_TRUE(site.register_application(kAda, longer).has_value());
    EXPECT_EQ(site.find(kAda, "heat")->measured.size(), 1u) << "registering anew forgets nothing";
    EXPECT_EQ(site.job_of(kAda, "heat")->walltime, 900s);
}

TEST(Directory, KeepsTheLastRuns) {
    Directory site = directory();
    ASSERT_TRUE(site.register_application(kAda, heat()).has_value());
    for (std::size_t i = 0; i < Directory::kRuns + 5; ++i)
        ASSERT_TRUE(site.record(kAda, "heat", {.ended = at(static_cast<double>(i)), .served = 1s}).has_value());
    EXPECT_EQ(site.find(kAda, "heat")->measured.size(), Directory::kRuns);
    EXPECT_EQ(site.find(kAda, "heat")->measured.front().ended, at(5));
}

/// Everything that the caller can learn, as text.
std::string all_answers(const Directory& site, const DirectoryUser& caller) {
    std::ostringstream out;
    const auto print = [&out](const auto& result, const auto& show) {
        if (result)
            show(*result);
        else
            out << "error " << static_cast<int>(result.error().code) << " " << result.error().message;
        out << "\n";
    };
    const SiteStatistics statistics = site.statistics(60s);
    out << statistics.capacity.processors << " " << statistics.forecast.has_value() << "\n";
    for (const std::string& name : site.names(caller)) out << name << "\n";
    for (const std::string name : {"heat", "secret", "nothing"}) {
        print(site.find(caller, name), [&](const ApplicationRecord& record) {
            out << record.registered.name << record.registered.walltime.count() << " " << record.measured.size();
        });
        print(site.job_of(caller, name),
              [&](const Job& job) { out << job.walltime.count() << " " << job.application; });
    }
    Directory changed = site;
    for (const std::string name : {"heat", "secret", "nothing"}) {
        const Result<void> done = changed.withdraw(caller, name);
        out << (done ? "withdrawn" : done.error().message) << "\n";
    }
    return out.str();
}

TEST(Directory, AnswersAsIfOthersHadNeverCome) {  // T13
    Directory alone = directory(), shared = directory();
    for (Directory* site : {&alone, &shared}) {
        ASSERT_TRUE(site->observe({.at = at(1), .cpu_available = 0.5}).has_value());
        ASSERT_TRUE(site->register_application(kBob, heat()).has_value());
    }
    ApplicationRegistration secret = heat();
    secret.name = "secret";
    secret.walltime = 12345s;
    for (const DirectoryUser& other : {kAda, kEve}) {
        ASSERT_TRUE(shared.register_application(other, secret).has_value());
        ASSERT_TRUE(shared.register_application(other, heat()).has_value());
        ASSERT_TRUE(shared.record(other, "heat", {.ended = at(5), .served = 9999s}).has_value());
    }
    EXPECT_EQ(all_answers(shared, kBob), all_answers(alone, kBob));
    EXPECT_NE(all_answers(shared, kAda), all_answers(alone, kAda));
}

TEST(Directory, FaultsNameTheField) {
    Directory site = directory();
    const auto refusal = [&](auto change) {
        ApplicationRegistration wrong = heat();
        change(wrong);
        const Result<void> done = site.register_application(kAda, wrong);
        return done ? std::string("taken") : done.error().pointer;
    };
    EXPECT_EQ(refusal([](auto& r) { r.name = ""; }), "/name");
    EXPECT_EQ(refusal([](auto& r) { r.name = "\xff"; }), "/name");
    EXPECT_EQ(refusal([](auto& r) { r.walltime = 0s; }), "/walltime");
    EXPECT_EQ(refusal([](auto& r) { r.most_share = 100; }), "/least_share");
    EXPECT_EQ(refusal([](auto& r) { r.least_share = 80; }), "/least_share");
    EXPECT_EQ(refusal([](auto& r) { r.program = 6; }), "/program");
    EXPECT_EQ(refusal([](auto& r) { r.io_bytes_per_s = -1; }), "/io_bytes_per_s");
    EXPECT_EQ(site.names(kAda).size(), 0u) << "nothing has changed";
    EXPECT_FALSE(Directory::make({}).has_value());
    ASSERT_TRUE(site.observe({.at = at(5)}).has_value());
    EXPECT_EQ(site.observe({.at = at(4)}).error().pointer, "/at");
    EXPECT_EQ(site.observe({.at = at(6), .cpu_available = 1.5}).error().pointer, "/cpu_available");
    EXPECT_EQ(site.record(kAda, "heat", {.served = 1s}).error().code, ErrorCode::kNotFound);
}

TEST(Directory, LimitsApplicationsOfAUser) {
    Directory site = directory();
    ApplicationRegistration each = heat();
    for (std::size_t i = 0; i < Directory::kApplications; ++i) {
        each.name = "a" + std::to_string(i);
        ASSERT_TRUE(site.register_application(kAda, each).has_value());
    }
    EXPECT_TRUE(site.register_application(kAda, each).has_value()) << "replaces one";
    each.name = "one more";
    EXPECT_EQ(site.register_application(kAda, each).error().code, ErrorCode::kTooLarge);
    EXPECT_TRUE(site.register_application(kBob, each).has_value());
}

}  // namespace
}  // namespace zbs
