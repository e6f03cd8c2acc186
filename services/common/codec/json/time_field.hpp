#pragma once
#include <cstdint>

#include "algorithms/base/time.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::codec {

/// A required member of an object: microseconds since 1970, not before it.
inline Time read_time(JsonReader& in, const char* key) { return time_from_microseconds(in.integer(key, 0, INT64_MAX)); }

}  // namespace zbs::codec
