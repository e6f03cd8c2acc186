// Slurm's reports of jobs.
#include <algorithm>
#include <array>
#include <utility>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "services/zone_scheduler/adapters/slurm/fields.hpp"
#include "services/zone_scheduler/adapters/slurm/host_list.hpp"

namespace zbs::slurm {
namespace {

constexpr std::int64_t kMaxUnixSeconds = 253'402'300'799;  // the year 9999
constexpr std::int64_t kMaxJobNumber = 0xffff'ffff;

constexpr std::array<std::pair<std::string_view, Phase>, 24> kStates = {{
    {"PENDING", Phase::kWaiting},      {"CONFIGURING", Phase::kWaiting},  {"REQUEUED", Phase::kWaiting},
    {"REQUEUE_FED", Phase::kWaiting},  {"REQUEUE_HOLD", Phase::kWaiting}, {"RESV_DEL_HOLD", Phase::kWaiting},
    {"SPECIAL_EXIT", Phase::kWaiting}, {"RUNNING", Phase::kRunning},      {"SUSPENDED", Phase::kRunning},
    {"RESIZING", Phase::kRunning},     {"SIGNALING", Phase::kRunning},    {"STOPPED", Phase::kRunning},
    {"COMPLETING", Phase::kEnding},    {"STAGE_OUT", Phase::kEnding},     {"COMPLETED", Phase::kEnded},
    {"CANCELLED", Phase::kEnded},      {"FAILED", Phase::kEnded},         {"TIMEOUT", Phase::kEnded},
    {"NODE_FAIL", Phase::kEnded},      {"PREEMPTED", Phase::kEnded},      {"BOOT_FAIL", Phase::kEnded},
    {"DEADLINE", Phase::kEnded},       {"OUT_OF_MEMORY", Phase::kEnded},  {"REVOKED", Phase::kEnded},
}};

/// None: Slurm does not know. False: it is no time.
bool read_time(std::string_view text, std::optional<Time>& time) {
    if (text == "N/A" || text == "NONE" || text == "Unknown" || text == "0") return true;
    const auto seconds = number_of(text, kMaxUnixSeconds);
    if (seconds) time = time_from_microseconds(*seconds * 1'000'000);
    return seconds.has_value();
}

/// How many numbers a set as "0-3,6" has.
std::optional<int> count_of(std::string_view set) {
    std::int64_t count = 0;
    while (true) {
        const std::size_t comma = set.find(',');
        const std::string_view range = set.substr(0, comma);
        const std::size_t dash = range.find('-');
        const auto first = number_of(range.substr(0, dash), limits::kMaxNodeProcessors);
        const auto last =
            dash == std::string_view::npos ? first : number_of(range.substr(dash + 1), limits::kMaxNodeProcessors);
        if (!first || !last || *last < *first) return std::nullopt;
        count += *last - *first + 1;
        if (count > limits::kMaxNodeProcessors) return std::nullopt;
        if (comma == std::string_view::npos) return static_cast<int>(count);
        set.remove_prefix(comma + 1);
    }
}

}  // namespace

Result<Phase> phase_of(std::string_view state) {
    const auto known =
        std::find_if(kStates.begin(), kStates.end(), [&](const auto& entry) { return entry.first == state; });
    if (known != kStates.end()) return known->second;
    return Error{ErrorCode::kUnavailable,
                 "Slurm says of a job that it is \"" + printable_text(state, 40) + "\", which no known release does",
                 {}};
}

Result<std::vector<JobLine>> parse_jobs(std::string_view text) {
    std::vector<JobLine> jobs;
    const std::vector<std::string_view> lines = lines_of(text);
    if (lines.size() > limits::kMaxSlurmJobs)
        return Error{
            ErrorCode::kTooLarge, "an answer about more than " + std::to_string(limits::kMaxSlurmJobs) + " jobs", {}};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto fields = split(lines[i], '|', 11);
        if (!fields) return not_understood("squeue", i + 1, lines[i]);
        const auto& f = *fields;
        const auto number = number_of(f[0], kMaxJobNumber);
        JobLine job{.name = std::string(f[7]),
                    .state = std::string(f[1]),
                    .reason = printable_text(f[9], 200),
                    .user = std::string(f[2]),
                    .partition = std::string(f[3]),
                    .reservation = std::string(without_null(f[8])),
                    .comment = std::string(without_null(trimmed(f[10])))};
        if (!number || !phase_of(f[1]) || !read_time(f[4], job.start) || !read_time(f[5], job.end))
            return not_understood("squeue", i + 1, lines[i]);
        job.job = static_cast<std::uint32_t>(*number);
        Result<std::vector<std::string>> nodes = parse_host_list(f[6]);
        if (!nodes) return Error{nodes.error().code, nodes.error().message, "squeue:" + std::to_string(i + 1)};
        job.nodes = *std::move(nodes);
        jobs.push_back(std::move(job));
    }
    return jobs;
}

Result<std::vector<NodeShare>> parse_shares(std::string_view text, std::string_view name) {
    constexpr const char* kCommand = "scontrol show job";
    const std::size_t head = text.find(' ');
    if (!text.starts_with("JobId=") || head == std::string_view::npos ||
        !text.substr(head + 1).starts_with("JobName=" + std::string(name) + " UserId="))
        return not_understood(kCommand, 1, text.substr(0, 160));
    text = text.substr(0, text.find(" MinCPUsNode="));  // behind it comes what its owner wrote
    std::vector<NodeShare> shares;
    // "  Nodes=n[1-2] CPU_IDs=0-3 Mem=0 GRES=": one group for nodes with the same numbers.
    constexpr std::string_view kGroup = " Nodes=", kNumbers = "CPU_IDs=";
    for (std::size_t at = text.find(kGroup); at != std::string_view::npos; at = text.find(kGroup, at + 1)) {
        const std::string_view group = text.substr(at + kGroup.size());
        const std::size_t space = group.find(' ');
        if (space == std::string_view::npos || !group.substr(space + 1).starts_with(kNumbers)) continue;
        std::string_view numbers = group.substr(space + 1 + kNumbers.size());
        numbers = numbers.substr(0, numbers.find(' '));
        const auto count = count_of(numbers);
        Result<std::vector<std::string>> names = parse_host_list(group.substr(0, space));
        if (!count || !names) return not_understood(kCommand, 1, group.substr(0, 160));
        if (shares.size() + names->size() > limits::kMaxSlurmNodes)
            return Error{
                ErrorCode::kTooLarge, "a job on more than " + std::to_string(limits::kMaxSlurmNodes) + " nodes", {}};
        for (std::string& node : *names) shares.push_back({std::move(node), *count});
    }
    return shares;
}

Result<std::uint32_t> parse_submitted(std::string_view text) {
    text = text.substr(0, text.find_first_of(";\n"));
    const auto number = number_of(text, kMaxJobNumber);
    if (!number || *number == 0) return not_understood("sbatch --parsable", 1, text);
    return static_cast<std::uint32_t>(*number);
}

}  // namespace zbs::slurm
