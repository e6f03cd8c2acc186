#include "services/node_agent/domain/zone_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_executor.hpp"
#include "tests/support/memory_depot.hpp"
#include "tests/support/node_fakes.hpp"
#include "tests/support/silent_log.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;

class ZoneSessionTest : public testing::Test {
  protected:
    /// Seconds after the start at which it registered, within `time`.
    std::vector<int> registrations(Duration time) {
        const Duration begin = clock.steady_now();
        session.start("https://n1:1");
        clock.settle();
        clock.advance(time);
        std::vector<int> seconds;
        for (const Duration at : sent_at) seconds.push_back(static_cast<int>(to_seconds(at - begin)));
        return seconds;
    }

    test::VirtualClock clock;
    test::FakeExecutor executor{clock};
    test::FakeProcessControl control;
    test::FakeMachineSensor sensor;
    test::SilentLog log;
    SliceSwitcher switcher{clock, control, log};
    test::MemoryDepot depot;
    InputStore inputs{depot, clock, log, 64 << 20};
    NodeService node{NodePorts{.clock = clock,
                               .steps = executor,
                               .files = executor,
                               .control = control,
                               .sensor = sensor,
                               .switcher = switcher,
                               .post_switch = [](const std::function<void()>& work) { work(); },
                               .inputs = inputs,
                               .log = log},
                     "n1", "/steps/{operation}/job"};
    std::vector<Duration> sent_at;
    bool zone_is_there = true;
    ZoneSession session{clock, node,
                        [this](const NodeRegistration& registration, const auto& respond) {
                            EXPECT_EQ(registration.url, "https://n1:1");
                            EXPECT_EQ(registration.description.name, "n1");
                            sent_at.push_back(clock.steady_now());
                            clock.after(0us, [this, respond] {
                                if (zone_is_there) return respond(NodeLease{"n1", 40s});
                                respond(Error{ErrorCode::kUnavailable, "refused", {}});
                            });
                        },
                        log};
};

TEST_F(ZoneSessionTest, RegistersEveryTenSeconds) {
    EXPECT_THAT(registrations(30s), testing::ElementsAre(0, 10, 20, 30));
    EXPECT_TRUE(session.is_registered());
    EXPECT_EQ(log.count("registered"), 1);
}

TEST_F(ZoneSessionTest, AsksAgainWhereTheZoneIsAwayAndSaysSoOnce) {
    zone_is_there = false;
    EXPECT_THAT(registrations(36s), testing::ElementsAre(0, 1, 3, 7, 15, 25, 35));
    EXPECT_FALSE(session.is_registered());
    EXPECT_EQ(log.count("not_registered"), 1);
    zone_is_there = true;
    clock.advance(10s);
    EXPECT_TRUE(session.is_registered());
}

TEST_F(ZoneSessionTest, StopsWhenToldTo) {
    session.start("https://n1:1");
    session.stop();
    clock.advance(60s);
    EXPECT_EQ(sent_at.size(), 1U);
}

}  // namespace
}  // namespace zbs
