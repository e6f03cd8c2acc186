#include "services/common/failpoint/failpoint.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/messages/limits.hpp"

// Failpoints as text: what the environment says, and the table.
namespace zbs::failpoint {
namespace {

struct Slot {
    std::optional<Arming> arming;
    std::atomic<unsigned> hits{0};
};
std::array<Slot, kTable.size()> g_slots;
OnHit g_on_hit;
std::string g_for_steps;

Slot& slot_of(Point point) { return g_slots[static_cast<std::size_t>(point)]; }
const Row& row_of(Point point) { return kTable[static_cast<std::size_t>(point)]; }

[[noreturn]] void crash() {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

std::string names() {
    std::string all;
    for (const Row& row : kTable) all += (all.empty() ? "" : ", ") + std::string(row.name);
    return all;
}

Result<Arming> parse_one(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    const auto row = std::find_if(kTable.begin(), kTable.end(), [&](const Row& r) { return r.name == name; });
    if (row == kTable.end()) return invalid("no failpoint is named '" + name + "'; there are: " + names());
    Arming arming{.point = row->point};
    std::string action(equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1));
    if (const std::size_t at = action.find('@'); at != std::string::npos) {
        arming.at_hit = parse_number<unsigned>(std::string_view(action).substr(at + 1)).value_or(0);
        if (arming.at_hit == 0)
            return invalid("after '@' of failpoint '" + name + "' comes how many times it is passed before, from 1");
        action.resize(at);
    }
    if (action == "crash") return arming;
    if (action == "error") {
        arming.action = Action::kError;
        return arming;
    }
    if (action.starts_with("stall:")) {
        const Result<Duration> time = parse_duration(action.substr(6));
        if (!time) return invalid("failpoint '" + name + "' cannot stall: " + time.error().message);
        arming.action = Action::kStall;
        arming.stall = *time;
        return arming;
    }
    return invalid("failpoint '" + name + "' can do crash, error or stall:DURATION (as in stall:5s), not '" + action +
                   "'");
}

/// A zone comes by what is of its steps, too: it hands those on to their supervisors.
bool comes_by(Program program, const Row& row) {
    if (row.program == Program::kServices) return program != Program::kStep;
    return row.program == program || (row.program == Program::kStep && program == Program::kZone);
}

}  // namespace

void arm(const std::vector<Arming>& armings, OnHit on_hit) {
    g_on_hit = std::move(on_hit);
    std::vector<Arming> for_steps;
    for (const Arming& arming : armings) {
        slot_of(arming.point).arming = arming;
        if (row_of(arming.point).program == Program::kStep) for_steps.push_back(arming);
    }
    g_for_steps = to_text(for_steps);
    detail::any_is_armed = !armings.empty();
}

void arm(const std::vector<Arming>& armings, Log& log) {
    const auto warn = [&log](const char* event, const Arming& arming) {
        log.warn(event, {{"name", std::string(row_of(arming.point).name)}, {"action", to_string(arming.action)}});
    };
    for (const Arming& arming : armings) warn("failpoint_armed", arming);
    arm(armings, OnHit([warn](const Arming& arming) { warn("failpoint_hit", arming); }));
}

const std::string& armed_for_steps() { return g_for_steps; }

void disarm() {
    detail::any_is_armed = false;
    for (Slot& slot : g_slots) {
        slot.arming.reset();
        slot.hits = 0;
    }
    g_on_hit = {};
    g_for_steps.clear();
}

Result<void> detail::act(Point point) {
    Slot& slot = slot_of(point);
    if (!slot.arming || slot.hits.fetch_add(1) + 1 != slot.arming->at_hit) return {};
    if (g_on_hit) g_on_hit(*slot.arming);
    switch (slot.arming->action) {
        case Action::kCrash:
            crash();
        case Action::kStall:
            std::this_thread::sleep_for(slot.arming->stall);
            return {};
        case Action::kError:
            break;
    }
    return Error{ErrorCode::kUnavailable, "failpoint '" + std::string(row_of(point).name) + "' is armed to fail", {}};
}

Result<std::vector<Arming>> parse(std::string_view text, Program program) {
    if (text.size() > limits::kMaxFailpointBytes)
        return invalid("failpoints have at most " + std::to_string(limits::kMaxFailpointBytes) + " bytes");
    std::vector<Arming> armings;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        Result<Arming> one = parse_one(text.substr(0, end));
        if (!one) return one.error();
        const Row& row = kTable[static_cast<std::size_t>(one->point)];
        if (!comes_by(program, row)) {
            return invalid("failpoint '" + std::string(row.name) + "' is of the " + to_string(row.program) +
                           ", and a " + to_string(program) + " never comes by it");
        }
        for (const Arming& other : armings) {
            if (other.point == one->point) return invalid("failpoint '" + std::string(row.name) + "' is armed twice");
        }
        armings.push_back(*one);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return armings;
}

Result<std::vector<Arming>> from_environment(Program program) {
    const char* const text = std::getenv("ZBS_FAILPOINTS");
    Result<std::vector<Arming>> armings = parse(text == nullptr ? "" : text, program);
    if (!armings) return Error{armings.error().code, armings.error().message, "ZBS_FAILPOINTS"};
    return armings;
}

std::string to_text(const std::vector<Arming>& armings) {
    std::string text;
    for (const Arming& arming : armings) {
        text += (text.empty() ? "" : ";") + std::string(kTable[static_cast<std::size_t>(arming.point)].name) + "=" +
                to_string(arming.action);
        if (arming.action == Action::kStall)
            text += ":" + std::to_string(arming.stall / std::chrono::milliseconds{1}) + "ms";
        if (arming.at_hit != 1) text += "@" + std::to_string(arming.at_hit);
    }
    return text;
}

}  // namespace zbs::failpoint
