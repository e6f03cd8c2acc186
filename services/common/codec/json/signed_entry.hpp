#pragma once
#include "services/common/messages/registry.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs::codec {

/// The entry as text, signed by the zone itself.
Result<SignedText> sign_entry(const OwnKeys& keys, const ZoneEntry& entry);

/// What a zone signed about itself, whichever service forwarded it: the signature is good, the signer is exactly the
/// zone that the entry names, its certificate leads to the bundle inside, the address is https. It does not prove that
/// the bundle is the organisation's: compare it with a pinned one, or its fingerprint with one from an operator.
/// Errors: kDenied or kInvalidArgument, with the condition that fails.
Result<ZoneEntry> verify_entry(const SignatureVerifier& trust, const SignedText& text);

}  // namespace zbs::codec
