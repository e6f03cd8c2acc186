#pragma once
#include <string>

#include "services/common/adapters/openssl/trust/trust_store.hpp"
#include "tests/support/certificates.hpp"

namespace zbs::test {

/// Organisations that trust each other's names and nothing more: org-a and org-b with a CA each; org-g with a grid CA,
/// whose certificates carry no URI and whose subject map knows Gil; org-s1 and org-s2, which share one CA: the map of
/// the first knows Sue, that of the second Tom, and both know Two.
struct TrustWorld {
    TrustWorld();

    Holder ca_a, ca_b, ca_grid, ca_shared, ca_unknown;
    Holder ana;    ///< user of org-a
    Holder bob;    ///< user of org-b
    Holder alpha;  ///< zone of org-a
    Holder oscar;  ///< operator of org-a
    Holder gil;    ///< grid user: no URI
    Time now = kToday;
    openssl::TrustStore trust;

    PeerIdentity identify(const Holders& chain, openssl::Role role = openssl::Role::kClient) const;
    /// A proof for the delegation `chain`, signed with the leaf's key.
    SignedText proof(const Holders& chain, const std::string& purpose = "zbs-part", std::string text = "part 1") const;
    /// Who the chain makes the peer: "spiffe://..", with " by proxy" or " by limited proxy"; "refused: " and the
    /// reason.
    std::string verdict(const Holders& chain, openssl::Role role = openssl::Role::kClient) const;
    /// What the delegation grants: "spiffe://.. for <application>", or "refused: " and the reason.
    std::string delegation_verdict(const Holders& chain) const;
};

Holder make_member(const std::string& organisation, const std::string& kind, const std::string& name, const Holder& ca);
/// A proxy for application `id` below `issuer`.
Form application_form(const Holder& issuer, const std::string& id = "01J9Z3V7Q0ABCDEFGHJKMNPQRS");
Form renewal_form(const Holder& issuer);
Form limited_form(const Holder& issuer);

}  // namespace zbs::test
