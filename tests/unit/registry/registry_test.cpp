#include "services/registry/domain/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs {
namespace {
using namespace zbs::test;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

Caller zone(const std::string& name, const std::string& organisation = "alpha") {
    return {CallerKind::kZone, organisation, name};
}
ZoneEntry entry(const std::string& name, const std::string& organisation = "alpha", Duration lease = seconds{40}) {
    return {.name = name,
            .organisation = organisation,
            .contact = "ops",
            .url = "http://127.0.0.1:1",
            .categories = {"mpi"},
            .interface_version = 1,
            .lease = lease};
}

class RegistryTest : public testing::Test {
  protected:
    RegistryTest() { start(); }
    void start() {
        registry.reset();
        clock =
            std::make_unique<VirtualClock>();  // a restarted machine: timers are gone, the monotonic clock begins anew
        registry = std::make_unique<Registry>(*clock, store, log);
        EXPECT_TRUE(registry->resume());
    }
    std::vector<std::string> names(const ZoneQuery& query = {}) {
        std::vector<std::string> found;
        for (const ZoneEntry& e : registry->list(query)) found.push_back(e.name);
        return found;
    }
    Result<ZoneEntry> publish(const std::string& name, Duration lease = seconds{40}) {
        return registry->publish(zone(name), entry(name, "alpha", lease));
    }

    MemoryRegistryStore store;
    SilentLog log;
    std::unique_ptr<VirtualClock> clock;
    std::unique_ptr<Registry> registry;
};

TEST_F(RegistryTest, EntriesAreListedByName) {
    ASSERT_TRUE(publish("b"));
    ASSERT_TRUE(publish("a"));
    EXPECT_THAT(names(), ElementsAre("a", "b"));
    EXPECT_EQ(registry->list({})[0], entry("a"));
}

TEST_F(RegistryTest, AnEntryVanishesWithItsLease) {
    ASSERT_TRUE(publish("a", seconds{40}));
    clock->advance(seconds{40} - milliseconds{1});
    EXPECT_THAT(names(), ElementsAre("a"));
    clock->advance(milliseconds{1});
    EXPECT_THAT(names(), IsEmpty()) << "at once, not when it is next swept";
    EXPECT_EQ(registry->renew(zone("a"), "a").error().code, ErrorCode::kNotFound);
    clock->advance(seconds{2});
    EXPECT_EQ(log.count("zone_expired"), 1);
    EXPECT_THAT(*store.load(), IsEmpty());
}

TEST_F(RegistryTest, RenewingKeepsItForAnotherLease) {
    ASSERT_TRUE(publish("a", seconds{40}));
    for (int i = 0; i < 10; ++i) {
        clock->advance(seconds{39});
        ASSERT_TRUE(registry->renew(zone("a"), "a"));
    }
    clock->advance(seconds{39});
    EXPECT_THAT(names(), ElementsAre("a"));
    clock->advance(seconds{1});
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, AJumpOfTheWallClockEndsNoLease) {
    ASSERT_TRUE(publish("a"));
    clock->set_wall(clock->now() + std::chrono::hours{24 * 365});
    clock->advance(seconds{2});
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryTest, LeasesAreGrantedWithinBounds) {
    EXPECT_EQ(publish("a", Duration{0})->lease, Registry::kMinLease);
    EXPECT_EQ(publish("a", seconds{7})->lease, seconds{7});
    EXPECT_EQ(publish("a", seconds{3600})->lease, Registry::kMaxLease);
}

TEST_F(RegistryTest, ARestartGivesEveryEntryItsFullLeaseAgain) {
    ASSERT_TRUE(publish("a", seconds{40}));
    clock->advance(seconds{39});
    start();
    clock->advance(seconds{39});
    EXPECT_THAT(names(), ElementsAre("a"));
    ASSERT_TRUE(registry->renew(zone("a"), "a")) << "the zone need not notice the restart";
    clock->advance(seconds{41});
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, WhatExpiredBeforeARestartStaysGone) {
    ASSERT_TRUE(publish("a", seconds{1}));
    clock->advance(seconds{3});
    start();
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, ANameBelongsToItsOrganisationWhileItLives) {
    ASSERT_TRUE(publish("a"));
    const auto taken = registry->publish(zone("a", "beta"), entry("a", "beta"));
    EXPECT_EQ(taken.error().code, ErrorCode::kConflict);
    EXPECT_EQ(registry->list({})[0].organisation, "alpha");
    EXPECT_EQ(registry->renew(zone("a", "beta"), "a").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(registry->leave(zone("a", "beta"), "a").error().code, ErrorCode::kNotFound);
    start();
    EXPECT_EQ(registry->publish(zone("a", "beta"), entry("a", "beta")).error().code, ErrorCode::kConflict)
        << "after a restart too";
    ASSERT_TRUE(registry->leave(zone("a"), "a"));
    EXPECT_TRUE(registry->publish(zone("a", "beta"), entry("a", "beta")));
}

TEST_F(RegistryTest, OnlyTheZoneItselfChangesItsEntry) {
    ASSERT_TRUE(publish("a"));
    EXPECT_EQ(registry->publish(zone("b"), entry("a")).error().code, ErrorCode::kDenied);
    EXPECT_EQ(registry->publish(zone("a"), entry("a", "beta")).error().code, ErrorCode::kDenied);
    EXPECT_EQ(registry->renew(zone("b"), "a").error().code, ErrorCode::kDenied);
    EXPECT_EQ(registry->leave(zone("b"), "a").error().code, ErrorCode::kDenied);
    for (const Caller& caller :
         {Caller{}, Caller{CallerKind::kUser, "alpha", "a"}, Caller{CallerKind::kOperator, "alpha", "a"}}) {
        EXPECT_EQ(registry->publish(caller, entry("a")).error().code, ErrorCode::kUnauthenticated) << caller;
        EXPECT_EQ(registry->renew(caller, "a").error().code, ErrorCode::kUnauthenticated) << caller;
        EXPECT_EQ(registry->leave(caller, "a").error().code, ErrorCode::kUnauthenticated) << caller;
    }
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryTest, QueriesFilterByCategoryAndInterface) {
    ZoneEntry gpu = entry("gpu");
    gpu.categories = {"mpi", "gpu"};
    ZoneEntry next = entry("next");
    next.interface_version = 2;
    ASSERT_TRUE(registry->publish(zone("gpu"), gpu));
    ASSERT_TRUE(registry->publish(zone("next"), next));
    EXPECT_THAT(names({"mpi", 0}), ElementsAre("gpu", "next"));
    EXPECT_THAT(names({"gpu", 0}), ElementsAre("gpu"));
    EXPECT_THAT(names({"", 2}), ElementsAre("next"));
    EXPECT_THAT(names({"gpu", 2}), IsEmpty());
    EXPECT_THAT(names({"gp", 0}), IsEmpty()) << "whole words";
}

TEST_F(RegistryTest, LeavingTakesTheEntryOutForGood) {
    ASSERT_TRUE(publish("a"));
    EXPECT_EQ(registry->leave(zone("a"), "a")->name, "a");
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(registry->leave(zone("a"), "a").error().code, ErrorCode::kNotFound);
    start();
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RegistryTest, WhatCannotBeStoredIsNotShown) {
    ASSERT_TRUE(publish("a"));
    store.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(publish("b").error().message, "disk full");
    EXPECT_EQ(registry->leave(zone("a"), "a").error().message, "disk full");
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryTest, IsFullAtItsLimit) {
    for (int i = 0; i < limits::kMaxZonesInRegistry; ++i) ASSERT_TRUE(publish("z" + std::to_string(i)));
    EXPECT_EQ(publish("more").error().code, ErrorCode::kTooManyRequests);
    EXPECT_TRUE(publish("z7")) << "replacing needs no room";
    ASSERT_TRUE(registry->leave(zone("z7"), "z7"));
    EXPECT_TRUE(publish("more"));
}

}  // namespace
}  // namespace zbs
