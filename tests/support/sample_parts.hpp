#pragma once
#include <chrono>
#include <string>
#include <utility>

#include "algorithms/base/rng.hpp"
#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/peer/part.hpp"
#include "tests/support/made_graph.hpp"

namespace zbs::test {

/// Zone b, a part of two ranks for the home a, and any event that may come to it.
struct SampleParts {
    static constexpr Duration kNow = std::chrono::seconds{100};
    static constexpr Time kWall = Time{} + std::chrono::seconds{5'000};

    SampleParts() {
        config.zone = {"b", {{"m0", 2, 1.0}}};
        config.organisation = "org-b";
    }
    PartRecord record() const {
        PartRecord made{.home_caller = {CallerKind::kZone, "org-a", "a"},
                        .request = {.id = PartId{make_id128(0, 0, 1)},
                                    .user = {CallerKind::kUser, "org-a", "ana"},
                                    .home = "a",
                                    .ranks = {0, 1},
                                    .graph = test::made({1, 1}, {})}};
        made.request.walltime = std::chrono::minutes{5};
        made.request.grace = std::chrono::seconds{30};
        made.status = {.id = made.request.id, .zone = "b", .token = 7, .assignment = {{0, "m0", 0}, {1, "m0", 1}}};
        made.processors = {0, 1};
        return made;
    }
    part::State held() const { return *part::begin(config, record(), {kNow, kWall}).next; }
    part::State queued() const {
        PartRecord waiting = record();
        waiting.request.queued = true;
        waiting.processors.clear();
        waiting.status.assignment.clear();
        return *part::begin(config, waiting, {kNow, kWall}).next;
    }
    part::Launch launch() const {
        return {{.token = 7, .operation = "run", .proxies = {{0, "m0"}, {1, "m0"}}}, {"m0", "m0"}};
    }
    static StepStatus runs() { return {.state = StepStatus::State::kRunning}; }
    static StepStatus ended(int code, std::string reason = {}) {
        return {.state = StepStatus::State::kExited, .exit_code = code, .reason = std::move(reason)};
    }
    StepStatus any_step() {
        StepStatus step = rng.below(3) == 0 ? runs() : ended(static_cast<int>(rng.below(3)) * 70);
        if (rng.below(6) == 0) step.state = StepStatus::State::kUnknown;
        if (rng.below(6) == 0) step.reason = std::string(kWalltimeReason) + " 300 s reached";
        step.is_site_fault = rng.below(9) == 0;
        return step;
    }
    part::Observation any_observation() {
        part::Observation seen{.steps = {any_step(), any_step()}, .is_allocated = rng.below(2) == 0};
        if (rng.below(5) == 0) seen.not_begun = "no such file";
        if (rng.below(4) == 0)
            seen.first_end = RankEnd{.rank = 1, .code = 3, .before_finalize = rng.below(2) == 0, .at = kWall};
        return seen;
    }
    part::Event any_event(const part::State& part, Duration now) {
        switch (rng.below(15)) {
            case 0:
                return part::Commit{};
            case 1:
                if (part::check_launch(part, {now, kWall + (now - kNow)})) return launch();
                return part::Commit{};
            case 2:
                return part::StartFailed{"no account"};
            case 3:
                return part::Release{"released"};
            case 4:
                return part::Block{};
            case 5:
                return part::Withdraw{"taken back"};
            case 6:
                return part::Granted{};
            case 7:
                return part::Placed{{{0, 1}, record().status.assignment}};
            case 8:
                return part::FilesAnnounced{{.results = {rng.below(2) == 0 ? "out" : "log"}}};
            case 9:
                return part::FilesMoved{now + std::chrono::seconds{10}};
            case 10:
                return part::InputsBrought{};
            case 11:
                return part::TimePassed{};
            case 12:
                return part::Judged{rng.below(2) == 0 ? "" : "PREEMPTED"};
            case 13:
                return part::GivenBack{};
            default:
                return part::ProcessesSeen{any_observation()};
        }
    }
    static bool fits(const part::State& part) {
        const PartState state = part.record.status.state;
        if (std::holds_alternative<part::Held>(part.phase)) return state == PartState::kHeld;
        if (std::holds_alternative<part::Committed>(part.phase)) return state == PartState::kCommitted;
        if (std::holds_alternative<part::Ended>(part.phase)) return is_final(state);
        return state == PartState::kRunning;
    }

    ZoneConfig config;
    Rng rng{1};
};

}  // namespace zbs::test
