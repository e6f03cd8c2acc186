#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"

/// Peerings: rights, what is stored, and what operators want; one encode / decode pair each.
/// A zone's replies about its peerings, for commands that show them. Any value is accepted, also one of another
/// release: a member that is absent or of another type gives the default.
namespace zbs::codec {

Json encode(const PeeringRights& rights);
Json encode(const RightsRange& range);
Result<RightsRange> decode_rights_range(const Json& json, const std::string& pointer = {});
Json encode(const PeeringRecord& record);
Result<PeeringRecord> decode_peering_record(const Json& json);
Json encode(const PeeringChange& change);
Result<PeeringChange> decode_peering_change(const Json& json);
Json encode(const PoolLease& lease);
Result<PoolLease> decode_pool_lease(const Json& json);

/// How a zone and its registry stand.
struct RegistryStanding {
    std::string url;
    bool enrolled = false;
    std::string reason;      ///< why it is not; empty: it is, or no answer came yet
    Duration clock_ahead{};  ///< of the registry; zero: no difference is proved
    std::optional<RivalClaim> rival{};
    bool operator==(const RegistryStanding&) const = default;
};
/// The answer of `/readyz` of a zone.
Json encode_ready(const std::optional<RegistryStanding>& registry);
/// `{"peers": [...], "peerings": [...]}`, where the peerings are as much as the reader is shown of each.
Json encode_peer_list(const std::vector<Peer>& peers, Json peerings, const std::optional<RegistryStanding>& registry);
/// The registry of either answer, none if it has none. Any value is accepted: a member that is absent or of another
/// type gives the default.
std::optional<RegistryStanding> decode_registry_standing(const Json& answer);

/// Days as a list of "mon" .. "sun"; bit 0 is Monday.
Json encode_weekdays(std::uint8_t weekdays);

/// Another zone.
struct PeerView {
    std::string zone, organisation, url, outbound, inbound, reason;
    std::string state;            ///< empty: not sent
    std::optional<double> age_s;  ///< of that state
    Time last_heard{}, leased_until{};
    std::vector<std::string> categories;
    Json item;  ///< as it was sent
};
PeerView decode_peer_view(const Json& peer);

/// The rights that trust moves.
struct AmountsView {
    std::int64_t processors = 0, concurrent_parts = 0;
    double walltime_s = 0;
};
/// A peering. What follows `has_rights` is for operators only.
struct PeeringView {
    struct Zone {
        std::string name, url;
        Time seen{};
    };
    struct Reason {
        std::string event;
        std::int64_t count = 0;
        double weight = 0, effect = 0;
    };
    struct Event {
        Time at{};
        std::string event;
    };
    std::string organisation, fingerprint, state, by, reason;
    Time requested{}, changed{};
    std::vector<Zone> zones;
    bool has_rights = false;
    double score = 0, initial_score = 0;
    std::vector<Reason> reasons;
    AmountsView now, floor, ceiling;
    std::optional<RightsRange> rights;  ///< none: they do not keep to the schema of this release
    std::int64_t used_processors = 0, used_parts = 0;
    std::vector<Event> last_events;
    Json item;  ///< as it was sent
};

/// The peerings of all organisations, or of one, or the answer to a change.
struct PeeringsView {
    std::vector<PeerView> peers;
    std::vector<PeeringView> peerings;
    std::vector<std::string> notes;
};
PeeringsView decode_peerings_view(const Json& answer);

}  // namespace zbs::codec
