#include "services/common/adapters/openssl/trust/trust_store.hpp"

#include <utility>

#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/chain_check.hpp"
#include "services/common/adapters/openssl/trust/proxy_rules.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::openssl {
namespace {

std::string bundle_of(const OrganisationName& organisation) { return "the bundle of '" + organisation + "'"; }

/// Why a chain that is good opens no connection.
const char* find_bar(ProxyRights rights) {
    switch (rights) {
        case ProxyRights::kApplication:
            return "the proxy is bound to one application: it proves a delegation and opens no connection";
        case ProxyRights::kRenewal:
            return "the proxy is for renewal: it signs proxies for applications and opens no connection";
        case ProxyRights::kAll:
        case ProxyRights::kLimited:
            break;
    }
    return nullptr;
}

}  // namespace

/// Who is believed at one instant.
struct TrustStore::Snapshot {
    std::map<OrganisationName, std::shared_ptr<const Organisation>> organisations;
    std::map<OrganisationName, std::shared_ptr<const SubjectMap>> subjects;  ///< of grid users, by organisation
};

TrustStore::TrustStore(Now now) : now_(std::move(now)), snapshot_(std::make_shared<const Snapshot>()) {}
TrustStore::~TrustStore() = default;

std::shared_ptr<const TrustStore::Snapshot> TrustStore::snapshot() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
}

Result<std::string> TrustStore::fingerprint(std::string_view bundle_pem) const {
    const Result<std::shared_ptr<const Bundle>> bundle = read_bundle(bundle_pem, "the bundle");
    if (!bundle) return bundle.error();
    return fingerprint_of(**bundle);
}

Result<BundleNames> TrustStore::names_in(std::string_view bundle_pem) const {
    const Result<std::shared_ptr<const Bundle>> bundle = read_bundle(bundle_pem, "the bundle");
    if (!bundle) return bundle.error();
    return openssl::names_in(**bundle);
}

Result<void> TrustStore::pin(const OrganisationName& organisation, const std::string& bundle_pem) {
    if (!is_valid_name(organisation))
        return invalid("'" + printable(organisation) + "' is no name of an organisation (1..64 of a-z 0-9 . _ -)");
    Result<std::shared_ptr<const Bundle>> bundle = read_bundle(bundle_pem, bundle_of(organisation));
    if (!bundle) return bundle.error();
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Snapshot>(*snapshot_);
    Organisation trust;
    if (const auto known = next->organisations.find(organisation); known != next->organisations.end())
        trust = *known->second;
    trust.bundle = *std::move(bundle);
    std::erase_if(trust.lists, [&](const auto& list) { return !has_authority(*trust.bundle, list.first); });
    next->organisations[organisation] = std::make_shared<const Organisation>(std::move(trust));
    snapshot_ = std::move(next);
    return {};
}

void TrustStore::unpin(const OrganisationName& organisation) {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Snapshot>(*snapshot_);
    next->organisations.erase(organisation);
    snapshot_ = std::move(next);
}

std::optional<std::string> TrustStore::bundle(const OrganisationName& organisation) const {
    const auto now = snapshot();
    const auto at = now->organisations.find(organisation);
    if (at == now->organisations.end()) return std::nullopt;
    return at->second->bundle->pem;
}

std::vector<OrganisationName> TrustStore::organisations() const {
    std::vector<OrganisationName> names;
    for (const auto& entry : snapshot()->organisations) names.push_back(entry.first);
    return names;
}

Result<void> TrustStore::set_revocations(const OrganisationName& organisation, const std::string& crl_pem) {
    const auto before = snapshot();
    const auto at = before->organisations.find(organisation);
    if (at == before->organisations.end())
        return Error{ErrorCode::kNotFound, "organisation '" + printable(organisation) + "' is not known here", {}};
    Result<Revocations> list = read_list(crl_pem, *at->second->bundle, organisation);
    if (!list) return list.error();

    const std::lock_guard lock(mutex_);
    const auto known = snapshot_->organisations.find(organisation);
    if (known == snapshot_->organisations.end() || known->second->bundle != at->second->bundle)
        return Error{ErrorCode::kConflict, bundle_of(organisation) + " changed meanwhile; send the list again", {}};
    Organisation trust = *known->second;
    auto& slot = trust.lists[list->authority];
    if (slot && !replaces(*list, *slot))
        return Error{ErrorCode::kConflict,
                     "the revocation list of '" + organisation + "' is older than the one known here, which counts",
                     {}};
    slot = std::make_shared<const Revocations>(*std::move(list));
    auto next = std::make_shared<Snapshot>(*snapshot_);
    next->organisations[organisation] = std::make_shared<const Organisation>(std::move(trust));
    snapshot_ = std::move(next);
    return {};
}

bool TrustStore::is_revoked(const OrganisationName& organisation, std::string_view serial) const {
    const auto now = snapshot();
    const auto at = now->organisations.find(organisation);
    return at != now->organisations.end() && at->second->is_revoked(serial);
}

Result<void> TrustStore::set_subject_map(const OrganisationName& organisation,
                                         std::map<std::string, std::string> subjects) {
    if (!is_valid_name(organisation))
        return invalid("'" + printable(organisation) + "' is no name of an organisation (1..64 of a-z 0-9 . _ -)");
    if (subjects.size() > limits::kMaxSubjectMapEntries)
        return Error{ErrorCode::kTooLarge,
                     "the subject map of '" + organisation + "' has over " +
                         std::to_string(limits::kMaxSubjectMapEntries) + " entries",
                     {}};
    for (const auto& [subject, user] : subjects) {
        if (!is_valid_name(user))
            return invalid("'" + printable(user) + "', for subject '" + printable(subject) +
                           "', is no user name (1..64 of a-z 0-9 . _ -)");
    }
    auto map = std::make_shared<const SubjectMap>(std::move(subjects));
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Snapshot>(*snapshot_);
    next->subjects[organisation] = std::move(map);
    snapshot_ = std::move(next);
    return {};
}

Result<CertificateInfo> TrustStore::verify_text(std::string_view purpose, const SignedText& text,
                                                std::optional<std::string_view> bundle_pem) const {
    const Result<std::vector<Certificate>> chain = read_certificates(text.chain, kChainLimits, "the signer's chain");
    if (!chain) return refused(chain.error().message);
    if (is_proxy(chain->front().get())) return refused("the text is signed by a proxy, which signs no texts");
    ChainQuestion question{.subjects_count = false};
    if (bundle_pem) {
        Result<std::shared_ptr<const Bundle>> bundle = read_bundle(*bundle_pem, "the bundle");
        if (!bundle) return bundle.error();
        question.bundle = *std::move(bundle);
    }
    const auto known = snapshot();
    const Result<BelievedChain> signer =
        check_chain(view(*chain), question, known->organisations, known->subjects, now_());
    if (!signer) return signer.error();
    if (!is_signed_by(X509_get0_pubkey(chain->front().get()), purpose, text.text, text.signature))
        return refused("the signature of " + to_uri(signer->end_entity.name) + " does not fit the text");
    return signer->end_entity;
}

Result<DelegationInfo> TrustStore::verify_delegation(std::string_view purpose, const SignedText& proof) const {
    return verify_proxy_of(purpose, proof, /*renewal=*/false);
}

Result<DelegationInfo> TrustStore::verify_renewal(std::string_view purpose, const SignedText& proof) const {
    return verify_proxy_of(purpose, proof, /*renewal=*/true);
}

Result<DelegationInfo> TrustStore::verify_proxy_of(std::string_view purpose, const SignedText& proof,
                                                   bool renewal) const {
    const Result<std::vector<Certificate>> chain = read_certificates(proof.chain, kChainLimits, "the delegation");
    if (!chain) return refused(chain.error().message);
    const auto known = snapshot();
    const Result<BelievedChain> believed = check_chain(view(*chain), {}, known->organisations, known->subjects, now_());
    if (!believed) return believed.error();
    const CertificateInfo& user = believed->end_entity;
    if (believed->proxies.rights == ProxyRights::kLimited)
        return refused("the delegation of " + to_uri(user.name) + " is a limited proxy, which may not submit");
    if (renewal && believed->proxies.rights != ProxyRights::kRenewal)
        return refused("the delegation of " + to_uri(user.name) + " is not one to renew from");
    if (!renewal && believed->proxies.rights != ProxyRights::kApplication)
        return refused("the delegation of " + to_uri(user.name) + " is not bound to one application");
    if (!is_signed_by(X509_get0_pubkey(chain->front().get()), purpose, proof.text, proof.signature))
        return refused("whoever sends the delegation of " + to_uri(user.name) + " does not have its key");
    return DelegationInfo{user.name, user.serial, believed->proxies.application, believed->proxies.not_after};
}

PeerIdentity TrustStore::identify(X509* leaf, STACK_OF(X509) * chain, Role role) const {
    if (leaf == nullptr) return {};
    std::vector<X509*> certificates{leaf};
    const int count = chain ? sk_X509_num(chain) : 0;
    for (int i = 0; i < count && certificates.size() <= static_cast<std::size_t>(limits::kMaxChainCertificates); ++i) {
        X509* const next = sk_X509_value(chain, i);
        if (i == 0 && X509_cmp(next, leaf) == 0) continue;  // OpenSSL gives it on one side only
        certificates.push_back(next);
    }
    const auto known = snapshot();
    const Result<BelievedChain> peer =
        check_chain(certificates, {.role = role}, known->organisations, known->subjects, now_());
    if (!peer) return PeerIdentity::refused(peer.error().message);
    if (const char* bar = find_bar(peer->proxies.rights)) return PeerIdentity::refused(bar);
    return {peer->end_entity.name, peer->proxies.proxies > 0 ? Evidence::kProxy : Evidence::kCertificate,
            peer->proxies.rights == ProxyRights::kLimited, peer->end_entity.serial};
}

}  // namespace zbs::openssl
