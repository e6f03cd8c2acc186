#include "services/zone_scheduler/trust/membership_service.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

Error no_such_code() {
    return {ErrorCode::kDenied,
            "this code does not work here: it was used, has run out, or never was one; ask your operator for another "
            "('zbs-zone user add NAME')",
            {}};
}

Error runs_without_keys() {
    return {ErrorCode::kConflict,
            "this zone runs without keys, alone on its machine: there are no certificates, for users or toward other "
            "zones; stop it, run 'zbs-zone init --config FILE', and start it again",
            {}};
}

}  // namespace

MembershipService::MembershipService(const ZoneConfig& config, Clock& clock, SiteStore& store, const OwnKeys* keys,
                                     TrustBundles& trust, Secrets& secrets, Log& log)
    : config_(config), clock_(clock), store_(store), keys_(keys), trust_(trust), secrets_(secrets), log_(log) {}

Result<void> MembershipService::resume() {
    Result<std::vector<Member>> members = store_.members().load();
    if (!members) return members.error();
    for (Member& member : *members) members_.emplace(member.name, std::move(member));
    Result<std::vector<Block>> blocks = store_.blocks().load();
    if (!blocks) return blocks.error();
    for (Block& block : *blocks) blocks_.emplace(block.subject, std::move(block));
    Result<std::vector<AnnouncedBlocks>> announcements = store_.announced_blocks().load();
    if (!announcements) return announcements.error();
    for (const AnnouncedBlocks& one : *announcements) {
        if (!parse_identity(one.announcer)) continue;
        announced_blocks_[one.announcer] = std::set<std::string>(one.subjects.begin(), one.subjects.end());
    }
    if (keys_ == nullptr) return {};
    if (auto pinned = trust_.pin(config_.organisation, keys_->bundle()); !pinned) return pinned.error();
    Result<std::vector<TrustedOrganisation>> trusted = store_.trusted().load();
    if (!trusted) return trusted.error();
    for (const TrustedOrganisation& known : *trusted) {
        if (known.organisation != config_.organisation) {
            if (auto pinned = trust_.pin(known.organisation, known.bundle); !pinned) return pinned.error();
        }
        if (known.revocations.empty()) continue;
        if (auto set = trust_.set_revocations(known.organisation, known.revocations); !set) {
            // The bundle may have been replaced since; the zone's next statement brings a list that fits.
            log_.warn("revocations_unusable", {{"organisation", known.organisation}, {"reason", set.error().message}});
            continue;
        }
        if (known.organisation == config_.organisation) revocations_ = known.revocations;
    }
    return {};
}

Result<void> MembershipService::check_keys() const {
    if (keys_ == nullptr) return runs_without_keys();
    return {};
}

Result<void> MembershipService::save(const Member& member) {
    if (auto ok = store_.members().save(member); !ok) return ok.error();
    members_[member.name] = member;
    return {};
}

Result<MembershipService::Invitation> MembershipService::add_user(const std::string& name,
                                                                  std::vector<std::string> groups) {
    if (!is_valid_name(name))
        return invalid("must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit", "/name");
    for (const std::string& group : groups) {
        if (!is_valid_name(group)) return invalid("'" + group + "' is no name of a group", "/groups");
    }
    if (keys_ == nullptr) return runs_without_keys();
    if (!keys_->can_issue()) {
        return Error{ErrorCode::kConflict,
                     "zone " + config_.zone.name +
                         " does not hold its organisation's CA key, so it cannot issue "
                         "certificates; add the user at the zone that does",
                     {}};
    }
    const Caller user{CallerKind::kUser, config_.organisation, name};
    if (is_blocked(user)) {
        return Error{ErrorCode::kConflict,
                     "user '" + name + "' is revoked or blocked, so a code would be of no use; 'zbs-zone unblock " +
                         to_uri(user) + "' first; who refuses her: 'zbs-zone blocks', 'zbs-zone user list'",
                     "/name"};
    }
    if (!members_.contains(name) && members_.size() >= limits::kMaxMembers)
        return Error{ErrorCode::kTooManyRequests, "the zone has as many users as it can keep", {}};
    const Result<std::string> fingerprint = trust_.fingerprint(keys_->bundle());
    if (!fingerprint) return fingerprint.error();
    Member member = members_.contains(name) ? members_.at(name) : Member{.name = name, .added = clock_.now()};
    const std::string code = secrets_.fresh();
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    member.groups = std::move(groups);
    member.code_hash = secrets_.digest(code);
    member.code_request.clear();
    member.code_expires = clock_.now() + kCodeLifetime;
    if (auto ok = save(member); !ok) return ok.error();
    log_.info("user_invited", {{"user", name}});
    const JoinToken token{JoinToken::Kind::kUser, name, code, *fingerprint, config_.self(), config_.url};
    return Invitation{to_text(token), member.code_expires};
}

Result<Member> MembershipService::revoke_user(const std::string& name) {
    const auto at = members_.find(name);
    if (at == members_.end()) {
        return Error{ErrorCode::kNotFound,
                     "no user '" + name + "' is here; to refuse the name all the same, block spiffe://" +
                         config_.organisation + "/user/" + name,
                     "/name"};
    }
    Member member = at->second;
    member.revoked = true;
    member.code_hash.clear();
    for (IssuedCertificate& certificate : member.certificates) {
        if (!certificate.revoked) certificate.revoked = clock_.now();
    }
    if (auto ok = save(member); !ok) return ok.error();
    log_.info("user_revoked", {{"user", name}, {"certificates", std::to_string(member.certificates.size())}});
    if (auto ok = publish_revocations(); !ok) return ok.error();
    return member;
}

Result<void> MembershipService::publish_revocations() {
    if (keys_ == nullptr || !keys_->can_issue()) return {};
    std::vector<OwnKeys::Revoked> revoked;
    for (const auto& [name, member] : members_) {
        for (const IssuedCertificate& certificate : member.certificates) {
            if (certificate.revoked) revoked.push_back({certificate.serial, *certificate.revoked});
        }
    }
    const Result<std::uint64_t> number = store_.next_number("revocations");
    if (!number) return number.error();
    const Result<std::string> list = keys_->make_revocations(revoked, *number);
    if (!list) return list.error();
    if (auto ok = store_.trusted().save({config_.organisation, keys_->bundle(), *list, clock_.now()}); !ok)
        return ok.error();
    if (auto ok = trust_.set_revocations(config_.organisation, *list); !ok) return ok.error();
    revocations_ = *list;
    return {};
}

std::vector<Member> MembershipService::users() const {
    std::vector<Member> all;
    for (const auto& [name, member] : members_) all.push_back(member);
    return all;
}

std::optional<Time> MembershipService::code_until(const Member& member) const {
    if (member.code_hash.empty() || !member.code_request.empty() || member.code_expires < clock_.now()) return {};
    return member.code_expires;
}

MembershipService::Standing MembershipService::standing_of(const Member& member) const {
    const Caller user{CallerKind::kUser, config_.organisation, member.name};
    if (blocks_.contains(to_uri(user)) || (!member.revoked && is_blocked(user))) return Standing::kBlocked;
    if (member.revoked) return Standing::kRevoked;
    const bool works =
        std::any_of(member.certificates.begin(), member.certificates.end(),
                    [this](const IssuedCertificate& one) { return !one.revoked && one.not_after >= clock_.now(); });
    if (works) return Standing::kActive;
    return code_until(member) ? Standing::kInvited : Standing::kLapsed;
}

std::vector<std::string> MembershipService::groups_of(const Caller& user) const {
    if (!user.is_user_of(config_.organisation)) return {};
    const auto at = members_.find(user.name);
    return at == members_.end() ? std::vector<std::string>{} : at->second.groups;
}

Result<EnrolmentAnswer> MembershipService::issue(Member member, const std::string& request_pem) {
    if (keys_ == nullptr) return runs_without_keys();
    if (!keys_->can_issue()) return Error{ErrorCode::kConflict, "this zone cannot issue certificates", {}};
    std::erase_if(member.certificates, [&](const IssuedCertificate& c) { return c.not_after < clock_.now(); });
    if (member.certificates.size() >= limits::kMaxCertificatesPerUser) {
        return Error{ErrorCode::kTooManyRequests,
                     "user '" + member.name + "' has " + std::to_string(member.certificates.size()) +
                         " certificates that have not run out; wait, or have the user revoked and added again",
                     {}};
    }
    const Caller user{CallerKind::kUser, config_.organisation, member.name};
    const Result<OwnKeys::Issued> issued = keys_->issue(request_pem, user, kCertificateLifetime);
    if (!issued) return issued.error();
    // Stored before it leaves: a certificate that nobody remembers could never be revoked.
    member.certificates.push_back({issued->info.serial, issued->info.not_after, std::nullopt});
    if (auto ok = save(member); !ok) return ok.error();
    log_.info("certificate_issued", {{"user", member.name}, {"serial", issued->info.serial}});
    return EnrolmentAnswer{issued->certificate, keys_->bundle(), user, keys_->name(), issued->info.not_after};
}

Result<EnrolmentAnswer> MembershipService::enrol(const EnrolmentRequest& wanted) {
    const std::string hash = secrets_.digest(wanted.code);
    const std::string request = secrets_.digest(wanted.request);
    for (const auto& [name, known] : members_) {
        if (known.code_hash != hash) continue;  // digests: their comparison's time reveals nothing of the code
        if (name != wanted.name || known.code_expires < clock_.now()) return no_such_code();
        if (!known.code_request.empty() && known.code_request != request) return no_such_code();
        Member member = known;
        member.code_request = request;
        return issue(std::move(member), wanted.request);
    }
    return no_such_code();
}

Result<EnrolmentAnswer> MembershipService::renew(const PeerIdentity& user, const std::string& request_pem) {
    const auto denied = [](std::string why) { return Error{ErrorCode::kDenied, std::move(why), {}}; };
    if (!user.name().is_user_of(config_.organisation) || user.evidence() != Evidence::kCertificate)
        return denied("only a user of organisation '" + config_.organisation +
                      "' may renew her certificate, with the one she has and not through a proxy");
    const auto at = members_.find(user.name().name);
    if (at == members_.end() || at->second.revoked)
        return denied("user '" + user.name().name + "' is not known here any more; ask your operator");
    return issue(at->second, request_pem);
}

TrustStatement MembershipService::statement() const {
    TrustStatement result{.organisation = config_.organisation,
                          .name = to_uri(config_.self()),
                          .bundle = keys_ == nullptr ? "" : keys_->bundle(),
                          .revocations = revocations_};
    std::vector<std::string>& blocked = result.blocked.emplace();
    for (const auto& [subject, block] : blocks_) blocked.push_back(subject);
    for (const auto& [name, member] : members_) {
        const std::string uri = to_uri({CallerKind::kUser, config_.organisation, name});
        if (member.revoked && !blocks_.contains(uri) && blocked.size() < limits::kMaxBlocks) blocked.push_back(uri);
    }
    return result;
}

TrustStatement MembershipService::statement_for(const PeerIdentity& reader) const {
    TrustStatement result = statement();
    const bool proven = reader.evidence() == Evidence::kCertificate || reader.evidence() == Evidence::kLocalToken;
    const bool zone = proven && reader.name().kind == CallerKind::kZone;
    const bool own_operator = proven && reader.name().is_operator_of(config_.organisation);
    const bool refused = is_blocked(reader);
    if ((zone || own_operator) && !refused) return result;
    if (zone) {
        std::erase_if(*result.blocked, [this](const std::string& subject) {
            const std::optional<Caller> caller = parse_identity(subject);
            return !caller || caller->organisation != config_.organisation;
        });
        return result;
    }
    result.revocations.clear();
    result.blocked.reset();
    return result;
}

Result<void> MembershipService::take(const Caller& from, const TrustStatement& statement) {
    const OrganisationName& organisation = statement.organisation;
    if (from.kind != CallerKind::kZone || from.organisation != organisation)
        return Error{ErrorCode::kDenied,
                     to_uri(from) + " announced blocks of another organisation ('" + organisation + "')",
                     {}};
    if (!statement.blocked) {
        return Error{ErrorCode::kDenied,
                     to_uri(from) +
                         " does not announce its blocks to this zone: it does not know this zone's certificate "
                         "any more; its earlier announcements still count",
                     {}};
    }
    const bool own = organisation == config_.organisation;
    const bool issuer_here = own && keys_ != nullptr && keys_->can_issue();  // then this zone is the one that says
    if (!statement.revocations.empty() && !issuer_here) {
        if (auto set = trust_.set_revocations(organisation, statement.revocations); !set) return set.error();
        const std::optional<std::string> bundle = trust_.bundle(organisation);
        if (!bundle) return Error{ErrorCode::kConflict, "organisation '" + organisation + "' is not trusted here", {}};
        if (auto ok = store_.trusted().save({organisation, *bundle, statement.revocations, clock_.now()}); !ok)
            return ok.error();
        if (own) revocations_ = statement.revocations;
    }
    return take_blocks(from, *statement.blocked);
}

}  // namespace zbs
