#pragma once
#include <map>
#include <optional>
#include <string>

#include "services/common/messages/part.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// Rights that users hand to their home zone, as RFC 3820 proxies: home makes a key and a request, the user's client
/// signs, home shows the result to the zones that run the application's parts. The user's key never comes here, home's
/// key for the proxy never leaves. Lives on the domain's strand; every answer is stored first.
class DelegationService {
  public:
    /// A proxy outlives the walltime of its application by no more than this: the time it may wait in queues.
    static constexpr Duration kMargin = std::chrono::hours{1};
    /// How far apart the clocks of two zones may be when one shows the other a proof.
    static constexpr Duration kProofLifetime = std::chrono::seconds{60};

    /// `keys` may be null: without TLS nobody needs delegations.
    DelegationService(const ZoneConfig& config, Clock& clock, SiteStore& store, const OwnKeys* keys,
                      const SignatureVerifier& trust, Log& log);
    Result<void> resume();

    /// A fresh key's request for the user to sign. `application` empty: a renewal delegation, from which home makes
    /// proxies for her applications by itself. The same id again: the same answer. Errors: kInvalidArgument for an id
    /// that is not hers; kIdReused; kConflict without TLS; kTooManyRequests.
    Result<Delegation> request(const Caller& owner, const DelegationId& id, const std::string& application);
    /// What the user signed, first or again (a longer life). Errors: kNotFound; kInvalidArgument where it is not for
    /// this key, user or application, or lives too long.
    Result<Delegation> put(const Caller& owner, const DelegationId& id, const std::string& chain);
    Result<Delegation> get(const Caller& owner, const DelegationId& id) const;
    Result<void> remove(const Caller& owner, const DelegationId& id);
    std::optional<Caller> owner_of(const DelegationId& id) const;

    /// Proof toward `zone` that `part` is what its user wants; none where she handed over nothing that is still good.
    /// A renewal delegation of hers is used where there is none for the application, or too little of it is left.
    std::optional<DelegationProof> prove(const PartRequest& part, const Caller& zone);
    /// Whether what its owner handed over for this application is cut to it: errors name the longest life allowed.
    Result<void> check_lifetime(const Caller& owner, const ApplicationId& application, Duration walltime) const;
    /// The other side: whether the proof that came with a part is for this part, this zone, now. Errors: kDenied.
    Result<DelegationInfo> check(const PartRequest& part, const DelegationProof& proof) const;
    /// The owner's application has ended: its key is wiped. What others have delegated under its id stays.
    void forget(const Caller& owner, const ApplicationId& application);

  private:
    const Delegation* find(const Caller& owner, const std::string& application) const;
    bool derive(const PartRequest& part);

    const ZoneConfig& config_;
    Clock& clock_;
    SiteStore& store_;
    const OwnKeys* keys_;
    const SignatureVerifier& trust_;
    Log& log_;
    std::map<DelegationId, Delegation> delegations_;
};

}  // namespace zbs
