#pragma once
#include <string>

#include "services/common/messages/registry.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs {

/// A zone's wish to be accepted, and how it proves who wishes: it signs fixed lines that both sides write from the
/// fields, so there is no text to take in two ways. They name the zone asked (a request shown to one zone is worth
/// nothing at another), the time, and the bundle's fingerprint.
Result<PeeringRequest> make_peering_request(const PeeringRequest& plain, const Caller& to, Time now,
                                            const OwnKeys& keys, const TrustBundles& trust);

/// The fingerprint of the bundle that the request shows, if a zone of its name signed it for `to` not more than 10
/// minutes from `now`, and the signer's chain leads to that very bundle. Proves nothing about who may call itself that
/// organisation: an operator compares the fingerprint. Errors: kDenied; kUnauthenticated (the signer's certificate does
/// not count); kInvalidArgument for what is no bundle.
Result<std::string> check_peering_request(const PeeringRequest& request, const Caller& to, Time now,
                                          const TrustBundles& trust);

}  // namespace zbs
