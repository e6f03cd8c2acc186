#include "services/common/failpoint/failpoint.hpp"

#include <signal.h>
#include <unistd.h>

#include <optional>
#include <thread>

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

}  // namespace zbs::failpoint
