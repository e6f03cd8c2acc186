#pragma once
#include "services/common/codec/audit_codec.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::listing {

/// Entries of a log of decisions as rows; `items` are the records as the service said them, in the same order.
Listing audit_listing(const codec::AuditPage& page, codec::Json items);

}  // namespace zbs::listing
