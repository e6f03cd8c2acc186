// The subjects that get nothing here: blocks set here, blocks that other zones announced, and how either is taken back.
#include <algorithm>
#include <iterator>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/membership_service.hpp"

namespace zbs {

Result<Block> MembershipService::block(const std::string& subject, const std::string& reason, const Caller& by) {
    const std::optional<Caller> caller = parse_identity(subject);
    if (!caller && !is_valid_name(subject))
        return invalid("must be an organisation's name or spiffe://ORGANISATION/user/NAME (or /zone/)", "/subject");
    const bool own_zone = caller && caller->kind == CallerKind::kZone && caller->organisation == config_.organisation &&
                          caller->name == config_.zone.name;
    if (subject == config_.organisation || own_zone)
        return Error{ErrorCode::kConflict, "a zone cannot block itself", "/subject"};
    if (subject == to_uri(by)) {
        return Error{ErrorCode::kConflict,
                     "nobody blocks herself: nobody could take that back; let another operator do it", "/subject"};
    }
    if (!blocks_.contains(subject) && blocks_.size() >= limits::kMaxBlocks)
        return Error{ErrorCode::kTooManyRequests, "the list of blocks is full", {}};
    const Block block{subject, reason, to_uri(by), clock_.now()};
    if (auto ok = store_.blocks().save(block); !ok) return ok.error();
    blocks_[subject] = block;
    log_.info("blocked", {{"subject", subject}, {"reason", reason}, {"by", block.by}});
    if (caller && caller->is_user_of(config_.organisation) && members_.contains(caller->name)) {
        if (auto revoked = revoke_user(caller->name); !revoked) return revoked.error();
    }
    return block;
}

bool MembershipService::is_known(const std::string& subject) const {
    const std::optional<Caller> caller = parse_identity(subject);
    if (caller && caller->is_user_of(config_.organisation)) return members_.contains(caller->name);
    const OrganisationName organisation = caller ? caller->organisation : OrganisationName(subject);
    return organisation == config_.organisation || trust_.bundle(organisation).has_value();
}

Result<std::vector<Caller>> MembershipService::unblock(const std::string& subject) {
    const std::optional<Caller> caller = parse_identity(subject);
    const auto member =
        caller && caller->is_user_of(config_.organisation) ? members_.find(caller->name) : members_.end();
    const bool revoked = member != members_.end() && member->second.revoked;
    std::vector<Caller> announcers;
    for (const auto& [announcer, announced] : announced_blocks_) {
        if (announced.contains(subject)) announcers.push_back(*parse_identity(announcer));
    }
    if (!blocks_.contains(subject) && !revoked && announcers.empty()) {
        return Error{
            ErrorCode::kNotFound,
            "'" + subject + "' is not blocked here; who is: 'zbs-zone blocks', and for own users 'zbs-zone user list'",
            {}};
    }
    // The own block goes last: where anything cannot be stored, she is refused as before.
    for (const Caller& announcer : announcers) {
        std::set<std::string> rest = announced_blocks_.at(to_uri(announcer));
        rest.erase(subject);
        if (auto ok = save_announced(to_uri(announcer), std::move(rest)); !ok) return ok.error();
    }
    if (revoked) {
        Member back = member->second;
        back.revoked = false;
        if (auto ok = save(back); !ok) return ok.error();
    }
    if (auto ok = store_.blocks().remove(subject); !ok) return ok.error();
    blocks_.erase(subject);
    log_.info("unblocked", {{"subject", subject}, {"announced_by", std::to_string(announcers.size())}});
    return announcers;
}

std::vector<Block> MembershipService::blocks() const {
    std::vector<Block> all;
    for (const auto& [subject, block] : blocks_) all.push_back(block);
    return all;
}

std::vector<MembershipService::AnnouncedBlock> MembershipService::announced_blocks() const {
    std::vector<AnnouncedBlock> all;
    for (const auto& [name, subjects] : announced_blocks_) {
        const Announcer announcer = announcer_of(name);
        for (const std::string& subject : subjects) {
            if (counts(announcer, subject)) all.push_back({subject, announcer.zone});
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const AnnouncedBlock& a, const AnnouncedBlock& b) { return a.subject < b.subject; });
    return all;
}

/// How much the word of a zone is worth at this moment.
MembershipService::Announcer MembershipService::announcer_of(const std::string& name) const {
    const Caller zone = parse_identity(name).value_or(Caller{});
    const std::vector<OrganisationName>& honoured = config_.honour_blocks;
    return {.zone = zone,
            .believed = zone.organisation == config_.organisation || trust_.bundle(zone.organisation).has_value(),
            .honoured = std::find(honoured.begin(), honoured.end(), zone.organisation) != honoured.end()};
}

/// Everybody may disown what is its own; of others only those are heard that the configuration names. Nobody elsewhere
/// refuses, in this zone's name, the zone itself or those who could take a block back.
bool MembershipService::counts(const Announcer& announcer, const std::string& subject) const {
    if (!announcer.believed) return false;
    const std::optional<Caller> caller = parse_identity(subject);
    const bool ours = (caller ? caller->organisation : subject) == config_.organisation;
    if (announcer.zone.organisation != config_.organisation)
        return !ours && (announcer.honoured || (caller && caller->organisation == announcer.zone.organisation));
    if (!ours) return true;
    const bool self = caller && caller->kind == CallerKind::kZone && caller->name == config_.zone.name;
    return caller && !self && caller->kind != CallerKind::kOperator;
}

Result<void> MembershipService::take_blocks(const Caller& from, const std::vector<std::string>& subjects) {
    const Announcer announcer = announcer_of(to_uri(from));
    std::set<std::string> announced;
    std::copy_if(subjects.begin(), subjects.end(), std::inserter(announced, announced.end()),
                 [&](const std::string& subject) { return counts(announcer, subject); });
    const auto known = announced_blocks_.find(to_uri(from));
    if (known == announced_blocks_.end() ? announced.empty() : known->second == announced) return {};
    return save_announced(to_uri(from), std::move(announced));
}

/// It counts from now on, and after a restart before that zone is heard again.
Result<void> MembershipService::save_announced(const std::string& announcer, std::set<std::string> subjects) {
    const Result<void> stored = subjects.empty()
                                    ? store_.announced_blocks().remove(announcer)
                                    : store_.announced_blocks().save({announcer, {subjects.begin(), subjects.end()}});
    if (!stored) return stored;
    if (subjects.empty())
        announced_blocks_.erase(announcer);
    else
        announced_blocks_[announcer] = std::move(subjects);
    return {};
}

bool MembershipService::is_blocked(const Caller& subject) const {
    const std::string uri = to_uri(subject);
    if (blocks_.contains(uri) || blocks_.contains(subject.organisation)) return true;
    for (const auto& [announcer, announced] : announced_blocks_) {
        for (const std::string& name : {uri, subject.organisation.str()}) {
            if (announced.contains(name) && counts(announcer_of(announcer), name)) return true;
        }
    }
    if (!subject.is_user_of(config_.organisation)) return false;
    const auto at = members_.find(subject.name);
    return at != members_.end() && at->second.revoked;
}

bool MembershipService::is_blocked(const PeerIdentity& peer) const {
    if (peer.is_anonymous()) return false;
    if (!peer.serial().empty() && trust_.is_revoked(peer.name().organisation, peer.serial())) return true;
    return is_blocked(peer.name());
}

}  // namespace zbs
