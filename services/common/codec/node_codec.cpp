#include "services/common/codec/node_codec.hpp"

#include <set>

#include "services/common/codec/json/time_field.hpp"
#include "services/common/codec/json/words.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kMaxCount = INT64_MAX;
constexpr std::int64_t kMostBytes = INT64_MAX;
constexpr std::int64_t kLastEpochUs = 7'258'118'400'000'000;  // the year 2200: sums with a slice stay in their range
constexpr std::size_t kMaxUrlBytes = 1'024;
constexpr std::array kFillModes = {FillMode::kNone, FillMode::kLts};

std::uint64_t read_count(JsonReader& in, const char* key, std::int64_t max = kMaxCount) {
    return static_cast<std::uint64_t>(in.integer(key, 0, max));
}
Duration read_duration(JsonReader& in, const char* key) { return Duration{in.integer(key, 0, INT64_MAX)}; }

Json encode_summary(const DurationSummary& summary) {
    return {{"count", summary.count},
            {"mean_us", summary.mean.count()},
            {"p99_us", summary.p99.count()},
            {"max_us", summary.max.count()}};
}
DurationSummary read_summary(JsonReader& in, const char* key) {
    const Json& json = in.object(key);
    if (!in.ok()) return {};
    JsonReader s(json, in.pointer_of(key));
    const Result<DurationSummary> read = s.finish(DurationSummary{.count = read_count(s, "count"),
                                                                  .mean = read_duration(s, "mean_us"),
                                                                  .p99 = read_duration(s, "p99_us"),
                                                                  .max = read_duration(s, "max_us")});
    if (!read) return in.fail(read.error()), DurationSummary{};
    return *read;
}

/// Where an agent listens.
std::string read_agent_url(JsonReader& in) {
    std::string url = in.text("url", kMaxUrlBytes);
    if (in.ok() && !url.starts_with("https://"))
        in.fail("url", "must begin with https://: agents answer over TLS only");
    return url;
}

/// A part of a message that has a reader of its own.
template <class T, class Decode>
T read_part(JsonReader& in, const char* key, Decode decode) {
    const Json& json = in.object(key);
    if (!in.ok()) return {};
    Result<T> part = decode(json, in.pointer_of(key));
    if (!part) return in.fail(part.error()), T{};
    return *std::move(part);
}

std::string check_operation(JsonReader& in, const std::string& place, const Json& item) {
    std::string text = item.is_string() ? item.get<std::string>() : std::string{};
    if (!is_operation(text)) in.fail(place, "must be an operation: 1 to 64 of A-Z a-z 0-9 -");
    return text;
}

/// Operations of one list, none twice.
std::vector<std::string> read_operations(JsonReader& in, const std::string& place, const Json& items) {
    std::vector<std::string> operations;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        const std::string at = place + "/" + std::to_string(i);
        operations.push_back(check_operation(in, at, items[i]));
        if (in.ok() && !seen.insert(operations.back()).second) in.fail(at, "stands there twice");
    }
    return operations;
}

/// Of each row, where rows have shares.
std::vector<int> read_row_shares(JsonReader& in, std::size_t rows) {
    std::vector<int> shares;
    const Json& items = in.array("shares", limits::kMaxSliceRows);
    if (in.ok() && items.size() != rows) in.fail("shares", "must be as many as rows, or left out");
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        const std::int64_t share = items[i].is_number_unsigned() ? items[i].get<std::int64_t>() : 0;
        if (share < 1 || share > 100) in.fail("shares/" + std::to_string(i), "must be from 1 to 100");
        shares.push_back(static_cast<int>(share));
    }
    return shares;
}

}  // namespace

bool is_operation(std::string_view text) {
    return !text.empty() && text.size() <= 64 &&
           text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") ==
               std::string_view::npos;
}

Json encode(const NodeDescription& d) {
    Json json = {{"name", d.name},
                 {"processors", d.processors},
                 {"cores", d.cores},
                 {"sockets", d.sockets},
                 {"memory_bytes", d.memory_bytes},
                 {"hwloc_version", bounded(d.hwloc_version, 64)},
                 {"clock_source", bounded(d.clock_source, 64)},
                 {"step_folder", bounded(d.step_folder, limits::kMaxPathBytes)}};
    if (d.weights) json["weights"] = true;
    return json;
}

Result<NodeDescription> decode_node_description(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    NodeDescription d;
    d.name = read_name(in, "name");
    d.processors = static_cast<int>(in.integer("processors", 1, limits::kMaxNodeProcessors));
    d.cores = static_cast<int>(in.integer("cores", 1, limits::kMaxNodeProcessors));
    d.sockets = static_cast<int>(in.integer("sockets", 1, limits::kMaxNodeProcessors));
    d.memory_bytes = read_count(in, "memory_bytes", kMostBytes);
    d.hwloc_version = in.text("hwloc_version", 64);
    d.clock_source = in.text("clock_source", 64);
    d.step_folder = in.text("step_folder", limits::kMaxPathBytes);
    d.weights = in.boolean_or("weights", false);
    return in.finish(std::move(d));
}

Json encode(const NodeLoad& load) {
    return {{"load_1", load.load_1},
            {"load_5", load.load_5},
            {"load_15", load.load_15},
            {"cpu_available", load.cpu_available},
            {"memory_available_bytes", load.memory_available_bytes},
            {"at_us", to_microseconds(load.at)}};
}

Result<NodeLoad> decode_node_load(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    NodeLoad load;
    load.load_1 = in.number("load_1", 0, 1e6);
    load.load_5 = in.number("load_5", 0, 1e6);
    load.load_15 = in.number("load_15", 0, 1e6);
    load.cpu_available = in.number("cpu_available", 0, limits::kMaxNodeProcessors);
    load.memory_available_bytes = read_count(in, "memory_available_bytes", kMostBytes);
    load.at = read_time(in, "at_us");
    return in.finish(load);
}

Json encode(const NodeStatus& status) {
    return {{"description", encode(status.description)},
            {"load", encode(status.load)},
            {"steps", status.steps},
            {"slices", status.slices},
            {"shares", status.shares},
            {"version", status.version},
            {"switches",
             {{"late", encode_summary(status.switches.late)},
              {"cost", encode_summary(status.switches.cost)},
              {"fills", status.switches.fills},
              {"failed", status.switches.failed}}}};
}

Result<NodeStatus> decode_node_status(const Json& json) {
    JsonReader in(json);
    NodeStatus status;
    status.description = read_part<NodeDescription>(in, "description", decode_node_description);
    status.load = read_part<NodeLoad>(in, "load", decode_node_load);
    status.steps = static_cast<int>(in.integer("steps", 0, INT32_MAX));
    status.slices = read_count(in, "slices");
    status.shares = read_count(in, "shares");
    status.version = read_count(in, "version");
    status.switches = read_part<SwitchStatistics>(in, "switches", [](const Json& part, const std::string& pointer) {
        JsonReader s(part, pointer);
        return s.finish(SwitchStatistics{.late = read_summary(s, "late"),
                                         .cost = read_summary(s, "cost"),
                                         .fills = read_count(s, "fills"),
                                         .failed = read_count(s, "failed")});
    });
    return in.finish(std::move(status));
}

Json encode(const NodeRegistration& registration) {
    return {{"url", registration.url},
            {"description", encode(registration.description)},
            {"load", encode(registration.load)}};
}

Result<NodeRegistration> decode_node_registration(const Json& json) {
    JsonReader in(json);
    NodeRegistration registration;
    registration.url = read_agent_url(in);
    registration.description = read_part<NodeDescription>(in, "description", decode_node_description);
    registration.load = read_part<NodeLoad>(in, "load", decode_node_load);
    return in.finish(std::move(registration));
}

Json encode(const NodeLease& lease) { return {{"node", lease.node}, {"lease_s", to_seconds(lease.lease)}}; }

Result<NodeLease> decode_node_lease(const Json& json) {
    JsonReader in(json);
    return in.finish(NodeLease{.node = read_name(in, "node"), .lease = in.seconds("lease_s", 3'600)});
}

Json encode(const ProbeRequest& request) { return {{"node", request.node}, {"url", request.url}}; }

Result<ProbeRequest> decode_probe_request(const Json& json) {
    JsonReader in(json);
    ProbeRequest request{.node = read_name(in, "node"), .url = read_agent_url(in)};
    return in.finish(std::move(request));
}

Json encode(const ProbeReport& report) {
    return {{"node", report.node},
            {"round_trip_us", report.round_trip.count()},
            {"bytes", report.bytes},
            {"transfer_us", report.transfer.count()},
            {"overhead_us", report.overhead.count()}};
}

Result<ProbeReport> decode_probe_report(const Json& json) {
    JsonReader in(json);
    ProbeReport report;
    report.node = read_name(in, "node");
    report.round_trip = Duration{in.integer("round_trip_us", 0, limits::kMaxProbeMicroseconds)};
    report.bytes = static_cast<std::uint64_t>(in.integer("bytes", 1, limits::kMaxProbeBytes));
    report.transfer = Duration{in.integer("transfer_us", 0, limits::kMaxProbeMicroseconds)};
    report.overhead = Duration{in.integer("overhead_us", 0, limits::kMaxProbeMicroseconds)};
    return in.finish(std::move(report));
}

Json encode(const SliceColumn& column) {
    Json json = {{"number", column.number},          {"epoch_us", to_microseconds(column.epoch)},
                 {"slice_us", column.slice.count()}, {"rows", column.rows},
                 {"fill", to_string(column.fill)},   {"fillers", column.fillers}};
    if (!column.shares.empty()) json["shares"] = column.shares;
    return json;
}

Result<SliceColumn> decode_slice_column(const Json& json) {
    JsonReader in(json);
    SliceColumn column;
    column.number = static_cast<std::uint64_t>(in.integer("number", 1, INT64_MAX));
    column.epoch = time_from_microseconds(in.integer("epoch_us", 0, kLastEpochUs));
    column.slice = Duration{in.integer("slice_us", limits::kMinSliceMicroseconds, limits::kMaxSliceMicroseconds)};
    const Json& rows = in.array("rows", limits::kMaxSliceRows);
    std::size_t entries = 0;
    for (std::size_t i = 0; i < rows.size() && in.ok(); ++i) {
        const std::string place = "rows/" + std::to_string(i);
        entries += rows[i].is_array() ? rows[i].size() : 0;
        if (!rows[i].is_array() || entries > limits::kMaxNodeSteps) {
            in.fail(place, "must be a list of operations, " + std::to_string(limits::kMaxNodeSteps) +
                               " in all rows together at most");
            break;
        }
        column.rows.push_back(read_operations(in, place, rows[i]));
    }
    column.fill = read_word(in, "fill", kFillModes);
    column.fillers = read_operations(in, "fillers", in.array("fillers", limits::kMaxNodeSteps));
    if (in.has("shares")) column.shares = read_row_shares(in, column.rows.size());
    return in.finish(std::move(column));
}

Json encode(const ShareTable& table) {
    Json shares = Json::array();
    for (const Share& share : table.shares) {
        Json item = {{"operation", share.operation}};
        if (share.weight) item["weight"] = *share.weight;
        if (share.nice) item["nice"] = *share.nice;
        shares.push_back(std::move(item));
    }
    return {{"number", table.number}, {"shares", std::move(shares)}};
}

Result<ShareTable> decode_share_table(const Json& json) {
    JsonReader in(json);
    ShareTable table{.number = static_cast<std::uint64_t>(in.integer("number", 1, INT64_MAX))};
    const Json& shares = in.array("shares", limits::kMaxNodeSteps);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < shares.size() && in.ok(); ++i) {
        JsonReader s(shares[i], in.pointer_of("shares/" + std::to_string(i)));
        Share share{.operation = read_operation(s, "operation")};
        if (s.has("weight")) share.weight = static_cast<int>(s.integer("weight", 1, 10'000));
        if (s.has("nice")) share.nice = static_cast<int>(s.integer("nice", -20, 19));
        if (s.ok() && share.weight.has_value() == share.nice.has_value())
            s.fail("weight", "either 'weight' or 'nice' is needed");
        if (s.ok() && !seen.insert(share.operation).second) s.fail("operation", "stands there twice");
        Result<Share> done = s.finish(std::move(share));
        if (!done) return done.error();
        table.shares.push_back(*std::move(done));
    }
    return in.finish(std::move(table));
}

Json encode_number(std::uint64_t number) { return {{"number", number}}; }

Result<std::uint64_t> decode_number(const Json& json) {
    JsonReader in(json);
    return in.finish(static_cast<std::uint64_t>(in.integer("number", 0, INT64_MAX)));
}

}  // namespace zbs::codec
