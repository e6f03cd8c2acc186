#pragma once
#include <map>
#include <string>
#include <vector>

#include "services/common/messages/node.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"

namespace zbs {

/// Node agents of this zone, as they register again and again. Nothing of it is stored: who is there says so within
/// seconds of a restart, and time while the zone was down counts against nobody. Lives on the domain's strand.
class NodeDirectory {
  public:
    static constexpr Duration kLease = std::chrono::seconds{40};

    /// Both must outlive this.
    NodeDirectory(const Clock& clock, Log& log) : clock_(clock), log_(log) {}

    /// Errors: kInvalidArgument where the description is of another node than `name`; kTooManyRequests over
    /// `limits::kMaxNodes`.
    Result<NodeLease> put(const std::string& name, NodeRegistration registration);

    struct Node {
        NodeRegistration registration;  ///< the last one
        Time seen{};                    ///< when it came
        bool is_live = false;           ///< its lease has not run out
    };
    /// All that registered since the zone was started, by name.
    std::vector<Node> nodes() const;
    /// Null where it never registered.
    const NodeRegistration* find(const std::string& name) const;
    bool is_live(const std::string& name) const;

  private:
    struct Entry {
        NodeRegistration registration;
        Time seen{};
        Duration until{};  ///< steady time
    };
    const Clock& clock_;
    Log& log_;
    std::map<std::string, Entry> entries_;
};

}  // namespace zbs
