#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/listing/rows.hpp"
#include "services/zone_scheduler/peer/match.hpp"

/// What `zbs-zone match` reads and prints.
namespace zbs::zone_program {

struct MatchFile {
    ZoneConfig zone;  ///< of the machines that the parts may have
    std::vector<MatchPart> parts;
};

/// A zone's file with [[part]] tables, ready for `match_parts`. `partition`: whose queue it is; empty: that of the
/// machines in no partition of their own. Errors: `read_zone_settings`'s, also for the parts; kInvalidArgument with
/// the names that there are for a partition without machines.
Result<MatchFile> read_match_file(const std::string& path, const std::string& partition = {});

/// One row a part, by instants from the start of the workload. Precondition: a match for each part.
listing::Listing matches_of(const std::vector<MatchPart>& parts, const std::vector<Match>& matches);

}  // namespace zbs::zone_program
