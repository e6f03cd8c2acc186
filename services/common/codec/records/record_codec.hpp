#pragma once
#include "services/common/codec/json/json.hpp"
#include "services/common/ports/storage/zone_store.hpp"

/// Values that are stored but never sent.
namespace zbs::codec {

Json encode(const PartRecord& record);
Result<PartRecord> decode_part_record(const Json& json);

}  // namespace zbs::codec
