#pragma once
#include <string>

#include "services/common/messages/node.hpp"

namespace zbs {

/// Where the columns of a slice matrix go: to the machines that keep them.
class SliceSink {
  public:
    virtual ~SliceSink() = default;
    /// The newest column of a machine; it is told until it has it, and again should it forget. Returns at once.
    virtual void set_column(const std::string& machine, SliceColumn column) = 0;
};

}  // namespace zbs
