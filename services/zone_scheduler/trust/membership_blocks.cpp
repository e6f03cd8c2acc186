// Who gets nothing here: blocks set here, blocks that other zones told of, and how either is taken back.
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
    const std::string& organisation = caller ? caller->organisation : subject;
    return organisation == config_.organisation || trust_.bundle(organisation).has_value();
}

Result<std::vector<Caller>> MembershipService::unblock(const std::string& subject) {
    const std::optional<Caller> caller = parse_identity(subject);
    const auto member =
        caller && caller->is_user_of(config_.organisation) ? members_.find(caller->name) : members_.end();
    const bool revoked = member != members_.end() && member->second.revoked;
    std::vector<Caller> tellers;
    for (const auto& [teller, told] : told_blocks_) {
        if (told.contains(subject)) tellers.push_back(*parse_identity(teller));
    }
    if (!blocks_.contains(subject) && !revoked && tellers.empty()) {
        return Error{
            ErrorCode::kNotFound,
            "'" + subject + "' is not blocked here; who is: 'zbs-zone blocks', and for own users 'zbs-zone user list'",
            {}};
    }
    // The own block goes last: where anything cannot be stored, she is refused as before.
    for (const Caller& teller : tellers) {
        std::set<std::string> rest = told_blocks_.at(to_uri(teller));
        rest.erase(subject);
        if (auto ok = save_told(to_uri(teller), std::move(rest)); !ok) return ok.error();
    }
    if (revoked) {
        Member back = member->second;
        back.revoked = false;
        if (auto ok = save(back); !ok) return ok.error();
    }
    if (auto ok = store_.blocks().remove(subject); !ok) return ok.error();
    blocks_.erase(subject);
    log_.info("unblocked", {{"subject", subject}, {"told_by", std::to_string(tellers.size())}});
    return tellers;
}

std::vector<Block> MembershipService::blocks() const {
    std::vector<Block> all;
    for (const auto& [subject, block] : blocks_) all.push_back(block);
    return all;
}

std::vector<MembershipService::ToldBlock> MembershipService::told_blocks() const {
    std::vector<ToldBlock> all;
    for (const auto& [name, told] : told_blocks_) {
        const Teller teller = teller_of(name);
        for (const std::string& subject : told) {
            if (counts(teller, subject)) all.push_back({subject, teller.zone});
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const ToldBlock& a, const ToldBlock& b) { return a.subject < b.subject; });
    return all;
}

/// How much the word of a zone is worth at this moment.
MembershipService::Teller MembershipService::teller_of(const std::string& name) const {
    const Caller zone = parse_identity(name).value_or(Caller{});
    const std::vector<std::string>& honoured = config_.honour_blocks;
    return {.zone = zone,
            .believed = zone.organisation == config_.organisation || trust_.bundle(zone.organisation).has_value(),
            .honoured = std::find(honoured.begin(), honoured.end(), zone.organisation) != honoured.end()};
}

/// Everybody may disown what is its own; of others only those are heard that the configuration names. Nobody elsewhere
/// refuses, in this zone's name, the zone itself or those who could take a block back.
bool MembershipService::counts(const Teller& teller, const std::string& subject) const {
    if (!teller.believed) return false;
    const std::optional<Caller> caller = parse_identity(subject);
    const bool ours = (caller ? caller->organisation : subject) == config_.organisation;
    if (teller.zone.organisation != config_.organisation)
        return !ours && (teller.honoured || (caller && caller->organisation == teller.zone.organisation));
    if (!ours) return true;
    const bool self = caller && caller->kind == CallerKind::kZone && caller->name == config_.zone.name;
    return caller && !self && caller->kind != CallerKind::kOperator;
}

Result<void> MembershipService::take_blocks(const Caller& from, const std::vector<std::string>& subjects) {
    const Teller teller = teller_of(to_uri(from));
    std::set<std::string> told;
    std::copy_if(subjects.begin(), subjects.end(), std::inserter(told, told.end()),
                 [&](const std::string& subject) { return counts(teller, subject); });
    const auto known = told_blocks_.find(to_uri(from));
    if (known == told_blocks_.end() ? told.empty() : known->second == told) return {};
    return save_told(to_uri(from), std::move(told));
}

/// It counts from now on, and after a restart before that zone is heard again.
Result<void> MembershipService::save_told(const std::string& teller, std::set<std::string> subjects) {
    const Result<void> stored = subjects.empty()
                                    ? store_.told_blocks().remove(teller)
                                    : store_.told_blocks().save({teller, {subjects.begin(), subjects.end()}});
    if (!stored) return stored;
    if (subjects.empty())
        told_blocks_.erase(teller);
    else
        told_blocks_[teller] = std::move(subjects);
    return {};
}

bool MembershipService::is_blocked(const Caller& subject) const {
    const std::string uri = to_uri(subject);
    if (blocks_.contains(uri) || blocks_.contains(subject.organisation)) return true;
    for (const auto& [teller, told] : told_blocks_) {
        for (const std::string& name : {uri, subject.organisation}) {
            if (told.contains(name) && counts(teller_of(teller), name)) return true;
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
