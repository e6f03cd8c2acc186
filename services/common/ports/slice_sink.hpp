#pragma once
#include <optional>
#include <string>

#include "services/common/messages/node.hpp"

namespace zbs {

/// Where it goes who runs when: to the machines that see to it. What was set last is told until its machine has it, and
/// again should it forget. All calls return at once.
class SliceSink {
  public:
    virtual ~SliceSink() = default;
    /// The newest column of a machine.
    virtual void set_column(const std::string& machine, SliceColumn column) = 0;
    /// The newest shares of a machine's steps; who is not named has what is as without.
    virtual void set_shares(const std::string& machine, ShareTable table) = 0;
    /// Whether the machine can give weights; none where that is not known yet.
    virtual std::optional<bool> has_weights(const std::string& machine) const = 0;
};

}  // namespace zbs
