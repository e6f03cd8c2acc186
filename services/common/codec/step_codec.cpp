#include <chrono>

#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxReasonBytes = 1'024;
constexpr std::size_t kMaxFileNameBytes = 128;

using Pair = std::pair<std::string, std::string>;

Json write_whole_seconds(Duration value) { return std::chrono::ceil<std::chrono::seconds>(value).count(); }
Duration read_whole_walltime(JsonReader& in, const char* key) {
    return std::chrono::seconds{in.integer(key, 0, limits::kMaxWalltimeSeconds)};
}

/// Only a step that has exited has them.
struct ExitRow {
    void write(Json& json, const StepReport& report) const {
        if (report.state != StepState::kExited) return;
        json["exit_code"] = report.exit_code;
        json["reason"] = bounded(report.reason, kMaxReasonBytes);
    }
    void read(JsonReader& in, StepReport& report) const {
        if (report.state != StepState::kExited) return;
        report.exit_code = static_cast<int>(in.integer("exit_code", 0, 255));
        report.reason = in.text("reason", kMaxReasonBytes);
    }
};

void check_pair(JsonReader& in, const Pair& pair) {
    if (pair.first.empty()) in.fail("name", "must not be empty");
}
void check_input(JsonReader& in, const StepSpec::Input& input) {
    if (const std::string fault = input_name_fault(input.name); !fault.empty()) in.fail("name", fault);
}
void check_spec(JsonReader& in, const StepSpec& spec) {
    if (spec.argv.empty()) in.fail("argv", "must hold at least the program");
    for (std::size_t i = 0; i < spec.shares.size(); ++i)
        if (!is_step_id(spec.shares[i]))
            in.fail("shares/" + std::to_string(i), "must be an operation: 1 to 64 of A-Z a-z 0-9 -");
}
void check_file(JsonReader& in, const StepFile& file) {
    if (const std::string fault = file_name_fault(file.name); file.fault.empty() && !fault.empty())
        in.fail("name", fault);
}

// One field a line.
// clang-format off
constexpr auto kVariable = fields<Pair>(
    text("name", &Pair::first, limits::kMaxPathBytes),
    text("value", &Pair::second, limits::kMaxStepVariableBytes)).checked(check_pair);

constexpr auto kFileText = fields<Pair>(
    text("name", &Pair::first, kMaxFileNameBytes),
    text("text", &Pair::second, limits::kMaxStepFileBytes)).checked(check_pair);

/// By name, digest and size; where it lies is each host's own matter.
constexpr auto kInput = fields<StepSpec::Input>(
    text("name", &StepSpec::Input::name, limits::kMaxStagedNameBytes),
    digest("digest", &StepSpec::Input::digest),
    count("size", &StepSpec::Input::size, limits::kMaxStagedMiB * 1024 * 1024),
    optional(boolean("executable", &StepSpec::Input::executable))).checked(check_input);

constexpr auto kStepSpec = fields<StepSpec>(
    texts("argv", &StepSpec::argv, limits::kMaxStepArguments, limits::kMaxStepArgumentBytes),
    list("environment", &StepSpec::environment, limits::kMaxStepEnvironment, kVariable),
    list("files", &StepSpec::files, limits::kMaxStepFiles, kFileText),
    texts("shares", &StepSpec::shares, limits::kMaxNodeSteps, limits::kMaxNodeSteps * 64),
    Field{"walltime_s", &StepSpec::walltime, write_whole_seconds, read_whole_walltime},
    optional(seconds("grace_s", &StepSpec::grace, limits::kMaxGraceSeconds)),
    optional(boolean("is_launcher", &StepSpec::is_launcher)),
    optional(text("directory", &StepSpec::directory, limits::kMaxPathBytes)),
    optional(text("account", &StepSpec::account, limits::kMaxAccountNameBytes)),
    optional(count("folder_bytes", &StepSpec::folder_bytes)),
    optional(list("inputs", &StepSpec::inputs, limits::kMaxStagedInputs, kInput))).checked(check_spec);

constexpr auto kStepUsage = fields<StepUsage>(
    microseconds("cpu_us", &StepUsage::cpu),
    microseconds("blocked_us", &StepUsage::blocked),
    microseconds("waiting_us", &StepUsage::waiting),
    count("read_bytes", &StepUsage::read_bytes),
    count("written_bytes", &StepUsage::written_bytes),
    count("processes", &StepUsage::processes, INT32_MAX),
    count("voluntary_switches", &StepUsage::voluntary_switches),
    count("involuntary_switches", &StepUsage::involuntary_switches),
    word("activity", &StepUsage::activity));

constexpr auto kStepReport = fields<StepReport>(
    operation("operation", &StepReport::step_id),
    word("state", &StepReport::state),
    word("work", &StepReport::work),
    ExitRow{},
    nested("usage", &StepReport::usage, kStepUsage));

constexpr auto kStepPage = fields<StepPage>(
    count("version", &StepPage::version),
    list("steps", &StepPage::steps, limits::kMaxNodeSteps, kStepReport));

constexpr auto kStepFile = fields<StepFile>(
    text("name", &StepFile::name, limits::kMaxPathBytes),
    count("bytes", &StepFile::bytes),
    optional(text("fault", &StepFile::fault, kMaxReasonBytes)),
    optional(boolean("folder", &StepFile::is_folder)),
    optional(boolean("executable", &StepFile::executable))).checked(check_file);

constexpr auto kStepRemoval = fields<StepRemoval>(
    count("files", &StepRemoval::files),
    boolean("complete", &StepRemoval::complete));
// clang-format on

}  // namespace

Json encode(const StepSpec& spec) { return kStepSpec.encode(spec); }
Result<StepSpec> decode_step_spec(const Json& json) { return kStepSpec.decode(json); }
Json encode_step_stop(Duration grace) { return {{"grace_s", to_seconds(grace)}}; }
Result<Duration> decode_step_stop(const Json& json) {
    JsonReader in(json);
    return in.finish(in.seconds("grace_s", limits::kMaxGraceSeconds));
}
Json encode(const StepReport& report) { return kStepReport.encode(report); }
Result<StepReport> decode_step_report(const Json& json, const std::string& pointer) {
    return kStepReport.decode(json, pointer);
}
Json encode(const StepPage& page) { return kStepPage.encode(page); }
Result<StepPage> decode_step_page(const Json& json) { return kStepPage.decode(json); }
Json encode(const StepRemoval& removal) { return kStepRemoval.encode(removal); }
Result<StepRemoval> decode_step_removal(const Json& json) { return kStepRemoval.decode(json); }

Json encode(const std::vector<StepFile>& files) {
    Json items = Json::array();
    for (const StepFile& file : files) items.push_back(kStepFile.encode(file));
    return {{"files", std::move(items)}};
}
Result<std::vector<StepFile>> decode_step_files(const Json& json) {
    JsonReader in(json);
    const Json& items = in.array("files", limits::kMaxListedFiles);
    std::vector<StepFile> files;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        Result<StepFile> file = kStepFile.decode(items[i], in.pointer_of("files/" + std::to_string(i)));
        if (!file) return file.error();
        files.push_back(*std::move(file));
    }
    return in.finish(std::move(files));
}

}  // namespace zbs::codec
