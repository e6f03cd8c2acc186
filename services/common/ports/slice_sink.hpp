#pragma once
#include <optional>

#include "services/common/messages/node.hpp"

namespace zbs {

/// Receives which step runs when, for the machines that enforce it. The newest columns are sent until their machine has
/// them, and again should it forget them. All calls return at once.
class SliceSink {
  public:
    virtual ~SliceSink() = default;
    /// The newest column of a machine.
    virtual void set_column(const MachineName& machine, SliceColumn column) = 0;
    /// The newest shares of a machine's steps; who is not named has what is as without.
    virtual void set_shares(const MachineName& machine, ShareTable table) = 0;
    /// Whether the machine can give weights; none where that is not known yet.
    virtual std::optional<bool> has_weights(const MachineName& machine) const = 0;
};

}  // namespace zbs
