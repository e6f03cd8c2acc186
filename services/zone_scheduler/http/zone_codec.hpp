#pragma once
#include <optional>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/home/application_output.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/sensors/link_sensor.hpp"
#include "services/zone_scheduler/sensors/node_directory.hpp"
#include "services/zone_scheduler/sensors/node_link_sensor.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

/// Replies of a zone about its inside, whose values no other service has.
/// Replies of a zone about its peerings.
namespace zbs::codec {

/// The files of an application's output.
Json encode(const ApplicationOutput::LogIndex& index);

/// A rank and the processor that it has.
struct RankRow {
    ZoneName zone;
    RankPlace place;
};
/// `rows` by rank; `rsl_order` are the ranks in the order of the RSL text.
Json encode_assignment(const ApplicationId& id, const std::vector<RankRow>& rows,
                       const std::vector<TaskIndex>& rsl_order);

/// The machines of a zone, and the agents on them.
struct NodeList {
    ZoneName zone;
    OrganisationName organisation;
    std::vector<ProcessorLedger::NodeView> nodes;
    std::vector<NodeDirectory::Node> agents;
    bool has_addresses = false;  ///< addresses of agents are for operators
    std::vector<std::string> categories;
    std::string sharing;  ///< by which means parts share processors; empty: they do not
    int slices = 0;       ///< rows of the slice matrix, if they do
};
Json encode(const NodeList& list);

/// A part in the zone's queue.
struct QueueRow {
    const PartRecord& part;
    std::optional<int> slice{};
    std::optional<QueueOutlook> outlook{};
};
/// `ended` is none where nobody asked for those.
Json encode_queue(const std::vector<QueueRow>& parts, const std::optional<std::vector<QueueRow>>& ended);

/// As `LinkDelay` and `ProcessorShare` of schemas/openapi/zone.
Json encode(const SeriesView& series);
/// The links of a zone: to others, and between its machines.
Json encode_links(const ZoneName& zone, const std::vector<LinkView>& links, const NodeLinkSensor& machines);

/// For users of the own organisation: that there is a peering, not what was granted.
Json encode_short(const std::vector<PeeringService::View>& peerings);
/// For operators.
Json encode_full(const std::vector<PeeringService::View>& peerings);

/// One organisation; the peerings are encoded for the caller, by one of the two above.
Json encode_organisation(const OrganisationName& organisation, Json peerings, const std::vector<Peer>& peers);
/// The answer to a change.
Json encode_changed(const OrganisationName& organisation, Json peerings, const std::vector<std::string>& notes);
/// The answer to a removal.
Json encode_forgotten(const OrganisationName& organisation);

}  // namespace zbs::codec
