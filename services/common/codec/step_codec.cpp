#include <chrono>

#include "services/common/codec/json/words.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs::codec {
namespace {

constexpr std::array kStepStates = {StepState::kUnknown, StepState::kRunning, StepState::kExited};
constexpr std::array kActivities = {StepActivity::kRunning, StepActivity::kBlocked, StepActivity::kSuspended};
constexpr std::size_t kMaxReasonBytes = 1'024;
constexpr std::size_t kMaxFileNameBytes = 128;

using Pairs = std::vector<std::pair<std::string, std::string>>;

Json encode_pairs(const Pairs& pairs, const char* value_name) {
    Json items = Json::array();
    for (const auto& [name, value] : pairs) items.push_back({{"name", name}, {value_name, value}});
    return items;
}

struct PairLimits {
    std::size_t count, name_bytes, value_bytes;
};
Pairs read_pairs(JsonReader& in, const char* key, const char* value_name, PairLimits most) {
    Pairs pairs;
    const Json& items = in.array(key, most.count);
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        JsonReader p(items[i], in.pointer_of(std::string(key) + "/" + std::to_string(i)));
        std::string name = p.text("name", most.name_bytes);
        if (p.ok() && name.empty()) p.fail("name", "must not be empty");
        std::string value = p.text(value_name, most.value_bytes);
        auto pair = p.finish(std::pair(std::move(name), std::move(value)));
        if (!pair) {
            in.fail(pair.error());
            break;
        }
        pairs.push_back(*std::move(pair));
    }
    return pairs;
}

std::uint64_t read_amount(JsonReader& in, const char* key) {
    return static_cast<std::uint64_t>(in.integer(key, 0, INT64_MAX));
}
Duration read_span(JsonReader& in, const char* key) { return Duration{in.integer(key, 0, INT64_MAX)}; }

/// By name, digest and size; where it lies is each host's own matter.
Json encode_inputs(const std::vector<StepSpec::Input>& inputs) {
    Json items = Json::array();
    for (const StepSpec::Input& input : inputs) {
        Json one = {{"name", input.name}, {"digest", input.digest}, {"size", input.size}};
        if (input.executable) one["executable"] = true;
        items.push_back(std::move(one));
    }
    return items;
}
std::vector<StepSpec::Input> read_inputs(JsonReader& in) {
    std::vector<StepSpec::Input> inputs;
    const Json& items = in.array("inputs", limits::kMaxStagedInputs);
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        JsonReader one(items[i], in.pointer_of("inputs/" + std::to_string(i)));
        StepSpec::Input input;
        input.name = one.text("name", limits::kMaxStagedNameBytes);
        if (const std::string fault = input_name_fault(input.name); one.ok() && !fault.empty()) one.fail("name", fault);
        input.digest = read_digest(one, "digest");
        input.size = static_cast<std::uint64_t>(one.integer("size", 0, limits::kMaxStagedMiB * 1024 * 1024));
        input.executable = one.boolean_or("executable", false);
        Result<StepSpec::Input> read = one.finish(std::move(input));
        if (!read) {
            in.fail(read.error());
            break;
        }
        inputs.push_back(*std::move(read));
    }
    return inputs;
}

}  // namespace

Json encode(const StepSpec& spec) {
    Json json = {{"argv", spec.argv},
                 {"environment", encode_pairs(spec.environment, "value")},
                 {"files", encode_pairs(spec.files, "text")},
                 {"shares", spec.shares},
                 {"walltime_s", std::chrono::ceil<std::chrono::seconds>(spec.walltime).count()}};
    if (!spec.directory.empty()) json["directory"] = spec.directory;
    if (!spec.account.empty()) json["account"] = spec.account;
    write_grace(json, spec.grace);
    if (spec.is_launcher) json["is_launcher"] = true;
    if (spec.folder_bytes > 0) json["folder_bytes"] = spec.folder_bytes;
    if (!spec.inputs.empty()) json["inputs"] = encode_inputs(spec.inputs);
    return json;
}

Result<StepSpec> decode_step_spec(const Json& json) {
    JsonReader in(json);
    StepSpec spec;
    spec.argv = in.texts("argv", limits::kMaxStepArguments, limits::kMaxStepArgumentBytes);
    if (in.ok() && spec.argv.empty()) in.fail("argv", "must hold at least the program");
    spec.environment = read_pairs(in, "environment", "value",
                                  {limits::kMaxStepEnvironment, limits::kMaxPathBytes, limits::kMaxStepVariableBytes});
    spec.files = read_pairs(in, "files", "text", {limits::kMaxStepFiles, kMaxFileNameBytes, limits::kMaxStepFileBytes});
    spec.shares = in.texts("shares", limits::kMaxNodeSteps, limits::kMaxNodeSteps * 64);
    for (std::size_t i = 0; i < spec.shares.size() && in.ok(); ++i) {
        if (!is_operation(spec.shares[i]))
            in.fail("shares/" + std::to_string(i), "must be an operation: 1 to 64 of A-Z a-z 0-9 -");
    }
    spec.walltime = std::chrono::seconds{in.integer("walltime_s", 0, limits::kMaxWalltimeSeconds)};
    spec.grace = read_grace(in);
    spec.is_launcher = in.boolean_or("is_launcher", false);
    spec.directory = in.text_or("directory", "", limits::kMaxPathBytes);
    spec.account = in.text_or("account", "", limits::kMaxAccountNameBytes);
    spec.folder_bytes = static_cast<std::uint64_t>(in.integer_or("folder_bytes", 0, 0, INT64_MAX));
    if (in.has("inputs")) spec.inputs = read_inputs(in);
    return in.finish(std::move(spec));
}

Json encode_step_stop(Duration grace) { return {{"grace_s", to_seconds(grace)}}; }

Result<Duration> decode_step_stop(const Json& json) {
    JsonReader in(json);
    return in.finish(in.seconds("grace_s", limits::kMaxGraceSeconds));
}

Json encode(const StepUsage& usage) {
    return {{"cpu_us", usage.cpu.count()},
            {"blocked_us", usage.blocked.count()},
            {"waiting_us", usage.waiting.count()},
            {"read_bytes", usage.read_bytes},
            {"written_bytes", usage.written_bytes},
            {"processes", usage.processes},
            {"voluntary_switches", usage.voluntary_switches},
            {"involuntary_switches", usage.involuntary_switches},
            {"activity", to_string(usage.activity)}};
}

Result<StepUsage> decode_step_usage(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    StepUsage usage;
    usage.cpu = read_span(in, "cpu_us");
    usage.blocked = read_span(in, "blocked_us");
    usage.waiting = read_span(in, "waiting_us");
    usage.read_bytes = read_amount(in, "read_bytes");
    usage.written_bytes = read_amount(in, "written_bytes");
    usage.processes = static_cast<int>(in.integer("processes", 0, INT32_MAX));
    usage.voluntary_switches = read_amount(in, "voluntary_switches");
    usage.involuntary_switches = read_amount(in, "involuntary_switches");
    usage.activity = read_word(in, "activity", kActivities);
    return in.finish(usage);
}

Json encode(const StepReport& report) {
    Json json = {{"operation", report.operation}, {"state", to_string(report.state)}};
    if (report.state == StepState::kExited) {
        json["exit_code"] = report.exit_code;
        json["reason"] = bounded(report.reason, kMaxReasonBytes);
    }
    if (report.usage) json["usage"] = encode(*report.usage);
    if (report.work) json["work"] = to_string(*report.work);
    return json;
}

Result<StepReport> decode_step_report(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    StepReport report;
    report.operation = read_operation(in, "operation");
    report.state = read_word(in, "state", kStepStates);
    if (in.has("work")) report.work = read_word(in, "work", kStepWorks);
    if (report.state == StepState::kExited) {
        report.exit_code = static_cast<int>(in.integer("exit_code", 0, 255));
        report.reason = in.text("reason", kMaxReasonBytes);
    }
    if (in.has("usage")) {
        const Result<StepUsage> usage = decode_step_usage(in.object("usage"), in.pointer_of("usage"));
        if (!usage) return usage.error();
        report.usage = *usage;
    }
    return in.finish(std::move(report));
}

Json encode(const StepPage& page) {
    Json steps = Json::array();
    for (const StepReport& report : page.steps) steps.push_back(encode(report));
    return {{"version", page.version}, {"steps", std::move(steps)}};
}

Result<StepPage> decode_step_page(const Json& json) {
    JsonReader in(json);
    StepPage page{.version = read_amount(in, "version")};
    const Json& steps = in.array("steps", limits::kMaxNodeSteps);
    for (std::size_t i = 0; i < steps.size() && in.ok(); ++i) {
        Result<StepReport> report = decode_step_report(steps[i], in.pointer_of("steps/" + std::to_string(i)));
        if (!report) return report.error();
        page.steps.push_back(*std::move(report));
    }
    return in.finish(std::move(page));
}

Json encode(const std::vector<StepFile>& files) {
    Json items = Json::array();
    for (const StepFile& file : files) {
        Json one = {{"name", file.name}, {"bytes", file.bytes}};
        if (!file.fault.empty()) one["fault"] = file.fault;
        if (file.is_folder) one["folder"] = true;
        if (file.executable) one["executable"] = true;
        items.push_back(std::move(one));
    }
    return {{"files", std::move(items)}};
}

Result<std::vector<StepFile>> decode_step_files(const Json& json) {
    JsonReader in(json);
    const Json& items = in.array("files", limits::kMaxListedFiles);
    std::vector<StepFile> files;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        JsonReader f(items[i], in.pointer_of("files/" + std::to_string(i)));
        StepFile read{.name = f.text("name", limits::kMaxPathBytes), .bytes = read_amount(f, "bytes")};
        read.fault = f.text_or("fault", "", kMaxReasonBytes);
        read.is_folder = f.boolean_or("folder", false);
        read.executable = f.boolean_or("executable", false);
        if (const std::string fault = file_name_fault(read.name); f.ok() && read.fault.empty() && !fault.empty())
            f.fail("name", fault);
        Result<StepFile> file = f.finish(std::move(read));
        if (!file) return file.error();
        files.push_back(*std::move(file));
    }
    return in.finish(std::move(files));
}

Json encode(const StepRemoval& removal) { return {{"files", removal.files}, {"complete", removal.complete}}; }

Result<StepRemoval> decode_step_removal(const Json& json) {
    JsonReader in(json);
    return in.finish(
        StepRemoval{.files = static_cast<std::size_t>(read_amount(in, "files")), .complete = in.boolean("complete")});
}

}  // namespace zbs::codec
