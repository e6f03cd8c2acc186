#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs {

/// Version of the zone-to-zone interface; a zone only peers with zones of the same major version (green pages).
inline constexpr int kInterfaceVersion = 1;

/// Where another service listens and who must answer there: an address alone proves nothing.
struct ServiceAddress {
    std::string url;
    Caller who;
    bool operator==(const ServiceAddress&) const = default;
};

/// What a zone says of itself: takes new work; finishes what it has; has gone.
enum class ZoneStanding { kActive, kDrain, kLeft };
constexpr auto words_of(ZoneStanding) { return std::array{"active", "drain", "left"}; }

/// A text with its signature: the exact bytes that were signed, who signed (PEM chain, leaf first), and the signature
/// (base64). The leaf names the signer in its URI SAN.
struct SignedText {
    std::string text;
    std::string chain;
    std::string signature;
    bool operator==(const SignedText&) const = default;
};

/// A zone's entry in the registry: white pages (organisation, contact), yellow pages (categories), green pages
/// (address, interface).
struct ZoneEntry {
    ZoneName name;
    OrganisationName organisation;
    std::string contact;                  ///< for people
    std::string url;                      ///< where the zone listens
    std::vector<std::string> categories;  ///< "mpi", and what it offers, see `ZoneOffer`
    int interface_version = kInterfaceVersion;
    Duration lease{};  ///< asked for; the registry may grant less
    ZoneStanding standing = ZoneStanding::kActive;
    Time issued{};                       ///< when the zone signed it; an older one never replaces a newer
    std::string bundle;                  ///< of its organisation, PEM: what its certificate leads to
    std::optional<Time> leased_until{};  ///< by the registry, when it was listed. Is not signed, nor sent
    bool operator==(const ZoneEntry&) const = default;
};

/// Another scheduler that claims a zone's name or key, while that zone is listed and serves.
struct RivalClaim {
    std::string zone;  ///< its certificate's name, as a URI
    std::string url;
    Duration age{};  ///< of its last attempt
    bool operator==(const RivalClaim&) const = default;
};

/// A zone whose name or key is another's tries again this much after each answer, which takes at most two proofs of 5
/// s.
inline constexpr Duration kRivalRetry = std::chrono::seconds{5};
/// A claim that is older has ended.
inline constexpr Duration kRivalRemembered = kRivalRetry * 4;

/// What the registry grants: the entry counts for this long, unless renewed.
struct ZoneLease {
    ZoneName zone;
    Duration lease{};
    std::optional<RivalClaim> rival{};
    bool operator==(const ZoneLease&) const = default;
};

/// A zone as the registry keeps it: what the zone signed, byte for byte, and the lease granted.
struct EnrolledZone {
    ZoneName name;
    OrganisationName organisation;
    SignedText entry;
    Duration lease{};
    bool operator==(const EnrolledZone&) const = default;
};
inline std::string key_of(const EnrolledZone& zone) { return zone.name; }

/// The right to bring one zone into the registry, given by its operator.
struct EnrolmentRight {
    std::string code_hash;          ///< SHA-256, hexadecimal
    OrganisationName organisation;  ///< empty: any
    Time expires{};
    std::string used_by;  ///< the zone, as a URI; empty: not used yet
    bool operator==(const EnrolmentRight&) const = default;
};
inline std::string key_of(const EnrolmentRight& right) { return right.code_hash; }

/// What the registry's operator took out: one zone, or an organisation with all of its zones.
struct RemovedFromRegistry {
    ZoneName zone;                  ///< empty: an organisation
    OrganisationName organisation;  ///< empty: a zone
    bool operator==(const RemovedFromRegistry&) const = default;
};

struct ZoneQuery {
    std::string category;       ///< empty = any
    int interface_version = 0;  ///< 0 = any
    ZoneName after;             ///< only names behind this one; empty = from the start
    std::size_t limit = 0;      ///< at most this many; 0 or more than the service gives = what it gives
    bool leases = false;        ///< also how long each still counts
    bool operator==(const ZoneQuery&) const = default;
};

/// How far ahead of the reader's clock an entry may be signed: one of the far future could never be replaced.
inline constexpr Duration kEntryClockTolerance = std::chrono::minutes{5};

/// Entries by name, as their zones signed them; nothing is verified yet.
struct ZonePage {
    std::vector<SignedText> entries;
    ZoneName next;                 ///< `after` of the next page; empty: this was the last
    std::vector<Duration> left{};  ///< how long each entry still counts, unless renewed; empty: not sent
    bool operator==(const ZonePage&) const = default;
};

enum class PeeringState { kRequested, kAccepted, kRejected, kSuspended };
constexpr auto words_of(PeeringState) { return std::array{"requested", "accepted", "rejected", "suspended"}; }
/// The same for one direction between two zones, in which nobody may have asked yet: then "none".
const char* direction_word(const std::optional<PeeringState>& state);

/// Zone A asks zone B to schedule processes of A's users. Directional. Zones of other organisations sign what they ask
/// (`peering_statement`), because B may not know their bundle yet.
struct PeeringRequest {
    ZoneName zone;
    OrganisationName organisation;
    std::string url;
    int interface_version = kInterfaceVersion;
    std::string bundle{};     ///< of A's organisation, PEM; empty within one organisation, as all below
    Time at{};                ///< when A signed
    std::string chain{};      ///< of who signed, PEM, leaf first
    std::string signature{};  ///< base64
    bool operator==(const PeeringRequest&) const = default;
};

struct PeeringAnswer {
    ZoneName zone;  ///< who answers
    OrganisationName organisation;
    PeeringState state = PeeringState::kRejected;
    std::string reason;
    bool operator==(const PeeringAnswer&) const = default;
};

/// One word for how it stands with a peer. kUnlisted: the registry's list is there, and the peer is not in it.
enum class PeerState { kUp, kDraining, kLeft, kDown, kUnlisted, kWaits, kRefusesUs, kCertificate, kClock, kUnknown };
constexpr auto words_of(PeerState) {
    return std::array{"up",    "draining",   "left",        "down",  "unlisted",
                      "waits", "refuses us", "certificate", "clock", "unknown"};
}

struct PeerCondition {
    PeerState state = PeerState::kUnknown;
    Duration age{};          ///< of this knowledge
    Duration clock_ahead{};  ///< of the peer; negative: behind; zero: no difference is proved
    bool operator==(const PeerCondition&) const = default;
};

/// What one zone knows of another, both directions.
struct Peer {
    ZoneName zone;
    OrganisationName organisation;
    std::string url;
    std::optional<PeeringState> outbound{};  ///< its answer to our users; none: not asked yet
    std::optional<PeeringState> inbound{};   ///< ours to its users; none: it never asked
    std::string reason;
    Time last_heard{};
    std::optional<Time> leased_until{};  ///< by the registry, at its last word; none: not listed there. Is not stored
    std::optional<PeerCondition> condition{};              ///< of this moment. Is not stored
    std::optional<std::vector<std::string>> categories{};  ///< in the registry; none: not listed there. Is not stored
    bool operator==(const Peer&) const = default;
};

inline ServiceAddress address_of(const Peer& peer) {
    return {peer.url, {CallerKind::kZone, peer.organisation, peer.zone}};
}

/// What a zone offers, by kind. The yellow pages of its entry in the registry (`ZoneEntry::categories`) hold each as
/// KIND=VALUE, a kind several times where there are several: "launcher=mpich", "launcher=openmpi".
enum class ZoneOffer {
    kPolicy,    ///< of the queue; "none" where a part that does not fit is rejected
    kSharing,   ///< how parts share processors; "none" where they do not
    kLauncher,  ///< mpich, openmpi, srun
    kMpi,       ///< version of any of the MPI libraries
    kMpich,     ///< version of MPICH
    kOpenMpi,   ///< version of Open MPI
    kBackEnd,   ///< starts the steps: agents, slurm, or the zone itself (local)
    kFeature,   ///< staging, profiles, accounts
};
constexpr auto words_of(ZoneOffer) {
    return std::array{"policy", "sharing", "launcher", "mpi", "mpich", "openmpi", "backend", "feature"};
}

/// The category of every zone, before its offers.
inline constexpr const char* kMpiCategory = "mpi";

inline std::string offer_text(ZoneOffer kind, std::string_view value) {
    return std::string(to_string(kind)) + "=" + std::string(value);
}

/// From this on a difference is reported: the header Date is exact to a second.
inline constexpr Duration kClockDifferenceShown = std::chrono::seconds{1};

/// By how much the clock that wrote `date`, in whole seconds, is certainly ahead of the own one, which read `sent`
/// before the call and `received` after it. Negative: behind. Zero: no difference is proved.
inline Duration clock_ahead(Time date, Time sent, Time received) {
    if (date > received) return date - received;
    return std::min(date + std::chrono::seconds{1} - sent, Duration{0});
}

/// "the clock of zone b is 75 s ahead of this zone's; start a time service ..." `ahead`: negative if it is behind.
inline std::string clock_difference_text(const std::string& whose, Duration ahead, const std::string& than) {
    return "the clock of " + whose + " is " +
           std::to_string(std::chrono::round<std::chrono::seconds>(std::chrono::abs(ahead)).count()) + " s " +
           (ahead > Duration{0} ? "ahead of" : "behind") + " " + than +
           "; start a time service (chrony, systemd-timesyncd) on the one that has none";
}

}  // namespace zbs
