#pragma once
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs {

/// What is going on at one machine of a zone, beside what the zone has there.
struct MachineUse {
    MachineName machine;
    int allocated = 0;   ///< processors that somebody has there, parts of the zone included
    std::string fault;   ///< why nothing can be started there; empty where it can
    double speed = 1;    ///< share of its configured speed that new work gets there, above 0, up to 1
    std::string host{};  ///< name of the host that it is; empty = not known
};

/// Looks at machines; those that it leaves out are as configured. Asked from the domain's strand, answered there, once.
using MachineUsageSource = std::function<void(std::function<void(Result<std::vector<MachineUse>>)>)>;

}  // namespace zbs
