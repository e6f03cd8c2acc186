#include "services/zone_scheduler/trust/delegation_service.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {
namespace {

constexpr const char* kPartPurpose = "zbs part of an application 1";
constexpr const char* kTrialPurpose = "zbs delegation arrived 1";
constexpr Duration kMinLeft = std::chrono::minutes{10};

/// A proxy is dated by another clock, and may wait a while before it is used.
Duration longest_life(Duration walltime) {
    return walltime + DelegationService::kMargin + DelegationService::kProofLifetime;
}

Error no_such(const DelegationId& id) {
    return {ErrorCode::kNotFound, "no delegation " + to_string(id) + " of yours is here", {}};
}

Error no_keys() {
    return {ErrorCode::kConflict, "without TLS there is nothing to delegate; make keys with 'zbs-zone init'", {}};
}

/// What home signs with the proxy's key for one use. Fixed lines: two readers cannot take them differently.
std::string statement(const PartRequest& part, const Caller& zone, Time at) {
    return "part " + to_string(part.id) + "\napplication " + to_string(part.application) + "\nzone " + to_uri(zone) +
           "\nat " + std::to_string(to_microseconds(at)) + "\n";
}

/// The time in a statement; none where it is no statement about this part and zone.
std::optional<Time> time_of(const std::string& text, const PartRequest& part, const Caller& zone) {
    const std::string before = statement(part, zone, Time{});
    const std::size_t head = before.size() - 2;  // up to the number
    if (text.size() < head + 2 || text.compare(0, head, before, 0, head) != 0 || text.back() != '\n')
        return std::nullopt;
    const auto us = parse_number<std::int64_t>(std::string_view(text).substr(head, text.size() - 1 - head));
    if (!us || *us < 0) return std::nullopt;
    return time_from_microseconds(*us);
}

}  // namespace

DelegationService::DelegationService(const ZoneConfig& config, Clock& clock, SiteStore& store, const OwnKeys* keys,
                                     const SignatureVerifier& trust, Log& log)
    : config_(config), clock_(clock), store_(store), keys_(keys), trust_(trust), log_(log) {}

Result<void> DelegationService::resume() {
    Result<std::vector<Delegation>> known = store_.delegations().load();
    if (!known) return known.error();
    for (Delegation& delegation : *known) delegations_.emplace(delegation.id, std::move(delegation));
    return {};
}

Result<Delegation> DelegationService::request(const Caller& owner, const DelegationId& id,
                                              const std::string& application) {
    if (keys_ == nullptr) return no_keys();
    if (auto own = check_mark(id.value, owner); !own) return own.error();
    if (const auto at = delegations_.find(id); at != delegations_.end()) {
        if (at->second.owner == owner && at->second.application == application) return at->second;
        return Error{ErrorCode::kIdReused, "delegation " + to_string(id) + " was asked for otherwise", "/id"};
    }
    const auto mine = std::count_if(delegations_.begin(), delegations_.end(),
                                    [&](const auto& item) { return item.second.owner == owner; });
    if (static_cast<std::size_t>(mine) >= limits::kMaxDelegationsPerUser) {
        return Error{ErrorCode::kTooManyRequests,
                     "you have " + std::to_string(mine) + " delegations here; remove those that you do not need",
                     {}};
    }
    const Result<OwnKeys::ProxyRequest> made = keys_->make_proxy_request();
    if (!made) return made.error();
    Delegation delegation{.id = id,
                          .owner = owner,
                          .application = application,
                          .renewal = application.empty(),
                          .key = made->key,
                          .request = made->request,
                          .created = clock_.now()};
    if (auto ok = store_.delegations().save(delegation); !ok) return ok.error();
    delegations_.emplace(id, delegation);
    return delegation;
}

Result<Delegation> DelegationService::put(const Caller& owner, const DelegationId& id, const std::string& chain) {
    const auto at = delegations_.find(id);
    if (at == delegations_.end() || !(at->second.owner == owner)) return no_such(id);
    if (keys_ == nullptr) return no_keys();
    // The proof that home will give to others, tried on itself: whatever they would refuse is refused here.
    const Result<SignedText> trial = keys_->sign_with_proxy(kTrialPurpose, to_string(id), at->second.key, chain);
    if (!trial) return trial.error();
    const Result<DelegationInfo> info = at->second.renewal ? trust_.verify_renewal(kTrialPurpose, *trial)
                                                           : trust_.verify_delegation(kTrialPurpose, *trial);
    if (!info) return invalid(info.error().message, "/chain");
    if (!(info->user == owner)) return invalid("the proxy is of " + to_uri(info->user) + ", not yours", "/chain");
    if (info->application != at->second.application)
        return invalid("the proxy is for application '" + info->application + "', the delegation for '" +
                           at->second.application + "'",
                       "/chain");
    Delegation changed = at->second;
    changed.chain = chain;
    changed.not_after = info->not_after;
    if (auto ok = store_.delegations().save(changed); !ok) return ok.error();
    at->second = changed;
    log_.info("delegated", {{"owner", to_uri(owner)}, {"application", changed.application}});
    return changed;
}

Result<Delegation> DelegationService::get(const Caller& owner, const DelegationId& id) const {
    const auto at = delegations_.find(id);
    if (at == delegations_.end() || !(at->second.owner == owner)) return no_such(id);
    return at->second;
}

Result<void> DelegationService::remove(const Caller& owner, const DelegationId& id) {
    const auto at = delegations_.find(id);
    if (at == delegations_.end() || !(at->second.owner == owner)) return no_such(id);
    if (auto ok = store_.delegations().remove(to_string(id)); !ok) return ok.error();
    delegations_.erase(at);
    return {};
}

std::optional<Caller> DelegationService::owner_of(const DelegationId& id) const {
    const auto at = delegations_.find(id);
    if (at == delegations_.end()) return std::nullopt;
    return at->second.owner;
}

/// The one with most time left.
const Delegation* DelegationService::find(const Caller& owner, const std::string& application) const {
    const Delegation* best = nullptr;
    for (const auto& [id, delegation] : delegations_) {
        if (!(delegation.owner == owner) || delegation.application != application || delegation.chain.empty()) continue;
        if (delegation.not_after <= clock_.now()) continue;
        if (best == nullptr || best->not_after < delegation.not_after) best = &delegation;
    }
    return best;
}

/// Makes a proxy for the application from the user's renewal delegation; false where there is none.
bool DelegationService::derive(const PartRequest& part) {
    const Delegation* renewal = find(part.user, {});
    if (renewal == nullptr) return false;
    const Duration lifetime = std::min<Duration>(std::chrono::hours{12}, part.walltime + kMargin);
    const Result<OwnKeys::Derived> made =
        keys_->derive_proxy(renewal->key, renewal->chain, to_string(part.application), lifetime);
    if (!made) {
        log_.warn("renewal_failed", {{"owner", to_uri(part.user)}, {"reason", made.error().message}});
        return false;
    }
    // Under the application's own id: one record, replaced by each renewal.
    Delegation fresh{.id = DelegationId{part.application.value},
                     .owner = part.user,
                     .application = to_string(part.application),
                     .key = made->key,
                     .request = made->request,
                     .chain = made->chain,
                     .not_after = made->not_after,
                     .created = clock_.now()};
    if (auto ok = store_.delegations().save(fresh); !ok) {
        log_.warn("store_failed", {{"delegation", to_string(fresh.id)}, {"reason", ok.error().message}});
        return false;
    }
    delegations_.insert_or_assign(fresh.id, std::move(fresh));
    return true;
}

std::optional<DelegationProof> DelegationService::prove(const PartRequest& part, const Caller& zone) {
    if (keys_ == nullptr) return std::nullopt;
    const std::string application = to_string(part.application);
    const Delegation* own = find(part.user, application);
    if (own == nullptr || own->not_after - clock_.now() < kMinLeft) {
        if (derive(part)) own = find(part.user, application);
    }
    if (own == nullptr) return std::nullopt;
    Result<SignedText> proof =
        keys_->sign_with_proxy(kPartPurpose, statement(part, zone, clock_.now()), own->key, own->chain);
    if (proof) return DelegationProof{std::move(proof->text), std::move(proof->chain), std::move(proof->signature)};
    log_.warn("proof_failed", {{"application", application}, {"reason", proof.error().message}});
    return std::nullopt;
}

Result<DelegationInfo> DelegationService::check(const PartRequest& part, const DelegationProof& proof) const {
    const auto denied = [](const std::string& why) {
        return Error{ErrorCode::kDenied, "the delegation does not count: " + why, "/delegation"};
    };
    const Caller self = config_.self();
    const Result<DelegationInfo> info =
        trust_.verify_delegation(kPartPurpose, {proof.text, proof.chain, proof.signature});
    if (!info) return denied(info.error().message);
    const std::optional<Time> at = time_of(proof.text, part, self);
    if (!at) return denied("it is not about this part at this zone");
    const Duration ahead = *at - clock_.now();
    if (std::chrono::abs(ahead) > kProofLifetime)  // passes once a clock is mended: the part may be asked for again
        return Error{ErrorCode::kUnavailable,
                     "the delegation does not count: " + clock_difference_text("its home zone", ahead, "this zone's"),
                     "/delegation"};
    if (!(info->user == part.user)) return denied("it is of " + to_uri(info->user));
    if (info->application != to_string(part.application)) return denied("it is for another application");
    if (info->not_after - clock_.now() > longest_life(part.walltime))
        return denied("it outlives the walltime by more than an hour");
    return info;
}

Result<void> DelegationService::check_lifetime(const Caller& owner, const ApplicationId& application,
                                               Duration walltime) const {
    const Delegation* own = find(owner, to_string(application));
    if (own == nullptr || own->not_after - clock_.now() <= longest_life(walltime)) return {};
    return invalid(
        "the delegation of this application outlives its walltime by more than an hour; sign one of at most " +
            std::to_string(std::chrono::ceil<std::chrono::seconds>(walltime + kMargin).count()) + " s",
        "/id");
}

void DelegationService::forget(const Caller& owner, const ApplicationId& application) {
    const std::string id = to_string(application);
    for (auto at = delegations_.begin(); at != delegations_.end();) {
        if (!(at->second.owner == owner) || at->second.application != id) {
            ++at;
            continue;
        }
        if (auto ok = store_.delegations().remove(to_string(at->first)); !ok) {
            log_.warn("store_failed", {{"delegation", to_string(at->first)}, {"reason", ok.error().message}});
            ++at;
            continue;
        }
        at = delegations_.erase(at);
    }
}

}  // namespace zbs
