#pragma once
#include <cstdint>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/peer/match.hpp"

namespace zbs {

/// The processors of a part on one machine.
struct MachineShare {
    MachineName machine;
    std::vector<std::int32_t> processors;  ///< ascending
};

/// In the order of the machines in the zone.
std::vector<MachineShare> shares_of(const Match& match);

namespace codec {

Json encode_shares(const std::vector<MachineShare>& shares);
/// A part of a workload, and where and when it would run.
Json encode_match(const MatchPart& part, const Match& match);

}  // namespace codec
}  // namespace zbs
