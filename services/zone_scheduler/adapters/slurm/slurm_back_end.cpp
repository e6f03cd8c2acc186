#include "services/zone_scheduler/adapters/slurm/slurm_back_end.hpp"

#include <algorithm>

#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"
#include "services/zone_scheduler/adapters/slurm/users.hpp"

namespace zbs::slurm {
namespace {

constexpr std::size_t kKeysPerQuestion = 500;  // of 70 bytes: one argument of a program has at most 128 KiB

}  // namespace

SlurmBackEnd::SlurmBackEnd(SlurmCommands commands, BackEndSettings settings)
    : commands_(std::move(commands)), settings_(std::move(settings)) {}

Result<std::vector<Node>> SlurmBackEnd::read_nodes() const {
    // JSON has whole words for states that sinfo else marks by signs. What is not JSON as we know it is read as text:
    // its layout is chosen by us, so later releases have it too.
    const bool is_new = commands_.version() >= Version{23, 2};
    if (commands_.version() >= Version{21, 8}) {
        const Result<std::string> json =
            is_new ? commands_.run("scontrol", {"--json", "show", "nodes"}) : commands_.run("sinfo", {"--json"});
        if (json) {
            if (Result<std::vector<Node>> nodes = parse_nodes_json(*json)) return nodes;
        } else if (json.error().code == ErrorCode::kTimeout) {
            return json.error();
        }
    }
    const Result<std::string> text =
        commands_.run("sinfo", {"--noheader", "--all", "--Node", std::string("--format=") + kNodeFormat});
    if (!text) return text.error();
    return parse_nodes(*text);
}

Result<Site> SlurmBackEnd::read_site() const {
    Site site{.version = commands_.version()};
    const Result<std::string> config = commands_.run("scontrol", {"show", "config"});
    if (!config) return config.error();
    Result<ClusterSettings> settings = parse_settings(*config);
    if (!settings) return settings.error();
    const Result<std::string> output = commands_.run("scontrol", {"--all", "--oneliner", "show", "partition"});
    if (!output) return output.error();
    Result<std::vector<Partition>> partitions = parse_partitions(*output);
    if (!partitions) return partitions.error();
    Result<std::vector<Node>> nodes = read_nodes();
    if (!nodes) return nodes.error();
    site.settings = *std::move(settings);
    site.partitions = *std::move(partitions);
    site.nodes = *std::move(nodes);
    return site;
}

Result<std::vector<FoundHold>> SlurmBackEnd::ask(const std::vector<HoldKey>& keys) const {
    std::vector<FoundHold> found;
    for (std::size_t begin = 0; begin < keys.size(); begin += kKeysPerQuestion) {
        const std::size_t end = std::min(keys.size(), begin + kKeysPerQuestion);
        std::string names;
        for (std::size_t i = begin; i < end; ++i) {
            ZBS_EXPECTS(is_operation(keys[i].operation));
            names += (names.empty() ? "" : ",") + job_name(keys[i].operation);
        }
        const Result<std::string> text = commands_.run(
            "squeue",
            {"--noheader", "--all", "--states=all", "--name=" + names, std::string("--format=") + kJobFormat});
        if (!text) return text.error();
        Result<std::vector<JobLine>> lines = parse_jobs(*text);
        if (!lines) return lines.error();
        for (std::size_t i = begin; i < end; ++i) {
            const Result<User> owner = find_user(keys[i].user);
            if (!owner) return owner.error();
            if (auto one = choose(*lines, job_name(keys[i].operation), owner->name)) found.push_back(*std::move(one));
        }
    }
    return found;
}

Result<std::optional<FoundHold>> SlurmBackEnd::ask(const HoldKey& key) const {
    Result<std::vector<FoundHold>> found = ask(std::vector<HoldKey>{key});
    if (!found) return found.error();
    if (found->empty()) return std::optional<FoundHold>{};
    return std::optional<FoundHold>{std::move(found->front())};
}

Result<Allocation> SlurmBackEnd::with_shares(FoundHold found) const {
    Allocation made = found.allocation();
    if (made.strength != Strength::kPlaceholder) return made;
    const Result<std::string> text =
        commands_.run("scontrol", {"--details", "--oneliner", "show", "job", std::to_string(made.job)});
    if (!text) return text.error();
    Result<std::vector<NodeShare>> shares = parse_shares(*text, found.line.name);
    if (!shares) return shares.error();
    if (!shares->empty()) made.nodes = *std::move(shares);  // else it ended between the two questions
    return made;
}

Result<std::optional<Allocation>> SlurmBackEnd::find(const HoldKey& key) const {
    Result<std::optional<FoundHold>> found = ask(key);
    if (!found) return found.error();
    if (!*found) return std::optional<Allocation>{};
    Result<Allocation> made = with_shares(**std::move(found));
    if (!made) return made.error();
    return std::optional<Allocation>{*std::move(made)};
}

Result<std::vector<Allocation>> SlurmBackEnd::look(const std::vector<HoldKey>& keys) const {
    const Result<std::vector<FoundHold>> found = ask(keys);
    if (!found) return found.error();
    std::vector<Allocation> made;
    for (const FoundHold& one : *found) made.push_back(one.allocation());
    return made;
}

/// Else they would hold the processors once more, after the first has ended.
Result<void> SlurmBackEnd::drop_late(const FoundHold& found) const {
    if (found.late.empty()) return {};
    std::vector<std::string> numbers;
    for (const std::uint32_t job : found.late) numbers.push_back(std::to_string(job));
    const auto ended = commands_.run("scancel", std::move(numbers));
    if (!ended && ended.error().code != ErrorCode::kConflict) return ended.error();
    return {};
}

void SlurmBackEnd::drop_reservation(const std::string& operation) const {
    // One that is in use goes by itself, see PURGE_COMP.
    static_cast<void>(commands_.run("scontrol", {"delete", "ReservationName=" + job_name(operation)}));
}

Result<void> SlurmBackEnd::keep(const HoldKey& key) const {
    const auto check_alive = [&]() -> Result<std::uint32_t> {
        const Result<std::optional<FoundHold>> found = ask(key);
        if (!found) return found.error();
        if (!*found)
            return Error{
                ErrorCode::kNotFound, "Slurm knows no hold for operation " + key.operation + ": hold anew", {}};
        if ((*found)->phase >= Phase::kEnding)
            return Error{
                ErrorCode::kConflict,
                "the hold of operation " + key.operation + " is over (" + (*found)->line.state + "): hold anew",
                {}};
        if (auto dropped = drop_late(**found); !dropped) return dropped.error();
        return (*found)->line.job;
    };
    const Result<std::uint32_t> job = check_alive();
    if (!job) return job.error();
    const Result<std::string> done =
        commands_.run("scontrol", {"update", "JobId=" + std::to_string(*job), "Comment=" + std::string(kKeptComment)});
    if (!done) return done.error();
    // It may have expired between question and note.
    if (const Result<std::uint32_t> still = check_alive(); !still) return still.error();
    return {};
}

Result<bool> SlurmBackEnd::release(const HoldKey& key, ReleaseMode mode) const {
    const Result<std::optional<FoundHold>> found = ask(key);
    if (!found) return found.error();
    const Result<User> owner = find_user(key.user);
    if (!owner) return owner.error();
    // By name: also those that a lost answer left behind.
    const std::vector<std::string> which = {"--name=" + job_name(key.operation), "--user=" + owner->name};
    if (*found && mode == ReleaseMode::kAtOnce && (*found)->phase != Phase::kWaiting) {
        std::vector<std::string> words = which;
        words.insert(words.end(), {"--full", "--signal=KILL"});
        // Not an error: what ends on the way.
        if (const auto killed = commands_.run("scancel", std::move(words));
            !killed && killed.error().code != ErrorCode::kConflict)
            return killed.error();
    }
    if (const auto ended = commands_.run("scancel", which); !ended && ended.error().code != ErrorCode::kConflict)
        return ended.error();
    if (!*found || !(*found)->line.reservation.empty()) drop_reservation(key.operation);
    return *found && (*found)->phase < Phase::kEnded;
}

}  // namespace zbs::slurm
