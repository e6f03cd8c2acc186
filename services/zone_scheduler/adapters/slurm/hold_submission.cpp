// How a hold comes to be: checked, reserved, submitted, looked for where the answer was lost.
#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <thread>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "services/zone_scheduler/adapters/slurm/host_list.hpp"
#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"
#include "services/zone_scheduler/adapters/slurm/slurm_back_end.hpp"
#include "services/zone_scheduler/adapters/slurm/users.hpp"

namespace zbs::slurm {
namespace {

constexpr std::chrono::milliseconds kSettleEvery{100};
constexpr std::size_t kMaxWord = 128 * 1024 - 256;  ///< one argument of a program, with its option
constexpr std::int64_t kMarginMinutes = 2;  ///< a job begins some seconds after its reservation, and has to end in it

/// Slurm's reasons for a job that waits, after which it never runs as long as nobody changes the cluster or the user.
constexpr std::array kNever = {"AccountNotAllowed",  "BadConstraints",  "InvalidAccount",
                               "InvalidQOS",         "PartitionConfig", "PartitionNodeLimit",
                               "PartitionTimeLimit", "QOSNotAllowed",   "ReservationDeleted"};

std::int64_t whole_minutes(Duration d) { return std::chrono::ceil<std::chrono::minutes>(d).count(); }

/// A word that goes into an option of its own.
bool is_word(const std::string& text) {
    return text.size() <= 64 && (text.empty() || text.front() != '-') &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127 && c != ',' && c != '='; });
}

std::int64_t count_of(const HoldSpec& spec) {
    if (spec.shares.empty()) return spec.processors;
    return std::accumulate(spec.shares.begin(), spec.shares.end(), std::int64_t{0},
                           [](std::int64_t sum, const NodeShare& share) { return sum + share.processors; });
}
std::string nodes_of(const HoldSpec& spec) {
    std::vector<std::string> names;
    for (const NodeShare& share : spec.shares) names.push_back(share.node);
    return write_host_list(names);
}
/// A node as often as it has processors of the hold: the way to ask for just these (`--distribution=arbitrary`).
std::string processors_of(const HoldSpec& spec) {
    std::string text;
    for (const NodeShare& share : spec.shares)
        for (int i = 0; i < share.processors && text.size() <= kMaxWord; ++i)
            text += (text.empty() ? "" : ",") + share.node;
    return text;
}

Result<void> check(const HoldSpec& spec) {
    if (!is_operation(spec.operation))
        return invalid("an operation is 1 to 64 letters, digits and dashes", "/operation");
    if (!is_word(spec.partition)) return invalid("not a name of a partition", "/partition");
    if (!is_word(spec.account)) return invalid("not a name of an account", "/account");
    if (!is_word(spec.user)) return invalid("not a name of a user", "/user");
    for (const NodeShare& share : spec.shares)
        if (!is_node_name(share.node) || share.processors < 1 || share.processors > limits::kMaxNodeProcessors)
            return invalid("a name that is none of a node, or not 1 to 65536 processors of it", "/shares");
    if (count_of(spec) < 1 || count_of(spec) > limits::kMaxRanks)
        return invalid("1 to 1000000 processors", "/processors");
    if (spec.shares.empty() && (spec.nodes < 0 || spec.nodes > spec.processors))
        return invalid("no more nodes than processors", "/nodes");
    if (processors_of(spec).size() > kMaxWord)
        return Error{ErrorCode::kTooLarge,
                     "more processors on named nodes than one call of sbatch takes: name no nodes, or fewer",
                     "/shares"};
    if (spec.walltime <= Duration{0} || spec.walltime > std::chrono::seconds{limits::kMaxWalltimeSeconds})
        return invalid("a walltime of more than 0 s, at most 366 days", "/walltime");
    if (spec.expiry < Duration{0} || spec.expiry > spec.walltime)
        return invalid("an expiry within the walltime", "/expiry");
    if (spec.start && *spec.start < Time{}) return invalid("a start before 1970", "/start");
    return {};
}

std::string unix_time(Time time) {
    return "uts" + std::to_string(std::chrono::ceil<std::chrono::seconds>(time.time_since_epoch()).count());
}

}  // namespace

/// Whether there is a reservation for the hold now. Not an error: this user may not make any.
Result<bool> SlurmBackEnd::reserve(const HoldSpec& spec, const std::string& owner) const {
    std::vector<std::string> words = {"create",
                                      "reservation",
                                      "ReservationName=" + job_name(spec.operation),
                                      "StartTime=" + unix_time(*spec.start),
                                      "Duration=" + std::to_string(whole_minutes(spec.walltime) + kMarginMinutes),
                                      "Users=" + owner,
                                      "Flags=PURGE_COMP=00:01:00"};  // goes by itself after its job
    if (!spec.partition.empty()) words.push_back("PartitionName=" + spec.partition);
    if (!spec.shares.empty())
        words.push_back("Nodes=" + nodes_of(spec));
    else if (spec.nodes > 0)
        words.push_back("NodeCnt=" + std::to_string(spec.nodes));
    else
        words.push_back("CoreCnt=" + std::to_string(spec.processors));
    const Result<std::string> made = commands_.run("scontrol", std::move(words));
    if (made || made.error().code == ErrorCode::kConflict) return true;  // made before, its answer was lost
    if (made.error().code == ErrorCode::kDenied) return false;
    if (made.error().code != ErrorCode::kTimeout) return made.error();
    const Result<std::string> answer = commands_.run("scontrol", {"show", "reservation", job_name(spec.operation)});
    if (answer) return true;
    return made.error();
}

Result<void> SlurmBackEnd::submit(const HoldSpec& spec, bool reserved) const {
    std::vector<std::string> words = {
        "--parsable",
        "--job-name=" + job_name(spec.operation),
        "--comment=" + std::string(spec.expiry > Duration{0} ? kHeldComment : kKeptComment),
        "--dependency=singleton",  // one that comes late never runs beside another
        "--no-requeue",
        "--export=NIL",
        "--chdir=/",
        "--input=/dev/null",
        "--output=/dev/null",
        "--error=/dev/null",
        "--ntasks=" + std::to_string(count_of(spec)),
        "--time=" + std::to_string(whole_minutes(spec.walltime))};
    if (spec.shares.empty() && spec.nodes > 0) words.push_back("--nodes=" + std::to_string(spec.nodes));
    if (!spec.shares.empty())
        words.insert(words.end(), {"--distribution=arbitrary", "--nodelist=" + processors_of(spec)});
    if (!spec.partition.empty()) words.push_back("--partition=" + spec.partition);
    if (!spec.account.empty()) words.push_back("--account=" + spec.account);
    if (reserved) words.push_back("--reservation=" + job_name(spec.operation));
    if (spec.start && !reserved) words.push_back("--begin=" + unix_time(*spec.start));
    if (const Result<User> owner = find_user(spec.user); !owner) {
        return owner.error();
    } else if (owner->uid != geteuid()) {
        words.push_back("--uid=" + std::to_string(owner->uid));
        words.push_back("--gid=" + std::to_string(owner->gid));
    }
    words.insert(words.end(), settings_.submit_options.begin(), settings_.submit_options.end());
    const std::string& path = commands_.path_of("sbatch");
    const Result<std::string> answer =
        commands_.run("sbatch", std::move(words), placeholder_script(spec, path.substr(0, path.rfind('/'))));
    if (!answer) return answer.error();
    if (Result<std::uint32_t> number = parse_submitted(*answer); !number) return number.error();
    return {};
}

/// What became of a submission: waits for its start for as long as wished; takes back what never starts.
Result<Allocation> SlurmBackEnd::settle(const HoldSpec& spec) const {
    const HoldKey key{spec.operation, spec.user};
    const auto deadline = std::chrono::steady_clock::now() + spec.wait;
    while (true) {
        Result<std::optional<FoundHold>> found = ask(key);
        if (!found) return found.error();
        if (!*found)
            return Error{ErrorCode::kUnavailable,
                         "Slurm took the job of operation " + spec.operation + ", but does not show it",
                         {}};
        const JobLine& line = (*found)->line;
        if ((*found)->phase == Phase::kWaiting &&
            std::find(kNever.begin(), kNever.end(), line.reason) != kNever.end()) {
            const std::string reason = line.reason, partition = line.partition;
            if (const Result<bool> gone = release(key, ReleaseMode::kAtOnce); !gone) return gone.error();
            return Error{ErrorCode::kRejected,
                         "Slurm would never run this in partition " + partition + " (" + reason +
                             "): ask for less, or see `scontrol show partition " + partition + "`",
                         {}};
        }
        if ((*found)->phase != Phase::kWaiting || std::chrono::steady_clock::now() >= deadline) {
            if (auto dropped = drop_late(**found); !dropped) return dropped.error();
            return with_shares(**std::move(found));
        }
        std::this_thread::sleep_for(kSettleEvery);
    }
}

Result<Allocation> SlurmBackEnd::hold(const HoldSpec& spec) const {
    if (auto good = check(spec); !good) return good.error();
    const Result<User> owner = find_user(spec.user);
    if (!owner) return owner.error();
    const HoldKey key{spec.operation, spec.user};
    const Result<std::optional<FoundHold>> before = ask(key);
    if (!before) return before.error();
    if (*before && (*before)->phase >= Phase::kEnding) {
        return Error{ErrorCode::kConflict,
                     "operation " + spec.operation + " was held by job " + std::to_string((*before)->line.job) +
                         ", which is over (" + (*before)->line.state + "): hold under a new operation",
                     {}};
    }
    if (*before) return settle(spec);

    bool reserved = false;
    if (spec.start) {
        const Result<bool> made = reserve(spec, owner->name);
        if (!made) return made.error();
        reserved = *made;
    }
    const Result<void> submitted = submit(spec, reserved);
    if (submitted) return settle(spec);
    // The answer may be lost, but not the job.
    const bool is_sure =
        submitted.error().code != ErrorCode::kTimeout && submitted.error().code != ErrorCode::kUnavailable;
    if (!is_sure) {
        const Result<std::optional<FoundHold>> after = ask(key);
        if (after && *after) return settle(spec);
        if (!after) return submitted.error();
    }
    if (reserved) drop_reservation(spec.operation);
    return submitted.error();
}

}  // namespace zbs::slurm
