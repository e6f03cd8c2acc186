#pragma once
#include "services/common/messages/node.hpp"

namespace zbs {

/// What this machine is and has to give.
class MachineSensor {
  public:
    virtual ~MachineSensor() = default;
    /// Name and step folder are left to the caller. Looked up once.
    virtual NodeDescription describe() = 0;
    /// Now, and of the time since the call before. `own_cpu`: what this agent's steps have used in all, at this moment;
    /// that much of what was busy since then is not others'.
    virtual NodeLoad load(Duration own_cpu) = 0;
};

}  // namespace zbs
