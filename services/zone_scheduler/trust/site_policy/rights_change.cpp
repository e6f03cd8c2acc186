#include "services/zone_scheduler/trust/site_policy/rights_change.hpp"

namespace zbs {
namespace {

constexpr int kFloorPart = 10;

/// A ceiling with its floor. Ceilings out of range stay visible to `check_rights`.
template <class Number>
void change_pair(Number& floor, Number& ceiling, const std::optional<Number>& new_floor,
                 const std::optional<Number>& new_ceiling) {
    if (new_ceiling) {
        ceiling = *new_ceiling;
        floor = ceiling / kFloorPart + (ceiling % kFloorPart > Number{} ? Number{1} : Number{0});
    }
    if (new_floor) floor = *new_floor;
}

template <class Value>
void change_one(Value& value, const std::optional<Value>& wanted) {
    if (wanted) value = *wanted;
}

}  // namespace

RightsRange default_rights(int zone_processors) {
    return apply(
        {}, {.processors = zone_processors, .walltime = std::chrono::hours{24}, .concurrent_parts = zone_processors});
}

RightsRange apply(RightsRange range, const RightsChange& change) {
    PeeringRights& top = range.ceiling;
    change_pair(range.floor.processors, top.processors, change.floor_processors, change.processors);
    change_pair(range.floor.walltime, top.walltime, change.floor_walltime, change.walltime);
    change_pair(range.floor.concurrent_parts, top.concurrent_parts, change.floor_parts, change.concurrent_parts);
    change_one(top.hours, change.hours);
    change_one(top.weekdays, change.weekdays);
    change_one(top.partitions, change.partitions);
    change_one(top.share, change.share);
    change_one(top.account_rule, change.account_rule);
    change_one(top.require_delegation, change.require_delegation);
    return range;
}

}  // namespace zbs
