#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/common/messages/names/join_token.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// The zone as the home of its organisation's users: who they are, the one-time codes by which they get certificates,
/// renewal, revocation, and blocks. Lives on the domain's strand; every answer is stored first.
///
/// A revoked user loses access here at once, elsewhere when the other zones have fetched the trust statement
/// (`TrustExchange`, every 15 s).
class MembershipService {
  public:
    static constexpr Duration kCodeLifetime = std::chrono::hours{24};
    static constexpr Duration kCertificateLifetime = std::chrono::hours{24 * 30};

    /// `keys` may be null: plain loopback, where users have no certificates.
    MembershipService(const ZoneConfig& config, Clock& clock, SiteStore& store, const OwnKeys* keys,
                      TrustBundles& trust, Secrets& secrets, Log& log);
    Result<void> resume();

    /// Errors: kConflict with the remedy, where the zone runs without keys: nothing that needs a certificate works
    /// then.
    Result<void> check_keys() const;

    struct Invitation {
        std::string token;  ///< text of a `JoinToken`; the code in it is kept here as a digest only
        Time expires{};
    };
    /// Makes a user, or a fresh code for one that is known (her groups are replaced). Errors: kInvalidArgument;
    /// kConflict where this zone holds no CA key, and for who is revoked or blocked: `unblock` first.
    Result<Invitation> add_user(const std::string& name, std::vector<std::string> groups);
    /// All her certificates end now. Errors: kNotFound; the store's.
    Result<Member> revoke_user(const std::string& name);
    std::vector<Member> users() const;
    enum class Standing {
        kActive,   ///< has a certificate that works
        kInvited,  ///< has none yet, but a code that does
        kLapsed,   ///< what she had ran out
        kRevoked,
        kBlocked,  ///< here, or by another zone of the organisation; also revoked, where that was said here
    };
    Standing standing_of(const Member& member) const;
    /// Until when her code can be redeemed; nothing where there is none, or it was used.
    std::optional<Time> code_until(const Member& member) const;
    /// Groups of an own user; empty for others.
    std::vector<std::string> groups_of(const Caller& user) const;

    /// Turns a name, its code and a key's request into a certificate. The same code with the same request again gives
    /// another certificate (the answer may have been lost); with another request nothing. Errors: kDenied for every
    /// code that does not work, whatever the reason: also one that was issued for another name.
    Result<EnrolmentAnswer> enrol(const EnrolmentRequest& wanted);
    /// A fresh certificate for a user that has one; her key may be a new one. Not through a proxy. Errors: kDenied.
    Result<EnrolmentAnswer> renew(const PeerIdentity& user, const std::string& request_pem);

    /// Nothing for this subject here from now on: an organisation's name, or `spiffe://ORG/...`. An own user is revoked
    /// as well. Errors: kInvalidArgument; kConflict for the own organisation or zone.
    Result<Block> block(const std::string& subject, const std::string& reason, const Caller& by);
    /// True where this zone has heard of the subject: an own user by name, others by their organisation. A block of
    /// anybody else holds too, but is likely a slip of the pen.
    bool is_known(const std::string& subject) const;
    /// Takes a block back, also where other zones announced it, and of an own user the revocation; certificates that
    /// were revoked stay so. Returns the zones that had announced it: one that still runs announces it again, and then
    /// it counts again. Errors: kNotFound where nothing is to be taken back.
    Result<std::vector<Caller>> unblock(const std::string& subject);
    std::vector<Block> blocks() const;  ///< set here
    /// A block that counts here because another zone set it.
    struct AnnouncedBlock {
        std::string subject;
        Caller announced_by;
        bool operator==(const AnnouncedBlock&) const = default;
    };
    std::vector<AnnouncedBlock> announced_blocks() const;  ///< by subject, then announcer
    /// Blocked here, or by another zone whose word counts, or revoked. Other zones' words count while their
    /// organisation is believed: of its own subjects, of others' while `honour_blocks` names it. Those of siblings
    /// count, but never against this zone, its organisation or the organisation's operators.
    bool is_blocked(const Caller& subject) const;
    bool is_blocked(const PeerIdentity& peer) const;

    /// This zone's statement: bundle, own revocations, and blocks of own and foreign subjects.
    TrustStatement statement() const;
    /// As much of it as concerns the reader. Zones, and operators of the own organisation: all. Zones that are blocked
    /// here may still serve our users: own revocations and blocks of own subjects. Everybody else: the bundle.
    TrustStatement statement_for(const PeerIdentity& reader) const;
    /// Takes over what a zone of another organisation (or of the own one) says: its organisation's revocations, and its
    /// blocks of its own subjects; of others' subjects only where `honour_blocks` names that organisation. Errors:
    /// `from` speaks of another organisation, or does not say whom it refuses; a list that its CA did not sign, or an
    /// older one. What was known of it stays then.
    Result<void> take(const Caller& from, const TrustStatement& statement);

  private:
    Result<EnrolmentAnswer> issue(Member member, const std::string& request_pem);
    Result<void> publish_revocations();
    struct Announcer {
        Caller zone;
        bool believed = false;
        bool honoured = false;
    };
    Announcer announcer_of(const std::string& name) const;
    bool counts(const Announcer& announcer, const std::string& subject) const;
    Result<void> take_blocks(const Caller& from, const std::vector<std::string>& subjects);
    Result<void> save_announced(const std::string& announcer, std::set<std::string> subjects);
    Result<void> save(const Member& member);

    const ZoneConfig& config_;
    Clock& clock_;
    SiteStore& store_;
    const OwnKeys* keys_;
    TrustBundles& trust_;
    Secrets& secrets_;
    Log& log_;
    std::map<std::string, Member> members_;
    std::map<std::string, Block> blocks_;
    std::map<std::string, std::set<std::string>> announced_blocks_;  ///< by announcer: subjects, not empty
    std::string revocations_;                                        ///< own list, PEM
};

}  // namespace zbs
