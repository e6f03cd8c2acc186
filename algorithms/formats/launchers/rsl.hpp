#pragma once
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// The share of one site in a multi-request.
struct RslSubjob {
    std::string contact;     ///< resource manager contact, as HOST:PORT/SERVICE:SUBJECT; required
    std::string label;       ///< unique in the request; required
    int count = 1;           ///< processes, >= 1
    int host_count = 0;      ///< machines, 1..count; 0 leaves it to the site
    std::string lan_id;      ///< subjobs with equal ids share a LAN; no white space; empty leaves it out
    std::string directory;   ///< empty leaves it to the site
    std::string executable;  ///< required
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>>
        environment;      ///< names distinct; the index and LAN id are added here
    Duration walltime{};  ///< rounded up to whole minutes; 0 leaves it to the site
};

/// One application over several sites. Ranks are numbered by subjob, in order, then inside the subjob.
struct RslRequest {
    std::vector<RslSubjob> subjobs;  ///< at least one
};

/// `text` as an RSL string: in double quotes, inner ones doubled. Fails on NUL (no reader can hold it) and CR (the
/// scanner takes no CRLF file, and a lone CR does not survive a transfer in text mode).
Result<std::string> rsl_quoted(const std::string& text);

/// Globus RSL v1 multi-request `+( &(...) ) ...` with LF line ends, for co-allocation by DUROC and MPICH-G2: every
/// subjob joins the start barrier (strict-barrier) and the common communicator (blocking-join). Every string is quoted,
/// so the result needs no substitution or concatenation. Errors point into {"subjobs":[...]}. Cost linear in the text.
///
/// RSL says how many ranks a site gets, not which machine gets which rank: put that into a host file beside it.
Result<std::string> write_rsl(const RslRequest& request);

/// The same for a launch: a subjob per zone, with hostCount where its hosts have equally many ranks. Where sites'
/// blocks renumber ranks, the environment variable ZBS_RANKS of every subjob lists the application's own numbers
/// (rank_list). Also fails where that list is longer than an environment variable can be.
Result<std::string> write_launch_rsl(const LaunchRequest& request);

}  // namespace zbs::formats
