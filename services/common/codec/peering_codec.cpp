#include "services/common/codec/peering_codec.hpp"

#include <algorithm>
#include <cmath>

#include "services/common/codec/json/reply_view.hpp"
#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/service_codec.hpp"

namespace zbs::codec {
namespace {

constexpr std::array kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr double kMaxWalltime = static_cast<double>(limits::kMaxWalltimeSeconds);
constexpr std::size_t kMaxFingerprint = 80;

int read_count(JsonReader& in, const char* key) { return static_cast<int>(in.integer(key, 0, limits::kMaxRanks)); }

Json encode_hours(const std::vector<DayWindow>& hours) {
    Json json = Json::array();
    for (const DayWindow& window : hours) json.push_back({{"begin_min", window.begin}, {"end_min", window.end}});
    return json;
}

std::vector<DayWindow> read_hours(JsonReader& in, const char* key) {
    std::vector<DayWindow> hours;
    const Json& items = in.array(key, limits::kMaxPeeringHours);
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        JsonReader item(items[i], in.pointer_of(std::string(key) + "/" + std::to_string(i)));
        const DayWindow window{static_cast<int>(item.integer("begin_min", 0, 1'440)),
                               static_cast<int>(item.integer("end_min", 0, 1'440))};
        const Result<DayWindow> read = item.finish(window);
        if (!read)
            in.fail(read.error());
        else
            hours.push_back(*read);
    }
    return hours;
}

std::uint8_t read_weekdays(JsonReader& in, const char* key) {
    std::uint8_t weekdays = 0;
    for (const std::string& day : in.texts(key, kDays.size(), 32)) {
        const auto at = std::find(kDays.begin(), kDays.end(), day);
        if (at == kDays.end()) return in.fail(key, "must be of mon tue wed thu fri sat sun"), weekdays;
        weekdays = static_cast<std::uint8_t>(weekdays | 1U << (at - kDays.begin()));
    }
    return weekdays;
}

Json encode(const TrustHistory& history) {
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
    const Json& weight = in.array("weight", kTrustEvents.size());
    const Json& count = in.array("count", kTrustEvents.size());
    if (in.ok() && (weight.size() != kTrustEvents.size() || weight.size() != count.size()))
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

RightsChange read_change(JsonReader& in) {
    RightsChange change;
    if (in.has("processors")) change.processors = read_count(in, "processors");
    if (in.has("walltime_s")) change.walltime = in.seconds("walltime_s", kMaxWalltime);
    if (in.has("concurrent_parts")) change.concurrent_parts = read_count(in, "concurrent_parts");
    if (in.has("hours")) change.hours = read_hours(in, "hours");
    if (in.has("weekdays")) change.weekdays = read_weekdays(in, "weekdays");
    if (in.has("partitions"))
        change.partitions = in.texts("partitions", limits::kMaxPeeringPartitions, 64 * limits::kMaxPeeringPartitions);
    if (in.has("share")) change.share = in.number("share", 0, 1);
    if (in.has("account_rule")) change.account_rule = in.text("account_rule", 80);
    if (in.has("may_forward")) change.may_forward = in.boolean("may_forward");
    if (in.has("require_delegation")) change.require_delegation = in.boolean("require_delegation");
    if (in.has("floor_processors")) change.floor_processors = read_count(in, "floor_processors");
    if (in.has("floor_walltime_s")) change.floor_walltime = in.seconds("floor_walltime_s", kMaxWalltime);
    if (in.has("floor_parts")) change.floor_parts = read_count(in, "floor_parts");
    return change;
}

}  // namespace

Json encode_weekdays(std::uint8_t weekdays) {
    Json days = Json::array();
    for (std::size_t i = 0; i < kDays.size(); ++i) {
        if ((weekdays >> i & 1) != 0) days.push_back(kDays[i]);
    }
    return days;
}

Json encode(const PeeringRights& rights) {
    return {{"processors", rights.processors},
            {"walltime_s", to_seconds(rights.walltime)},
            {"concurrent_parts", rights.concurrent_parts},
            {"hours", encode_hours(rights.hours)},
            {"weekdays", encode_weekdays(rights.weekdays)},
            {"partitions", rights.partitions},
            {"share", rights.share},
            {"account_rule", rights.account_rule},
            {"may_forward", rights.may_forward},
            {"require_delegation", rights.require_delegation}};
}

Json encode(const RightsRange& range) {
    return {{"floor",
             {{"processors", range.floor.processors},
              {"walltime_s", to_seconds(range.floor.walltime)},
              {"concurrent_parts", range.floor.concurrent_parts}}},
            {"ceiling", encode(range.ceiling)}};
}

Result<RightsRange> decode_rights_range(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    RightsRange range;
    JsonReader floor(in.object("floor"), in.pointer_of("floor"));
    range.floor = {read_count(floor, "processors"), floor.seconds("walltime_s", kMaxWalltime),
                   read_count(floor, "concurrent_parts")};
    if (const auto read = floor.finish(range.floor); !read) in.fail(read.error());
    JsonReader top(in.object("ceiling"), in.pointer_of("ceiling"));
    PeeringRights& rights = range.ceiling;
    rights.processors = read_count(top, "processors");
    rights.walltime = top.seconds("walltime_s", kMaxWalltime);
    rights.concurrent_parts = read_count(top, "concurrent_parts");
    rights.hours = read_hours(top, "hours");
    rights.weekdays = read_weekdays(top, "weekdays");
    rights.partitions = top.texts("partitions", limits::kMaxPeeringPartitions, 64 * limits::kMaxPeeringPartitions);
    rights.share = top.number("share", 0, 1);
    rights.account_rule = top.text("account_rule", 80);
    rights.may_forward = top.boolean("may_forward");
    rights.require_delegation = top.boolean("require_delegation");
    if (const auto read = top.finish(true); !read) in.fail(read.error());
    return in.finish(std::move(range));
}

Json encode(const PeeringRecord& record) {
    Json zones = Json::array();
    for (const PeerZone& zone : record.zones)
        zones.push_back({{"name", zone.name}, {"url", zone.url}, {"seen_us", to_microseconds(zone.seen)}});
    return {{"organisation", record.organisation},
            {"fingerprint", record.fingerprint},
            {"bundle", record.bundle},
            {"state", to_string(record.state)},
            {"rights", encode(record.rights)},
            {"history", encode(record.history)},
            {"by", record.by},
            {"reason", bounded(record.reason, limits::kMaxPeeringReasonBytes)},
            {"zones", std::move(zones)},
            {"requested_us", to_microseconds(record.requested)},
            {"changed_us", to_microseconds(record.changed)}};
}

Result<PeeringRecord> decode_peering_record(const Json& json) {
    JsonReader in(json);
    PeeringRecord record;
    record.organisation = read_name(in, "organisation");
    record.fingerprint = in.text("fingerprint", kMaxFingerprint);
    record.bundle = in.text("bundle", limits::kMaxBundleBytes);
    record.state = read_word(in, "state", kPeeringStates);
    Result<RightsRange> rights = decode_rights_range(in.object("rights"), in.pointer_of("rights"));
    if (!rights) return in.ok() ? rights.error() : in.error();
    record.rights = *std::move(rights);
    const Result<TrustHistory> history = decode_history(in.object("history"), in.pointer_of("history"));
    if (!history) return in.ok() ? history.error() : in.error();
    record.history = *history;
    record.by = in.text("by", 256);
    record.reason = in.text("reason", limits::kMaxPeeringReasonBytes);
    const Json& zones = in.array("zones", limits::kMaxZonesPerPeering);
    for (std::size_t i = 0; i < zones.size() && in.ok(); ++i) {
        JsonReader item(zones[i], in.pointer_of("zones/" + std::to_string(i)));
        Result<PeerZone> zone =
            item.finish(PeerZone{read_name(item, "name"), item.text("url", 512), read_time(item, "seen_us")});
        if (!zone) return zone.error();
        record.zones.push_back(*std::move(zone));
    }
    record.requested = read_time(in, "requested_us");
    record.changed = read_time(in, "changed_us");
    return in.finish(std::move(record));
}

Json encode(const PeeringChange& change) {
    Json json = {{"action", to_string(change.verb)}};
    if (!change.fingerprint.empty()) json["fingerprint"] = change.fingerprint;
    if (!change.bundle.empty()) json["bundle"] = change.bundle;
    if (change.initial_trust) json["initial_trust"] = *change.initial_trust;
    if (!change.reason.empty()) json["reason"] = bounded(change.reason, limits::kMaxPeeringReasonBytes);
    const RightsChange& rights = change.rights;
    if (rights == RightsChange{}) return json;
    Json given = Json::object();
    if (rights.processors) given["processors"] = *rights.processors;
    if (rights.walltime) given["walltime_s"] = to_seconds(*rights.walltime);
    if (rights.concurrent_parts) given["concurrent_parts"] = *rights.concurrent_parts;
    if (rights.hours) given["hours"] = encode_hours(*rights.hours);
    if (rights.weekdays) given["weekdays"] = encode_weekdays(*rights.weekdays);
    if (rights.partitions) given["partitions"] = *rights.partitions;
    if (rights.share) given["share"] = *rights.share;
    if (rights.account_rule) given["account_rule"] = *rights.account_rule;
    if (rights.may_forward) given["may_forward"] = *rights.may_forward;
    if (rights.require_delegation) given["require_delegation"] = *rights.require_delegation;
    if (rights.floor_processors) given["floor_processors"] = *rights.floor_processors;
    if (rights.floor_walltime) given["floor_walltime_s"] = to_seconds(*rights.floor_walltime);
    if (rights.floor_parts) given["floor_parts"] = *rights.floor_parts;
    json["rights"] = std::move(given);
    return json;
}

Result<PeeringChange> decode_peering_change(const Json& json) {
    JsonReader in(json);
    PeeringChange change;
    change.verb = read_word(in, "action", kPeeringVerbs);
    change.fingerprint = in.text_or("fingerprint", "", kMaxFingerprint);
    change.bundle = in.text_or("bundle", "", limits::kMaxBundleBytes);
    if (in.has("initial_trust")) change.initial_trust = in.number("initial_trust", 0, 1);
    change.reason = in.text_or("reason", "", limits::kMaxPeeringReasonBytes);
    if (in.has("rights")) {
        JsonReader rights(in.object("rights"), in.pointer_of("rights"));
        Result<RightsChange> read = rights.finish(read_change(rights));
        if (!read) return in.ok() ? read.error() : in.error();
        change.rights = *std::move(read);
    }
    return in.finish(std::move(change));
}

Json encode(const PoolLease& lease) {
    return {{"account", lease.account},
            {"user", to_uri(lease.user)},
            {"last_used_us", to_microseconds(lease.last_used)},
            {"busy", lease.busy},
            {"used", lease.used}};
}

Result<PoolLease> decode_pool_lease(const Json& json) {
    JsonReader in(json);
    PoolLease lease{in.text("account", 32), read_identity(in, "user"), read_time(in, "last_used_us"),
                    in.boolean("busy"), in.boolean("used")};
    return in.finish(std::move(lease));
}

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

}  // namespace zbs::codec
