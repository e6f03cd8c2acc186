#include "client/cli/zones/doctor_checks.hpp"

#include <gtest/gtest.h>

#include "services/common/adapters/command_line/check_codec.hpp"

namespace zbs::cli {
namespace {

using namespace std::chrono_literals;
using codec::Json;

TEST(DoctorChecks, NameTheRemedyOfTheFaultOfCredentials) {
    const Check open = check_unusable(
        {ErrorCode::kDenied, "c/key.pem holds a private key that others may use; run 'chmod 600 c/key.pem'", {}});
    EXPECT_EQ(open.found, "c/key.pem holds a private key that others may use");
    EXPECT_EQ(open.remedy, "run 'chmod 600 c/key.pem'");
    const Check none = check_unusable({ErrorCode::kNotFound, "no credentials are here", "c"});
    EXPECT_EQ(none.found, "c: no credentials are here");
    EXPECT_EQ(none.remedy, "get a word from your operator and run 'zbs login --code WORD'");
}

TEST(DoctorChecks, CertificatesFailWhenOverAndWarnInTheirLastDay) {
    EXPECT_EQ(check_lifetime(-1s).verdict, CheckResult::kFail);
    EXPECT_EQ(check_lifetime(0s).verdict, CheckResult::kFail);
    EXPECT_EQ(check_lifetime(1s).verdict, CheckResult::kWarn);
    EXPECT_EQ(check_lifetime(24h - 1s).verdict, CheckResult::kWarn);
    EXPECT_EQ(check_lifetime(24h).verdict, CheckResult::kOk);
    EXPECT_EQ(check_lifetime(std::nullopt).verdict, CheckResult::kOk);
}

TEST(DoctorChecks, WarnOfAClockThatNothingKeepsRight) {
    EXPECT_EQ(check_clock(true, 2ms).verdict, CheckResult::kOk);
    EXPECT_EQ(check_clock(false, 16s).verdict, CheckResult::kWarn);
}

TEST(DoctorChecks, WarnOfAHomeZoneWithAnotherTime) {
    EXPECT_EQ(check_home_clock(9s, 1s).verdict, CheckResult::kOk);
    EXPECT_EQ(check_home_clock(-11s, 1s).verdict, CheckResult::kOk);
    const Check ahead = check_home_clock(3min, 1s);
    EXPECT_EQ(ahead.verdict, CheckResult::kWarn);
    EXPECT_NE(ahead.found.find("ahead of"), std::string::npos) << ahead.found;
    EXPECT_NE(check_home_clock(-3min, 1s).found.find("behind"), std::string::npos);
    EXPECT_EQ(check_home_clock(25s, 20s).verdict, CheckResult::kOk) << "a late answer is less exact";
}

TEST(DoctorChecks, FailForAnotherVersionOfTheInterface) {
    EXPECT_EQ(check_version("1").verdict, CheckResult::kOk);
    for (const char* other : {"", "2", "1.0", "\x1b[2J"}) {
        EXPECT_EQ(check_version(other).verdict, CheckResult::kFail) << other;
        EXPECT_EQ(check_version(other).found.find('\x1b'), std::string::npos);
    }
}

TEST(DoctorChecks, TellOfEachPeerWhetherItTakesUs) {
    const std::vector<Check> checks = check_peers(Json::parse(
        R"({"peers":[{"zone":"b","outbound":"accepted"},{"zone":"c","outbound":"rejected","reason":"full"},{"zone":3},)"
        R"({"zone":"d","outbound":"accepted","reason":"it expired","condition":{"state":"certificate","age_s":75.5}},)"
        R"({"zone":"e","outbound":"accepted","condition":{"state":"up","age_s":0.4}}]})"));
    ASSERT_EQ(checks.size(), 5u);
    EXPECT_EQ(checks[0].verdict, CheckResult::kOk);
    EXPECT_EQ(checks[1].verdict, CheckResult::kWarn);
    EXPECT_EQ(checks[1].found, "does not take users of your organisation: rejected, full");
    EXPECT_EQ(checks[2].found, "does not take users of your organisation: never asked");
    EXPECT_EQ(checks[3].verdict, CheckResult::kWarn) << "it takes users, but no call succeeds";
    EXPECT_EQ(checks[3].found, "certificate: it expired (as of 1m15s ago)");
    EXPECT_EQ(checks[4].found, "takes users of your organisation");
    EXPECT_EQ(check_peers(Json::object()).at(0).verdict, CheckResult::kWarn);
}

TEST(DoctorChecks, ReadTheVersionsOfBothKindsOfMpi) {
    EXPECT_EQ(mpi_version("HYDRA build details:\n    Version:                                 4.0.2\n    CC: gcc"),
              "MPICH (Hydra) 4.0.2");
    EXPECT_EQ(mpi_version("mpiexec (OpenRTE) 4.1.4\n\nReport bugs to"), "Open MPI 4.1.4");
    EXPECT_EQ(mpi_version("something else\nmore"), "something else");
    EXPECT_EQ(mpi_version("HYDRA"), "MPICH (Hydra) ");
    EXPECT_EQ(mpi_version(""), "");
}

TEST(DoctorChecks, TheWorstOneCounts) {
    EXPECT_EQ(worst_of({}), CheckResult::kOk);
    EXPECT_EQ(worst_of({{"a", CheckResult::kWarn, "", ""}, {"b", CheckResult::kOk, "", ""}}), CheckResult::kWarn);
    EXPECT_EQ(worst_of({{"a", CheckResult::kFail, "", ""}, {"b", CheckResult::kWarn, "", ""}}), CheckResult::kFail);
    EXPECT_EQ(command_line::document_of({{"a", CheckResult::kFail, "f", "r"}}),
              Json::parse(R"({"verdict":"fail","checks":[{"check":"a","verdict":"fail","found":"f","remedy":"r"}]})"));
}

}  // namespace
}  // namespace zbs::cli
