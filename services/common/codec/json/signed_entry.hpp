#pragma once
#include "services/common/messages/registry.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs::codec {

/// The entry as text, signed by the zone itself.
Result<SignedText> sign_entry(const OwnKeys& keys, const ZoneEntry& entry);

/// What a zone signed about itself, whoever passed it on: the signature is good, the signer is exactly the zone that
/// the entry names, its certificate leads to the bundle inside, the address is https. Whether that bundle really is the
/// organisation's is not said: compare it with a pinned one, or its fingerprint with what an operator told. Errors:
/// kDenied or kInvalidArgument, with what does not hold.
Result<ZoneEntry> verify_entry(const TrustBundles& trust, const SignedText& text);

}  // namespace zbs::codec
