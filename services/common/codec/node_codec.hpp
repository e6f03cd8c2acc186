#pragma once
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/node.hpp"
#include "services/common/ports/steps/step_runner.hpp"

/// Messages between a zone and its node agents.
namespace zbs::codec {

Json encode(const NodeDescription& description);
Json encode(const NodeLoad& load);
Json encode(const NodeStatus& status);
Result<NodeStatus> decode_node_status(const Json& json);
Json encode(const NodeRegistration& registration);
Result<NodeRegistration> decode_node_registration(const Json& json);
Json encode(const NodeLease& lease);
Result<NodeLease> decode_node_lease(const Json& json);

/// The id is not in it: it is in the path of the call.
Json encode(const StepSpec& spec);
Result<StepSpec> decode_step_spec(const Json& json);
/// A stop: how long the tree has until it is killed.
Json encode_step_stop(Duration grace);
Result<Duration> decode_step_stop(const Json& json);
Json encode(const StepReport& report);
Result<StepReport> decode_step_report(const Json& json, const std::string& pointer = {});
Json encode(const StepPage& page);
Result<StepPage> decode_step_page(const Json& json);
Json encode(const std::vector<StepFile>& files);
Result<std::vector<StepFile>> decode_step_files(const Json& json);
Json encode(const StepRemoval& removal);
Result<StepRemoval> decode_step_removal(const Json& json);

Json encode(const SliceColumn& column);
/// Also errors: a row that names a step twice, more than `limits::kMaxNodeSteps` in all.
Result<SliceColumn> decode_slice_column(const Json& json);
Json encode(const ShareTable& table);
/// Also errors: a step twice, one with neither weight nor nice level or with both.
Result<ShareTable> decode_share_table(const Json& json);

/// The number of the column or table that the agent uses now.
Json encode_number(std::uint64_t number);
Result<std::uint64_t> decode_number(const Json& json);

Json encode(const ProbeRequest& request);
Result<ProbeRequest> decode_probe_request(const Json& json);
Json encode(const ProbeReport& report);
Result<ProbeReport> decode_probe_report(const Json& json);

/// What names a step: 1 to 64 of A-Z a-z 0-9 -.
bool is_step_id(std::string_view text);

}  // namespace zbs::codec
