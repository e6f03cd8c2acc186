#include "services/common/codec/node_codec.hpp"

#include <set>

#include "services/common/codec/json/fields.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kLastEpochUs = 7'258'118'400'000'000;  // the year 2200: sums with a slice stay in their range
constexpr std::size_t kMaxUrlBytes = 1'024;

/// Where an agent listens.
std::string read_agent_url(JsonReader& in, const char* key) {
    std::string url = in.text(key, kMaxUrlBytes);
    if (in.ok() && !url.starts_with("https://")) in.fail(key, "must begin with https://: agents answer over TLS only");
    return url;
}

StepId check_step_id(JsonReader& in, const std::string& place, const Json& item) {
    std::string text = item.is_string() ? item.get<std::string>() : std::string{};
    if (!is_step_id(text)) in.fail(place, "must be an operation: 1 to 64 of A-Z a-z 0-9 -");
    return StepId(std::move(text));
}

/// Ids of one list, none twice.
std::vector<StepId> read_step_ids(JsonReader& in, const std::string& place, const Json& items) {
    std::vector<StepId> step_ids;
    std::set<StepId> seen;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        const std::string at = place + "/" + std::to_string(i);
        step_ids.push_back(check_step_id(in, at, items[i]));
        if (in.ok() && !seen.insert(step_ids.back()).second) in.fail(at, "stands there twice");
    }
    return step_ids;
}

/// All rows together have at most `limits::kMaxNodeSteps`.
std::vector<std::vector<StepId>> read_rows(JsonReader& in, const char* key) {
    std::vector<std::vector<StepId>> rows;
    const Json& items = in.array(key, limits::kMaxSliceRows);
    std::size_t entries = 0;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        const std::string place = std::string(key) + "/" + std::to_string(i);
        entries += items[i].is_array() ? items[i].size() : 0;
        if (!items[i].is_array() || entries > limits::kMaxNodeSteps) {
            in.fail(place, "must be a list of operations, " + std::to_string(limits::kMaxNodeSteps) +
                               " in all rows together at most");
            break;
        }
        rows.push_back(read_step_ids(in, place, items[i]));
    }
    return rows;
}
std::vector<StepId> read_fillers(JsonReader& in, const char* key) {
    return read_step_ids(in, key, in.array(key, limits::kMaxNodeSteps));
}
Time read_epoch(JsonReader& in, const char* key) { return time_from_microseconds(in.integer(key, 0, kLastEpochUs)); }

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

void check_share(JsonReader& in, const Share& share) {
    if (share.weight.has_value() == share.nice.has_value()) in.fail("weight", "either 'weight' or 'nice' is needed");
}
void check_shares(JsonReader& in, const ShareTable& table) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < table.shares.size(); ++i)
        if (!seen.insert(table.shares[i].step_id).second)
            in.fail("shares/" + std::to_string(i) + "/operation", "stands there twice");
}

// One field a line.
// clang-format off
constexpr auto kNodeDescription = fields<NodeDescription>(
    name("name", &NodeDescription::name),
    integer("processors", &NodeDescription::processors, 1, limits::kMaxNodeProcessors),
    integer("cores", &NodeDescription::cores, 1, limits::kMaxNodeProcessors),
    integer("sockets", &NodeDescription::sockets, 1, limits::kMaxNodeProcessors),
    count("memory_bytes", &NodeDescription::memory_bytes),
    cut_text("hwloc_version", &NodeDescription::hwloc_version, 64),
    cut_text("clock_source", &NodeDescription::clock_source, 64),
    cut_text("step_folder", &NodeDescription::step_folder, limits::kMaxPathBytes),
    optional(boolean("weights", &NodeDescription::weights)));

constexpr auto kNodeLoad = fields<NodeLoad>(
    number("load_1", &NodeLoad::load_1, 0, 1e6),
    number("load_5", &NodeLoad::load_5, 0, 1e6),
    number("load_15", &NodeLoad::load_15, 0, 1e6),
    number("cpu_available", &NodeLoad::cpu_available, 0, limits::kMaxNodeProcessors),
    count("memory_available_bytes", &NodeLoad::memory_available_bytes),
    time("at_us", &NodeLoad::at));

constexpr auto kDurationSummary = fields<DurationSummary>(
    count("count", &DurationSummary::count),
    microseconds("mean_us", &DurationSummary::mean),
    microseconds("p99_us", &DurationSummary::p99),
    microseconds("max_us", &DurationSummary::max));

constexpr auto kSwitchStatistics = fields<SwitchStatistics>(
    nested("late", &SwitchStatistics::late, kDurationSummary),
    nested("cost", &SwitchStatistics::cost, kDurationSummary),
    count("fills", &SwitchStatistics::fills),
    count("failed", &SwitchStatistics::failed));

constexpr auto kNodeStatus = fields<NodeStatus>(
    nested("description", &NodeStatus::description, kNodeDescription),
    nested("load", &NodeStatus::load, kNodeLoad),
    count("steps", &NodeStatus::steps, INT32_MAX),
    count("slices", &NodeStatus::slices),
    count("shares", &NodeStatus::shares),
    count("version", &NodeStatus::version),
    nested("switches", &NodeStatus::switches, kSwitchStatistics));

constexpr auto kNodeRegistration = fields<NodeRegistration>(
    Field{"url", &NodeRegistration::url, kAsIs, read_agent_url},
    nested("description", &NodeRegistration::description, kNodeDescription),
    nested("load", &NodeRegistration::load, kNodeLoad));

constexpr auto kNodeLease = fields<NodeLease>(
    name("node", &NodeLease::node),
    seconds("lease_s", &NodeLease::lease, 3'600));

constexpr auto kProbeRequest = fields<ProbeRequest>(
    name("node", &ProbeRequest::node),
    Field{"url", &ProbeRequest::url, kAsIs, read_agent_url});

constexpr auto kProbeReport = fields<ProbeReport>(
    name("node", &ProbeReport::node),
    microseconds("round_trip_us", &ProbeReport::round_trip, 0, limits::kMaxProbeMicroseconds),
    integer("bytes", &ProbeReport::bytes, 1, limits::kMaxProbeBytes),
    microseconds("transfer_us", &ProbeReport::transfer, 0, limits::kMaxProbeMicroseconds),
    microseconds("overhead_us", &ProbeReport::overhead, 0, limits::kMaxProbeMicroseconds));

/// Without `shares`, whose reader has to know how many rows there are.
constexpr auto kSliceColumn = fields<SliceColumn>(
    integer("number", &SliceColumn::number, 1, INT64_MAX),
    Field{"epoch_us", &SliceColumn::epoch, to_microseconds, read_epoch},
    microseconds("slice_us", &SliceColumn::slice, limits::kMinSliceMicroseconds, limits::kMaxSliceMicroseconds),
    Field{"rows", &SliceColumn::rows, kAsIs, read_rows},
    word("fill", &SliceColumn::fill),
    Field{"fillers", &SliceColumn::fillers, kAsIs, read_fillers});

constexpr auto kShare = fields<Share>(
    operation("operation", &Share::step_id),
    integer("weight", &Share::weight, 1, 10'000),
    integer("nice", &Share::nice, -20, 19)).checked(check_share);

constexpr auto kShareTable = fields<ShareTable>(
    integer("number", &ShareTable::number, 1, INT64_MAX),
    list("shares", &ShareTable::shares, limits::kMaxNodeSteps, kShare)).checked(check_shares);
// clang-format on

}  // namespace

bool is_step_id(std::string_view text) {
    return !text.empty() && text.size() <= 64 &&
           text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") ==
               std::string_view::npos;
}

Json encode(const NodeDescription& description) { return kNodeDescription.encode(description); }
Json encode(const NodeLoad& load) { return kNodeLoad.encode(load); }
Json encode(const NodeStatus& status) { return kNodeStatus.encode(status); }
Result<NodeStatus> decode_node_status(const Json& json) { return kNodeStatus.decode(json); }
Json encode(const NodeRegistration& registration) { return kNodeRegistration.encode(registration); }
Result<NodeRegistration> decode_node_registration(const Json& json) { return kNodeRegistration.decode(json); }
Json encode(const NodeLease& lease) { return kNodeLease.encode(lease); }
Result<NodeLease> decode_node_lease(const Json& json) { return kNodeLease.decode(json); }
Json encode(const ProbeRequest& request) { return kProbeRequest.encode(request); }
Result<ProbeRequest> decode_probe_request(const Json& json) { return kProbeRequest.decode(json); }
Json encode(const ProbeReport& report) { return kProbeReport.encode(report); }
Result<ProbeReport> decode_probe_report(const Json& json) { return kProbeReport.decode(json); }
Json encode(const ShareTable& table) { return kShareTable.encode(table); }
Result<ShareTable> decode_share_table(const Json& json) { return kShareTable.decode(json); }

Json encode(const SliceColumn& column) {
    Json json = kSliceColumn.encode(column);
    if (!column.shares.empty()) json["shares"] = column.shares;
    return json;
}

Result<SliceColumn> decode_slice_column(const Json& json) {
    JsonReader in(json);
    SliceColumn column;
    kSliceColumn.read(in, column);
    if (in.has("shares")) column.shares = read_row_shares(in, column.rows.size());
    return in.finish(std::move(column));
}

Json encode_number(std::uint64_t number) { return {{"number", number}}; }

Result<std::uint64_t> decode_number(const Json& json) {
    JsonReader in(json);
    return in.finish(static_cast<std::uint64_t>(in.integer("number", 0, INT64_MAX)));
}

}  // namespace zbs::codec
