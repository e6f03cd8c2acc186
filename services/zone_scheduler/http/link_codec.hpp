#pragma once
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/sensors/link_sensor.hpp"
#include "services/zone_scheduler/sensors/node_link_sensor.hpp"

namespace zbs::codec {

/// As `LinkDelay` and `ProcessorShare` of schemas/openapi/zone.
Json encode(const SeriesView& series);
/// The links of a zone: to others, and between its machines.
Json encode_links(const ZoneName& zone, const std::vector<LinkView>& links, const NodeLinkSensor& machines);

}  // namespace zbs::codec
