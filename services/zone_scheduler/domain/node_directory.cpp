#include "services/zone_scheduler/domain/node_directory.hpp"

#include <utility>

#include "services/common/messages/limits.hpp"

namespace zbs {

Result<NodeLease> NodeDirectory::put(const std::string& name, NodeRegistration registration) {
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
    entry = {std::move(registration), clock_.now(), clock_.steady_now() + kLease};
    return NodeLease{name, kLease};
}

std::vector<NodeDirectory::Node> NodeDirectory::nodes() const {
    std::vector<Node> nodes;
    for (const auto& [name, entry] : entries_) nodes.push_back({entry.registration, entry.seen, is_live(name)});
    return nodes;
}

const NodeRegistration* NodeDirectory::find(const std::string& name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second.registration;
}

bool NodeDirectory::is_live(const std::string& name) const {
    const auto at = entries_.find(name);
    return at != entries_.end() && clock_.steady_now() < at->second.until;
}

}  // namespace zbs
