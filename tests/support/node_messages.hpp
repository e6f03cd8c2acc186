#pragma once
#include "services/common/messages/node.hpp"
#include "services/common/ports/steps/step_runner.hpp"

/// One value of every message between zone and node agent, with every field set to something that is not its default.
namespace zbs::test {

inline NodeDescription some_node_description() {
    return {.name = "node-1",
            .processors = 8,
            .cores = 4,
            .sockets = 2,
            .memory_bytes = 1ULL << 34U,
            .hwloc_version = "2.9.0",
            .clock_source = "tsc",
            .step_folder = "/var/lib/zbs-node/steps/{operation}/job",
            .weights = true};
}
inline NodeLoad some_node_load() {
    return {.load_1 = 0.5,
            .load_5 = 1.25,
            .load_15 = 7,
            .cpu_available = 3.5,
            .memory_available_bytes = 1ULL << 33U,
            .at = time_from_microseconds(1'700'000'000'000'001)};
}
inline StepUsage some_step_usage() {
    return {.cpu = Duration{1},
            .blocked = Duration{2},
            .waiting = Duration{3},
            .read_bytes = 4,
            .written_bytes = 5,
            .processes = 6,
            .voluntary_switches = 7,
            .involuntary_switches = 8,
            .activity = StepActivity::kSuspended};
}
inline StepReport some_exited_step() {
    return {.step_id = "part-2", .state = StepState::kExited, .exit_code = 143, .reason = "stopped", .usage = {}};
}
inline StepReport some_running_step() {
    return {.step_id = "part-1",
            .state = StepState::kRunning,
            .exit_code = 0,
            .reason = {},
            .usage = some_step_usage(),
            .work = StepWork::kIo};
}
inline StepSpec some_step_spec() {
    StepSpec spec;
    spec.argv = {"/bin/sh", "-c", "exit 3"};
    spec.environment = {{"PATH", "/bin"}, {"EMPTY", ""}};
    spec.directory = "/home/ana";
    spec.files = {{"hosts", "a:1\nb:2\n"}};
    spec.account = "ana";
    spec.shares = {"part-2"};
    spec.walltime = std::chrono::seconds{90};
    spec.grace = std::chrono::seconds{9};
    spec.is_launcher = true;
    spec.folder_bytes = 11;
    spec.inputs = {{.name = "solver", .executable = true, .digest = std::string(64, 'a'), .size = 7}};
    return spec;
}
inline SwitchStatistics some_switch_statistics() {
    return {.late = {3, Duration{4}, Duration{5}, Duration{6}},
            .cost = {7, Duration{8}, Duration{9}, Duration{10}},
            .fills = 11,
            .failed = 12};
}
inline NodeStatus some_node_status() {
    return {.description = some_node_description(),
            .load = some_node_load(),
            .steps = 2,
            .slices = 3,
            .shares = 4,
            .version = 5,
            .switches = some_switch_statistics()};
}
inline NodeRegistration some_node_registration() {
    return {"https://127.0.0.1:4000", some_node_description(), some_node_load()};
}
inline SliceColumn some_slice_column() {
    return {.number = 9,
            .epoch = time_from_microseconds(1'700'000'000'000'000),
            .slice = std::chrono::milliseconds{50},
            .rows = {{"a", "b"}, {}, {"c"}},
            .fill = FillMode::kLts,
            .fillers = {"c", "a"}};
}
inline SliceColumn some_column_of_shares() {
    SliceColumn column = some_slice_column();
    column.shares = {1, 40, 100};
    return column;
}
inline ShareTable some_share_table() { return {.number = 9, .shares = {{"a", 100, {}}, {"b", 10'000, {}}}}; }

}  // namespace zbs::test
