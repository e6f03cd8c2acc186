#include "services/common/codec/peering_codec.hpp"

#include <algorithm>
#include <cmath>

#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/json/reply_view.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/service_codec.hpp"

namespace zbs::codec {
namespace {

constexpr std::array kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::size_t kMaxFingerprint = 80;
constexpr std::size_t kMaxPartitionsBytes = 64 * limits::kMaxPeeringPartitions;

std::uint8_t read_weekdays(JsonReader& in, const char* key) {
    std::uint8_t weekdays = 0;
    for (const std::string& day : in.texts(key, kDays.size(), 32)) {
        const auto at = std::find(kDays.begin(), kDays.end(), day);
        if (at == kDays.end()) return in.fail(key, "must be of mon tue wed thu fri sat sun"), weekdays;
        weekdays = static_cast<std::uint8_t>(weekdays | 1U << (at - kDays.begin()));
    }
    return weekdays;
}

Json encode_history(const TrustHistory& history) {
    return {{"initial", history.initial},
            {"at_us", to_microseconds(history.at)},
            {"weight", history.weight},
            {"count", history.count}};
}

Result<TrustHistory> decode_history(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    TrustHistory history;
    history.initial = in.number("initial", 0, 1);
    history.at = read_time(in, "at_us");
    const Json& weight = in.array("weight", kAll<TrustEvent>.size());
    const Json& count = in.array("count", kAll<TrustEvent>.size());
    if (in.ok() && (weight.size() != kAll<TrustEvent>.size() || weight.size() != count.size()))
        in.fail("weight", "must hold a number for each kind of event, as 'count' must");
    for (std::size_t i = 0; i < weight.size() && in.ok(); ++i) {
        if (!weight[i].is_number() || !(weight[i].get<double>() >= 0) || !count[i].is_number_unsigned()) {
            in.fail("weight", "must hold numbers of 0 or more, 'count' whole ones");
            break;
        }
        history.weight[i] = weight[i].get<double>();
        history.count[i] = count[i].get<std::uint64_t>();
    }
    return in.finish(history);
}

// One field a line.
// clang-format off
constexpr auto kDayWindow = fields<DayWindow>(
    count("begin_min", &DayWindow::begin, 1'440),
    count("end_min", &DayWindow::end, 1'440));

constexpr auto kPeeringRights = fields<PeeringRights>(
    count("processors", &PeeringRights::processors, limits::kMaxRanks),
    seconds("walltime_s", &PeeringRights::walltime, limits::kMaxWalltimeSeconds),
    count("concurrent_parts", &PeeringRights::concurrent_parts, limits::kMaxRanks),
    list("hours", &PeeringRights::hours, limits::kMaxPeeringHours, kDayWindow),
    Field{"weekdays", &PeeringRights::weekdays, encode_weekdays, read_weekdays},
    texts("partitions", &PeeringRights::partitions, limits::kMaxPeeringPartitions, kMaxPartitionsBytes),
    number("share", &PeeringRights::share, 0, 1),
    text("account_rule", &PeeringRights::account_rule, 80),
    boolean("require_delegation", &PeeringRights::require_delegation),
    optional(integer("overcommit", &PeeringRights::overcommit, 1, limits::kMaxOvercommit)));

constexpr auto kRightsFloor = fields<RightsFloor>(
    count("processors", &RightsFloor::processors, limits::kMaxRanks),
    seconds("walltime_s", &RightsFloor::walltime, limits::kMaxWalltimeSeconds),
    count("concurrent_parts", &RightsFloor::concurrent_parts, limits::kMaxRanks));

constexpr auto kRightsRange = fields<RightsRange>(
    nested("floor", &RightsRange::floor, kRightsFloor),
    nested("ceiling", &RightsRange::ceiling, kPeeringRights));

constexpr auto kRightsChange = fields<RightsChange>(
    count("processors", &RightsChange::processors, limits::kMaxRanks),
    seconds("walltime_s", &RightsChange::walltime, limits::kMaxWalltimeSeconds),
    count("concurrent_parts", &RightsChange::concurrent_parts, limits::kMaxRanks),
    list("hours", &RightsChange::hours, limits::kMaxPeeringHours, kDayWindow),
    Field{"weekdays", &RightsChange::weekdays, encode_weekdays, read_weekdays},
    texts("partitions", &RightsChange::partitions, limits::kMaxPeeringPartitions, kMaxPartitionsBytes),
    number("share", &RightsChange::share, 0, 1),
    text("account_rule", &RightsChange::account_rule, 80),
    boolean("require_delegation", &RightsChange::require_delegation),
    integer("overcommit", &RightsChange::overcommit, 1, limits::kMaxOvercommit),
    count("floor_processors", &RightsChange::floor_processors, limits::kMaxRanks),
    seconds("floor_walltime_s", &RightsChange::floor_walltime, limits::kMaxWalltimeSeconds),
    count("floor_parts", &RightsChange::floor_parts, limits::kMaxRanks));

constexpr auto kPeerZone = fields<PeerZone>(
    name("name", &PeerZone::name),
    text("url", &PeerZone::url, 512),
    time("seen_us", &PeerZone::seen));

constexpr auto kPeeringRecord = fields<PeeringRecord>(
    name("organisation", &PeeringRecord::organisation),
    text("fingerprint", &PeeringRecord::fingerprint, kMaxFingerprint),
    text("bundle", &PeeringRecord::bundle, limits::kMaxBundleBytes),
    word("state", &PeeringRecord::state),
    nested("rights", &PeeringRecord::rights, kRightsRange),
    nested("history", &PeeringRecord::history, Functions{encode_history, decode_history}),
    text("by", &PeeringRecord::by, 256),
    cut_text("reason", &PeeringRecord::reason, limits::kMaxPeeringReasonBytes),
    list("zones", &PeeringRecord::zones, limits::kMaxZonesPerPeering, kPeerZone),
    time("requested_us", &PeeringRecord::requested),
    time("changed_us", &PeeringRecord::changed));

constexpr auto kPeeringChange = fields<PeeringChange>(
    word("action", &PeeringChange::verb),
    optional(text("fingerprint", &PeeringChange::fingerprint, kMaxFingerprint)),
    optional(text("bundle", &PeeringChange::bundle, limits::kMaxBundleBytes)),
    number("initial_trust", &PeeringChange::initial_trust, 0, 1),
    optional(cut_text("reason", &PeeringChange::reason, limits::kMaxPeeringReasonBytes)),
    optional(nested("rights", &PeeringChange::rights, kRightsChange)));

constexpr auto kPoolLease = fields<PoolLease>(
    text("account", &PoolLease::account, 32),
    identity("user", &PoolLease::user),
    time("last_used_us", &PoolLease::last_used),
    boolean("busy", &PoolLease::busy),
    boolean("used", &PoolLease::used));
// clang-format on

Time time_in(const ReplyView& view, const char* key) { return time_from_microseconds(view.integer(key)); }

AmountsView amounts_in(const ReplyView& rights) {
    return {rights.integer("processors"), rights.integer("concurrent_parts"), rights.number("walltime_s")};
}

PeeringView decode_peering_view(const Json& json) {
    const ReplyView row(json);
    PeeringView view;
    view.organisation = row.text("organisation");
    view.fingerprint = row.text("fingerprint");
    view.state = row.text("state");
    view.by = row.text("by");
    view.reason = row.text("reason");
    view.requested = time_in(row, "requested_us");
    view.changed = time_in(row, "changed_us");
    for (const Json& item : row.array("zones")) {
        const ReplyView zone(item);
        view.zones.push_back({zone.text("name"), zone.text("url"), time_in(zone, "seen_us")});
    }
    view.has_rights = row.has("trust");
    const ReplyView trust = row.object("trust"), rights = row.object("rights"), usage = row.object("usage");
    view.score = trust.number("score");
    view.initial_score = trust.number("initial");
    for (const Json& item : trust.array("reasons")) {
        const ReplyView reason(item);
        view.reasons.push_back(
            {reason.text("event"), reason.integer("count"), reason.number("weight"), reason.number("effect")});
    }
    view.now = amounts_in(row.object("rights_now"));
    view.floor = amounts_in(rights.object("floor"));
    view.ceiling = amounts_in(rights.object("ceiling"));
    if (const auto range = decode_rights_range(row.any("rights"))) view.rights = *range;
    view.used_processors = usage.integer("processors");
    view.used_parts = usage.integer("parts");
    for (const Json& item : row.array("last_events")) {
        const ReplyView event(item);
        view.last_events.push_back({time_in(event, "at_us"), event.text("event")});
    }
    view.item = json;
    return view;
}

}  // namespace

Json encode_weekdays(std::uint8_t weekdays) {
    Json days = Json::array();
    for (std::size_t i = 0; i < kDays.size(); ++i) {
        if ((weekdays >> i & 1) != 0) days.push_back(kDays[i]);
    }
    return days;
}

Json encode(const PeeringRights& rights) { return kPeeringRights.encode(rights); }
Json encode(const RightsRange& range) { return kRightsRange.encode(range); }
Result<RightsRange> decode_rights_range(const Json& json, const std::string& pointer) {
    return kRightsRange.decode(json, pointer);
}
Json encode(const PeeringRecord& record) { return kPeeringRecord.encode(record); }
Result<PeeringRecord> decode_peering_record(const Json& json) { return kPeeringRecord.decode(json); }
Json encode(const PeeringChange& change) { return kPeeringChange.encode(change); }
Result<PeeringChange> decode_peering_change(const Json& json) { return kPeeringChange.decode(json); }
Json encode(const PoolLease& lease) { return kPoolLease.encode(lease); }
Result<PoolLease> decode_pool_lease(const Json& json) { return kPoolLease.decode(json); }

namespace {

void write_registry(Json& answer, const std::optional<RegistryStanding>& registry) {
    if (!registry) return;
    Json json = {{"url", registry->url}, {"enrolled", registry->enrolled}, {"reason", registry->reason}};
    if (registry->clock_ahead != Duration{0}) json["clock_ahead_s"] = to_seconds(registry->clock_ahead);
    if (registry->rival) json["rival"] = codec::encode(*registry->rival);
    answer["registry"] = std::move(json);
}

/// Of another service, so it may be any number.
Duration bounded_seconds(double seconds) { return Duration{std::llround(std::clamp(seconds, -1e9, 1e9) * 1e6)}; }

}  // namespace

Json encode_ready(const std::optional<RegistryStanding>& registry) {
    Json answer = encode(Health{});
    write_registry(answer, registry);
    return answer;
}

Json encode_peer_list(const std::vector<Peer>& peers, Json peerings, const std::optional<RegistryStanding>& registry) {
    Json rows = Json::array();
    for (const Peer& peer : peers) rows.push_back(encode(peer));
    Json answer = {{"peers", std::move(rows)}, {"peerings", std::move(peerings)}};
    write_registry(answer, registry);
    return answer;
}

std::optional<RegistryStanding> decode_registry_standing(const Json& answer) {
    if (!ReplyView(answer).has("registry")) return std::nullopt;
    const ReplyView json = ReplyView(answer).object("registry");
    RegistryStanding registry{json.text("url"), json.boolean("enrolled"), json.text("reason"),
                              bounded_seconds(json.number("clock_ahead_s"))};
    if (json.has("rival")) {
        const ReplyView rival = json.object("rival");
        registry.rival = {rival.text("zone"), rival.text("url"), bounded_seconds(rival.number("age_s"))};
    }
    return registry;
}

PeerView decode_peer_view(const Json& peer) {
    const ReplyView row(peer), condition = row.object("condition");
    PeerView view{row.text("zone"),
                  row.text("organisation"),
                  row.text("url"),
                  row.text("outbound"),
                  row.text("inbound"),
                  row.text("reason"),
                  condition.text("state"),
                  std::nullopt,
                  time_in(row, "last_heard_us"),
                  time_in(row, "leased_until_us"),
                  row.texts("categories"),
                  peer};
    if (condition.has("age_s")) view.age_s = condition.number("age_s");
    return view;
}

PeeringsView decode_peerings_view(const Json& answer) {
    const ReplyView all(answer);
    PeeringsView view{{}, {}, all.texts("notes")};
    for (const Json& peer : all.array("peers")) view.peers.push_back(decode_peer_view(peer));
    for (const Json& peering : all.array("peerings")) view.peerings.push_back(decode_peering_view(peering));
    return view;
}

}  // namespace zbs::codec
