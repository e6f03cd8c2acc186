#include "services/zone_scheduler/program/commands/match_codec.hpp"

#include <map>
#include <optional>

namespace zbs {

std::vector<MachineShare> shares_of(const Match& match) {
    std::map<std::int32_t, const RankPlace*> by_processor;
    for (std::size_t rank = 0; rank < match.processors.size(); ++rank)
        by_processor.emplace(match.processors[rank], &match.places[rank]);
    std::vector<MachineShare> shares;
    for (const auto& [processor, place] : by_processor) {
        if (shares.empty() || shares.back().machine != place->machine) shares.push_back({place->machine, {}});
        shares.back().processors.push_back(place->processor);
    }
    return shares;
}

namespace codec {
namespace {

Json seconds_or_null(const std::optional<Duration>& at) { return at ? Json(to_seconds(*at)) : Json(); }

}  // namespace

Json encode_shares(const std::vector<MachineShare>& shares) {
    Json machines = Json::array();
    for (const MachineShare& share : shares)
        machines.push_back({{"name", share.machine}, {"processors", share.processors}});
    return machines;
}

Json encode_match(const MatchPart& part, const Match& match) {
    return {{"part", part.name},
            {"organisation", part.organisation},
            {"ranks", part.ranks},
            {"submitted_s", to_seconds(part.submit)},
            {"start_s", seconds_or_null(match.start)},
            {"end_s", seconds_or_null(match.end)},
            {"machines", encode_shares(shares_of(match))},
            {"waits_for", match.waits_for ? Json(to_string(*match.waits_for)) : Json()},
            {"refused", match.refused.empty() ? Json() : Json(match.refused)}};
}

}  // namespace codec
}  // namespace zbs
