#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/codec/peering_codec.hpp"

/// What a zone answers about itself, for commands that show it. Any value is accepted, also one of another release: a
/// member that is absent or of another type gives the default.
namespace zbs::client {

/// Measured values and the forecast of the next.
struct SeriesView {
    double next = 0;
    std::optional<double> error;
    std::vector<double> values;
};
struct LinkEstimate {
    double delay_s = 0;
    double bandwidth_Bps = 0;
};

/// A machine of the zone, and its agent.
struct MachineView {
    struct Agent {
        int cores = 0;
        std::int64_t memory_bytes = 0;
        std::optional<SeriesView> available;
    };
    std::string name;
    int processors = 0;
    int used = 0;
    codec::Json speed;
    std::optional<Agent> agent;
    codec::Json item;  ///< as it was sent, with what its agent sent of it
};
/// Answer to `GET /v1/nodes`.
struct NodesView {
    std::string zone, organisation;
    std::string sharing;  ///< empty: parts do not share processors
    std::vector<std::string> categories;
    std::vector<MachineView> machines;
};
NodesView decode_nodes_view(const codec::Json& answer);

struct MeasuredLink {
    std::optional<SeriesView> delay, bandwidth;
    std::optional<std::int64_t> failures;
    std::optional<Time> measured;
    codec::Json item;  ///< as it was sent
};
struct ZoneLinkView : MeasuredLink {
    std::string zone, source;
    LinkEstimate planned;
};
struct MachineLinkView : MeasuredLink {
    std::string from, to;
};
/// Answer to `GET /v1/links`.
struct LinksView {
    std::vector<ZoneLinkView> zones;
    std::string source;      ///< of `planned`; empty: not sent
    LinkEstimate planned;    ///< between machines of the zone
    std::int64_t pairs = 0;  ///< of machines that were measured
    std::vector<MachineLinkView> worst;
};
LinksView decode_links_view(const codec::Json& answer);

/// Answer to `GET /v1/applications/counts`.
struct CountsView {
    std::map<std::string, std::uint64_t> of_state;
    Time ended_since{};
    codec::Json item;  ///< as it was sent
};
CountsView decode_counts_view(const codec::Json& answer);

/// Answer to `GET /v1/whoami`.
struct SelfView {
    std::string name, zone;
    std::vector<std::string> groups;
    bool is_limited = false, is_proxy = false;
    codec::Json item;  ///< as it was sent
};
SelfView decode_self_view(const codec::Json& answer);

/// Of the interface, in the answer to `GET /openapi.json`.
std::string decode_contract_version(const codec::Json& contract);

/// Items of `zbs zone list`: the home zone, in this state since now, and another one.
codec::Json encode_home_zone(const NodesView& home, const std::string& url, const std::string& state);
codec::Json encode_other_zone(const codec::PeerView& zone);
/// Whether the home zone's users may use it.
bool is_usable(const codec::PeerView& zone);
/// Document of `zbs top`: the answer about the zone's machines, the counts, and the applications shown.
codec::Json encode_top(const codec::Json& zone, const CountsView& counts, const codec::Json& applications,
                       bool is_truncated);
/// `item` with the end of the certificate that was shown.
codec::Json with_end(const SelfView& self, std::optional<Time> not_after);
codec::Json encode_id(const std::string& id);

}  // namespace zbs::client
