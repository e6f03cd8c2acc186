#pragma once
#include "services/common/codec/peering_codec.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::listing {

/// Of what `GET /v1/peerings` answers: a row per zone of others, whether its users are taken and ours there.
Listing peers_of(const codec::Json& answer);
/// A row per bundle that claims an organisation's name; only operators receive rights and trust.
Listing peerings_of(const codec::Json& answer);

/// The word for one zone of that answer, and how old it is; "-" if the zone is older and does not report it.
Cell state_of(const codec::PeerView& peer);
Cell age_of(const codec::PeerView& peer);

}  // namespace zbs::listing
