#pragma once
#include <map>
#include <memory>
#include <string>

#include "services/common/adapters/openssl/trust/organisation_trust.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "services/common/adapters/openssl/trust/trust_store.hpp"

namespace zbs::openssl {

using SubjectMap = std::map<std::string, std::string>;

/// How a chain is looked at.
struct ChainQuestion {
    Role role = Role::kClient;
    bool subjects_count = true;                 ///< grid certificates get their user's name from the subject map
    std::shared_ptr<const Bundle> bundle = {};  ///< believed in place of the named organisation's own
};

/// A chain that is believed.
struct BelievedChain {
    CertificateInfo end_entity;
    ProxyChain proxies;
};

/// Every check on a chain, leaf first: sizes, keys, proxies, the end entity's name and form, the one bundle that may
/// vouch for that name, revocations. Errors: kUnauthenticated, fit for the peer.
Result<BelievedChain> check_chain(ChainView chain, const ChainQuestion& question,
                                  const std::map<OrganisationName, std::shared_ptr<const Organisation>>& organisations,
                                  const std::map<OrganisationName, std::shared_ptr<const SubjectMap>>& subjects,
                                  Time now);

}  // namespace zbs::openssl
