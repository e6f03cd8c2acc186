#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "services/zone_scheduler/records/part_view.hpp"
#include "services/zone_scheduler/records/retention.hpp"
#include "tests/support/federation_world.hpp"
#include "tests/support/silent_log.hpp"

namespace zbs::test {

/// Three zones, and a user of zone a who brings files.
struct StagingTest : testing::Test {
    FederationWorld world{{4, 4, 4}};
    const Caller home{CallerKind::kZone, "org-a", "a"};
    std::map<std::string, int> messages;  ///< "stage b", ...

    StagingTest() {
        world.on_message = [this](const std::string&, const std::string& to, const char* what) {
            ++messages[std::string(what) + " " + to];
        };
    }
    void run_for(Duration runtime, int exit_code = 0) {
        for (const char* zone : {"a", "b", "c"})
            world.node(zone).executor->script("", {.runtime = runtime, .exit_code = exit_code});
    }
    /// Each zone's ranks leave these.
    void leave(const std::string& zone, std::map<std::string, std::string> files,
               Duration runtime = std::chrono::seconds{5}) {
        world.node(zone).executor->script("run-", {.runtime = runtime, .files = std::move(files)});
    }
    FileLibrary& files(const std::string& zone) { return *world.node(zone).files; }
    StagedFile bring(const std::string& name, const std::string& bytes) {
        const StagedFile file{.name = name, .digest = MemoryDepot::digest_of(bytes), .size = bytes.size()};
        EXPECT_TRUE(files("a").put(world.user(), file.digest, {0, file.size, 0, bytes}));
        return file;
    }
    ApplicationRequest request(Staging staging, int ranks = 12) {
        ApplicationRequest r = world.request(ranks);
        r.staging = std::move(staging);
        return r;
    }
    ApplicationId submit(const ApplicationRequest& r) {
        const auto taken = world.node("a").applications->submit(world.user(), r);
        EXPECT_TRUE(taken) << taken.error();
        return r.id;
    }
    Result<Application> try_submit(Staging staging) {
        return world.node("a").applications->submit(world.user(), request(std::move(staging)));
    }
    std::string result(const ApplicationId& id, const std::string& name) {
        std::string all;
        for (;;) {
            const auto piece = world.node("a").applications->result(world.user(), id, name, all.size());
            if (!piece) return "error: " + piece.error().message;
            all += piece->bytes;
            if (all.size() == piece->size) return all;
        }
    }
    const StepSpec* first_step(const std::string& zone) {
        for (const auto& [step_id, step] : world.node(zone).executor->steps())
            if (step_id.str().starts_with("run-")) return &step.spec;
        return nullptr;
    }
    /// A committed part of this home's in zone b.
    PartStatus committed() {
        PartRequest r{.id = PartId{world.ids.fresh(home)},
                      .application = ApplicationId{world.ids.fresh(world.user())},
                      .user = world.user(),
                      .home = "a",
                      .ranks = {0}};
        r.graph = *TaskGraph::make({1.0}, {});
        r.walltime = std::chrono::minutes{1};
        const auto held = world.node("b").parts->hold(home, r);
        EXPECT_TRUE(held) << held.error();
        return world.node("b").parts->commit(home, r.id, held->token).value();
    }
};

}  // namespace zbs::test
