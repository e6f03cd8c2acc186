#include "services/zone_scheduler/assembly/zone_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using testing::HasSubstr;

/// The figures of a zone to which this and that happens.
struct MeteredZone {
    VirtualClock clock;
    ZoneConfig config;
    ZoneMetrics metrics{config, clock, {}};

    Application application(std::vector<StateChange> history) {
        Application made;
        made.status.history = std::move(history);
        made.status.state = made.status.history.back().state;
        return made;
    }
    PartRecord part(PartState state, const std::string& operation = {}) {
        PartRecord made;
        made.status.state = state;
        made.operation = operation;
        return made;
    }
    std::string text() { return metrics.counted(metrics::TextFormat::kOpenMetrics); }
};

constexpr Time at(int seconds) { return Time{std::chrono::seconds{seconds}}; }

TEST(ZoneMetrics, WaitEndsWithTheStartAndTurnaroundWithTheEnd) {
    MeteredZone zone;
    std::vector<StateChange> history = {{ApplicationState::kAccepted, at(100)}};
    zone.metrics.application_entered(zone.application(history));
    history.push_back({ApplicationState::kRunning, at(107)});
    zone.metrics.application_entered(zone.application(history));
    history.push_back({ApplicationState::kCompleted, at(140)});
    zone.metrics.application_entered(zone.application(history));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_application_wait_seconds_sum 7\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_application_wait_seconds_bucket{le=\"5.0\"} 0\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_application_wait_seconds_bucket{le=\"10.0\"} 1\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_application_turnaround_seconds_sum{state=\"completed\"} 40\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_applications_submitted_total 1\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_applications_ended_total{state=\"completed\"} 1\n"));
}

TEST(ZoneMetrics, AStartIsComparedWithTheOneThatWasToldFirst) {
    MeteredZone zone;
    const auto enter = [&zone](char id, ApplicationState state, int now, int start_in = 0) {
        Application made = zone.application({{state, at(now)}});
        made.request.id = ApplicationId{*parse_id128(std::string(25, '0') + id)};
        if (start_in > 0) made.status.plan = ApplicationPlan{.start_in = std::chrono::seconds{start_in}};
        zone.metrics.application_entered(made);
    };
    enter('1', ApplicationState::kPlanned, 100, 60);
    enter('1', ApplicationState::kPlanned, 150, 30);  // it slips: the user was promised 160
    enter('1', ApplicationState::kRunning, 190);
    enter('2', ApplicationState::kPlanned, 100, 60);
    enter('2', ApplicationState::kRunning, 155);
    enter('3', ApplicationState::kPlanned, 100);  // nothing to wait for
    enter('3', ApplicationState::kRunning, 101);
    enter('4', ApplicationState::kPlanned, 100, 60);
    enter('4', ApplicationState::kCancelled, 500);
    const std::string text = zone.text();
    EXPECT_THAT(text, HasSubstr("zbs_zone_application_start_error_seconds_sum{start=\"later\"} 30\n"));
    EXPECT_THAT(text, HasSubstr("zbs_zone_application_start_error_seconds_count{start=\"later\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("zbs_zone_application_start_error_seconds_sum{start=\"sooner\"} 5\n"));
    EXPECT_THAT(text, HasSubstr("zbs_zone_application_start_error_seconds_count{start=\"sooner\"} 1\n"));
}

TEST(ZoneMetrics, AClockThatIsSetBackMakesNoNegativeWait) {
    MeteredZone zone;
    zone.metrics.application_entered(
        zone.application({{ApplicationState::kAccepted, at(100)}, {ApplicationState::kRunning, at(40)}}));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_application_wait_seconds_sum 0\n"));
}

TEST(ZoneMetrics, APartThatRanIsNoReleasedHold) {
    MeteredZone zone;
    zone.metrics.part_entered(zone.part(PartState::kHeld));
    zone.metrics.part_entered(zone.part(PartState::kCommitted));
    zone.metrics.part_entered(zone.part(PartState::kReleased, "run-1"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_holds_total{outcome=\"granted\"} 1\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_holds_total{outcome=\"committed\"} 1\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_holds_total{outcome=\"released\"} 0\n"));
    zone.metrics.part_entered(zone.part(PartState::kReleased));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_holds_total{outcome=\"released\"} 1\n"));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_parts_ended_total{state=\"released\"} 2\n"));
}

TEST(ZoneMetrics, OnlyHoldsThatAreRefusedCountAsRefusals) {
    MeteredZone zone;
    zone.metrics.answered(Action::kScheduleCluster, 201);
    zone.metrics.answered(Action::kScheduleCluster, 422);
    zone.metrics.answered(Action::kAskCapacity, 403);
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_holds_refused_total{reason=\"rejected\"} 1\n"));
    EXPECT_THAT(zone.text(), Not(HasSubstr("reason=\"denied\"")));
    EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_requests_total{operation=\"askCapacity\",code=\"403\"} 1\n"));
}

TEST(ZoneMetrics, CallsAreToldApartByKindAndNotByPart) {
    struct Case {
        const char *method, *path, *kind;
    };
    for (const Case& c :
         {Case{"POST", "/v1/capacity", "capacity"}, Case{"POST", "/v1/parts", "hold"},
          Case{"POST", "/v1/parts/1/commit", "commit"}, Case{"POST", "/v1/parts/1/launch", "launch"},
          Case{"GET", "/v1/parts/1", "status"}, Case{"DELETE", "/v1/parts/1?reason=x/commit", "release"},
          Case{"PUT", "/v1/parts/1/files/ab", "send_file"}, Case{"PUT", "/v1/parts/1/staging", "staging"},
          Case{"GET", "/v1/parts/1/results", "results"},
          Case{"GET", "/v1/parts/1/results/out?offset=0", "fetch_result"}, Case{"PUT", "/v1/zones/a", "registry"},
          Case{"GET", "/elsewhere", "other"}}) {
        MeteredZone zone;
        HttpCall call;
        call.method = c.method;
        call.path = c.path;
        call.to.who = {CallerKind::kZone, "org-b", "b"};
        zone.metrics.called({call, ErrorCode::kTimeout, std::chrono::seconds{3}});
        const std::string labels = std::string("{organisation=\"org-b\",peer=\"b\",call=\"") + c.kind + "\"";
        EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_peer_call_seconds_sum" + labels + "} 3\n")) << c.path;
        EXPECT_THAT(zone.text(), HasSubstr("zbs_zone_peer_call_errors_total" + labels + ",error=\"timeout\"} 1\n"));
    }
}

}  // namespace
}  // namespace zbs::test
