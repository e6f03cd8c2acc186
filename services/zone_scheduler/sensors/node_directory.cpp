#include "services/zone_scheduler/sensors/node_directory.hpp"

#include <algorithm>
#include <cmath>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

constexpr Duration kRegisteredEvery = std::chrono::seconds{10};
/// A machine that has nothing left now is not stopped: its own scheduler shares it.
constexpr double kMinSpeed = 0.05;

}  // namespace

Result<NodeLease> NodeDirectory::put(const MachineName& name, NodeRegistration registration) {
    if (registration.description.name != name)
        return invalid("is of node '" + registration.description.name + "', the call of '" + name + "'",
                       "/description/name");
    if (!entries_.contains(name) && entries_.size() >= limits::kMaxNodes)
        return Error{ErrorCode::kTooManyRequests,
                     "this zone keeps " + std::to_string(limits::kMaxNodes) +
                         " nodes; a restart of it forgets those "
                         "that are gone",
                     {}};
    const bool is_new = !is_live(name);
    Entry& entry = entries_[name];
    if (is_new || entry.registration.url != registration.url)
        log_.info("node_registered", {{"node", name},
                                      {"url", registration.url},
                                      {"processors", std::to_string(registration.description.processors)}});
    entry.seen = clock_.now();
    entry.until = clock_.steady_now() + kLease;
    entry.registration = std::move(registration);
    if (!agents_.contains(name)) return NodeLease{name, kLease};
    if (!entry.available) entry.available.emplace(kRegisteredEvery);
    // In thousandths, as it is shown: there may be thousands of agents with dozens of values each. One that comes at
    // the same instant as the last is left out.
    const double share = entry.registration.load.cpu_available / entry.registration.description.processors;
    entry.available->observe(std::round(share * 1'000) / 1'000, entry.seen);
    return NodeLease{name, kLease};
}

std::vector<NodeDirectory::Node> NodeDirectory::nodes() const {
    std::vector<Node> nodes;
    for (const auto& [name, entry] : entries_)
        nodes.push_back(
            {entry.registration, entry.seen, is_live(name), entry.available ? entry.available->view() : std::nullopt});
    return nodes;
}

const NodeRegistration* NodeDirectory::find(const MachineName& name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second.registration;
}

std::vector<MachineUse> NodeDirectory::uses_of(const std::vector<Machine>& machines) const {
    std::vector<MachineUse> uses;
    for (const Machine& machine : machines)
        if (agents_.contains(machine.name)) uses.push_back(use_of(machine));
    return uses;
}

MachineUse NodeDirectory::use_of(const Machine& machine) const {
    MachineUse use{.machine = MachineName(machine.name)};
    const auto at = entries_.find(use.machine);
    if (at == entries_.end()) {
        use.fault = "no agent has registered";
    } else if (!is_live(use.machine)) {
        use.fault = "its agent does not answer";
    } else if (const int has = at->second.registration.description.processors; has < machine.processors) {
        use.fault = "its agent may use " + std::to_string(has) + " processors, not " +
                    std::to_string(machine.processors) + " as the zone's file says";
    } else if (const auto next = at->second.available->forecast()) {
        use.speed = std::clamp(next->value, kMinSpeed, 1.0);
    }
    return use;
}

bool NodeDirectory::is_live(const MachineName& name) const {
    const auto at = entries_.find(name);
    return at != entries_.end() && clock_.steady_now() < at->second.until;
}

}  // namespace zbs
