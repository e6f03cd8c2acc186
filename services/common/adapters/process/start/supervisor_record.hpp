#pragma once
#include <optional>
#include <string>

#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::process {

/// Where process numbers mean something: one host (or container) from its start to its end.
struct HostLife {
    std::string id;    ///< the kernel's boot, and the process namespace in it; empty: not known
    std::string name;  ///< of the host, for people
    bool operator==(const HostLife&) const = default;
};
/// That of this process.
const HostLife& this_host();

/// Who supervises a step, as it has put down in the step's folder, which other hosts may see, too.
struct SupervisorRecord {
    ProcessRef process;
    HostLife host;  ///< without id if the kernel gave none
    /// Whether `process` says anything here.
    bool is_of_this_host() const { return host.id.empty() || this_host().id.empty() || host.id == this_host().id; }
    /// Why nothing can be said of a step with this record; for one that is not of this host.
    std::string why_out_of_reach() const;
};
/// Whether a supervisor of the step in `folder` is there, on whichever host: it holds a lock, which network file
/// systems pass on. Processes of this host are better looked for by their number.
bool is_supervised(const std::string& folder);
/// " on host X", or nothing where that is this one or is not known.
std::string where_supervised(const std::string& folder);
/// Nothing where there is none, or it cannot be read.
std::optional<SupervisorRecord> read_supervisor_record(const std::string& folder);
bool write_supervisor_record(const std::string& folder, const ProcessRef& process);

}  // namespace zbs::process
