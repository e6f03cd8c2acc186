#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/peering.hpp"

/// A zone's replies about its peerings, for commands that show them. Any value is accepted, also one of another
/// release: a member that is absent or of another type gives the default.
namespace zbs::codec {

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
