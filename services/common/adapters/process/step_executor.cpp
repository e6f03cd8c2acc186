#include "services/common/adapters/process/step_executor.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/input_copies.hpp"
#include "services/common/adapters/process/job_folder.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/protection.hpp"
#include "services/common/adapters/process/start/step_starter.hpp"
#include "services/common/adapters/process/start/supervisor_launch.hpp"
#include "services/common/adapters/process/start/supervisor_record.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/messages/steps/lost_machine.hpp"

namespace zbs::process {
namespace {

/// What every step of one executor has in context.
struct ExecutorContext {
    StepExecutorOptions options;
    HostAbilities host;
    std::vector<std::string> hidden, read_only;
    Protection protection;
};

/// Which account a job runs as; nothing = this service's own user.
Result<AccountName> choose_account(const ExecutorContext& context, const AccountName& asked) {
    if (!context.host.is_root) {
        if (asked.empty() || asked == context.host.user) return AccountName{};
        return Error{ErrorCode::kRejected,
                     "jobs cannot run as account '" + asked + "': this service runs as " + context.host.user +
                         ", not as root; map the user to " + context.host.user + " or run the service as root",
                     {}};
    }
    const AccountName& name = asked.empty() ? context.options.default_account : asked;
    if (name.empty()) {
        if (context.options.allow_root_jobs) return AccountName{};
        return Error{ErrorCode::kRejected,
                     "a job without an account would run as root; map its user to an account or name a default one",
                     {}};
    }
    if (auto account = find_account(name, context.options.minimum_uid); !account) return account.error();
    return name;
}

/// The namespaces that jobs are to have, in the word of zbs-step.
std::string namespaces_of(const ExecutorContext& context) {
    const bool shared = context.options.shared_memory.value_or(context.host.is_root);
    if (context.host.is_root) return shared ? "mount" : "processes";
    return shared ? "none" : "user";
}

/// Options of zbs-step that say how a job as `account` is confined.
std::vector<std::string> confinement_arguments(const ExecutorContext& context, const AccountName& account) {
    std::vector<std::string> words;
    const auto add = [&words](const char* option, std::string value) {
        words.emplace_back(option);
        words.push_back(std::move(value));
    };
    const bool confined = context.host.namespaces_fault.empty();
    add("--namespaces", confined ? namespaces_of(context) : "none");
    if (!account.empty()) {
        add("--account", account);
        add("--minimum-uid", std::to_string(context.options.minimum_uid));
        add("--max-processes", std::to_string(context.options.max_processes));
    }
    add("--max-open-files", std::to_string(context.options.max_open_files));
    if (!confined) return words;
    for (const std::string& path : context.hidden) add("--hide", path);
    for (const std::string& path : context.read_only) add("--read-only", path);
    return words;
}

/// Who a job's files belong to.
std::optional<Account> owner_of(const ExecutorContext& context, const AccountName& account) {
    if (account.empty()) return std::nullopt;
    const Result<Account> found = find_account(account, context.options.minimum_uid);
    return found ? std::optional(*found) : std::nullopt;
}

constexpr mode_t kPassable = 0711;
constexpr int kCannotRun = 127;  ///< exit code, as of a shell
constexpr int kStopped = 128 + SIGTERM;
constexpr int kKilled = 128 + SIGKILL;

class ProcessStepExecutor : public StepExecutor {
  public:
    explicit ProcessStepExecutor(ExecutorContext context) : context_(std::move(context)) {}

    const Protection& protection() const override { return context_.protection; }

    std::string folder(const StepId& step_id) override {
        ZBS_EXPECTS(is_plain_name(step_id));
        mkdir(control_folder(step_id).c_str(), 0700);
        if (context_.options.passable) chmod(control_folder(step_id).c_str(), kPassable);
        mkdir(job_folder(step_id).c_str(), 0700);
        return job_folder(step_id);
    }

    Result<void> start(const StepSpec& spec) override {
        ZBS_EXPECTS(!spec.argv.empty());
        const StepStatus before = status(spec.step_id);
        if (before.state != StepStatus::State::kUnknown) return {};  // a repeat starts nothing twice
        const Result<AccountName> account = choose_account(context_, spec.account);
        if (!account) return account.error();
        if (const std::string fault = find_fault({spec.environment, spec.files}); !fault.empty()) return invalid(fault);

        const std::string job = folder(spec.step_id);
        const std::optional<Account> owner = owner_of(context_, *account);
        if (copies_.has_to_wait(spec)) {  // whoever looks at it launches it
            StepSpec kept = spec;
            if (auto noted = keep_waiting(control_folder(spec.step_id), kept); !noted) return noted;
            copies_.begin(kept, job, owner);
            return {};
        }
        if (auto copied = copy_inputs(spec.inputs, job, {.owner = owner}); !copied) return copied;
        return launch_step(spec, *account);
    }

    StepStatus status(const StepId& step_id) override {
        ZBS_EXPECTS(is_plain_name(step_id));
        StepStatus status = state_of(step_id);
        const std::string path = control_folder(step_id);
        if (access((path + "/connected").c_str(), F_OK) == 0)
            status.proxies = StepStatus::Proxies::kConnected;
        else if (access((path + "/held").c_str(), F_OK) == 0)
            status.proxies = StepStatus::Proxies::kAwaited;
        return status;
    }

    void stop(const StepId& step_id, Duration grace) override {
        ZBS_EXPECTS(is_plain_name(step_id));
        const std::string path = control_folder(step_id);
        mkdir(path.c_str(), 0700);  // a supervisor that comes late has to find it
        write_stop(path, grace);
        copies_.cut(step_id);
        if (const auto supervisor = read_supervisor_record(path); supervisor && supervisor->is_of_this_host())
            send_signal(supervisor->process, SIGTERM);
    }

    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override {
        if (!is_plain_name(step_id) || !file_name_fault(file).empty()) return invalid("no name of a file");
        return read_job_file(job_folder(step_id), file, offset, limit);
    }

    std::vector<File> list(const StepId& step_id, const std::string& prefix) override {
        if (!is_plain_name(step_id)) return {};
        return list_job_files(job_folder(step_id), prefix);
    }

    std::vector<File> list_all(const StepId& step_id) override {
        if (!is_plain_name(step_id)) return {};
        return list_job_tree(job_folder(step_id));
    }

    Result<void> remove_files(const StepId& step_id, const std::vector<std::string>& names) override {
        if (!is_plain_name(step_id)) return invalid("no name of a step");
        return remove_job_files(job_folder(step_id), names);
    }

    Result<Removal> remove(const StepId& step_id, std::size_t at_most) override {
        if (!is_plain_name(step_id)) return invalid("no name of a step");
        if (status(step_id).state == StepStatus::State::kRunning)
            return Error{ErrorCode::kConflict, "step " + step_id + " runs", {}};
        return remove_job_tree(control_folder(step_id), at_most, "exit");  // until then it counts as ended
    }

  private:
    StepStatus state_of(const StepId& step_id) {
        if (copies_.waits(step_id)) return status_of_waiting(step_id);
        const std::string path = control_folder(step_id);
        if (const auto ended = read_exit(path)) return *ended;
        const auto supervisor = read_supervisor_record(path);
        if (!supervisor) return resume_waiting(step_id) ? status_of_waiting(step_id) : StepStatus{};
        if (!supervisor->is_of_this_host()) return give_up(step_id, supervisor->why_out_of_reach());
        if (is_alive(supervisor->process)) return {StepStatus::State::kRunning, 0, {}};
        if (const auto ended = read_exit(path)) return *ended;  // it ended between the two looks
        const std::vector<ProcessRef> left = find_marked(step_variable(step_id), 0);
        for (const ProcessRef& process : left) send_signal(process, SIGKILL);
        // It has ended once nothing of it is alive; the next check will find out.
        if (!left.empty()) return {StepStatus::State::kRunning, 0, {}};
        return end_killed(path, std::string(kLostSupervisorReason));
    }

    Result<void> launch_step(const StepSpec& spec, const AccountName& account) {
        SupervisorLaunch launch{.program = context_.options.supervisor,
                                .input = {spec.environment, spec.files},
                                .starter = context_.options.starter};
        const std::string path = control_folder(spec.step_id);
        launch.log = path + "/supervisor.log";
        launch.arguments = {
            "--operation",  spec.step_id,
            "--folder",     path,
            "--walltime-s", std::to_string(std::chrono::ceil<std::chrono::seconds>(spec.walltime).count()),
            "--grace-ms",   std::to_string(spec.grace / std::chrono::milliseconds{1})};
        if (spec.is_launcher) launch.arguments.insert(launch.arguments.end(), {"--launcher", "yes"});
        if (spec.proxies > 0)
            launch.arguments.insert(launch.arguments.end(), {"--proxies", std::to_string(spec.proxies)});
        for (const std::string& word : spec.on_stop)
            launch.arguments.insert(launch.arguments.end(), {"--on-stop", word});
        for (std::string& word : confinement_arguments(context_, account)) launch.arguments.push_back(std::move(word));
        for (const StepId& step_id : spec.shares) {
            ZBS_EXPECTS(is_plain_name(step_id));
            if (step_id == spec.step_id) continue;
            launch.arguments.insert(launch.arguments.end(), {"--share", job_folder(step_id)});
        }
        if (const std::string& armed = failpoint::armed_for_steps(); !armed.empty())
            launch.arguments.insert(launch.arguments.end(), {"--failpoints", armed});
        if (spec.folder_bytes > 0)
            launch.arguments.insert(launch.arguments.end(), {"--folder-bytes", std::to_string(spec.folder_bytes)});
        if (!spec.directory.empty()) launch.arguments.insert(launch.arguments.end(), {"--directory", spec.directory});
        launch.arguments.emplace_back("--");
        launch.arguments.insert(launch.arguments.end(), spec.argv.begin(), spec.argv.end());
        return launch_supervisor(launch);
    }

    /// Whether it is a step of a life before this one that waited for its inputs: then what is missing is copied now.
    /// Those whose folders it shares go on first.
    bool resume_waiting(const StepId& step_id) {
        if (copies_.waits(step_id)) return true;
        const std::string path = control_folder(step_id);
        const std::optional<StepSpec> spec = find_waiting(path);
        if (!spec || spec->step_id != step_id || !resuming_.insert(step_id).second) return false;
        for (const StepId& shared : spec->shares)
            if (shared != step_id && !read_exit(control_folder(shared)) &&
                !read_supervisor_record(control_folder(shared)))
                resume_waiting(shared);
        resuming_.erase(step_id);
        const Result<AccountName> account = choose_account(context_, spec->account);
        copies_.begin(*spec, folder(step_id), account ? owner_of(context_, *account) : std::nullopt);
        if (access((path + "/stop").c_str(), F_OK) == 0) copies_.cut(step_id);
        return true;
    }

    /// Of a step whose inputs were being copied: it is launched once they are there.
    StepStatus status_of_waiting(const StepId& step_id) {
        const std::optional<InputCopies::Done> done = copies_.take(step_id);
        if (!done) return {StepStatus::State::kRunning, 0, {}};
        const std::string path = control_folder(step_id);
        const bool is_stopped = access((path + "/stop").c_str(), F_OK) == 0;
        const Result<AccountName> account = choose_account(context_, done->spec.account);
        Result<void> begun = account ? done->copied : Result<void>(account.error());
        if (begun && !is_stopped) begun = launch_step(done->spec, *account);
        // A supervisor that the service before this one began may have come late, and refuses a second one.
        const bool has_record = read_supervisor_record(path).has_value();
        if (!read_exit(path) && !has_record && is_supervised(path)) return {StepStatus::State::kRunning, 0, {}};
        if (is_stopped && !read_exit(path) && !has_record)
            write_file(path + "/exit", std::to_string(kStopped) + " stopped before it began\n");
        else if (!begun && !read_exit(path) && !has_record)
            write_file(path + "/exit",
                       std::to_string(kCannotRun) + " " + std::string(kStepNotStarted) + begun.error().message + "\n");
        forget_waiting(path);
        if (const auto ended = read_exit(path)) return *ended;
        if (begun || has_record) return {StepStatus::State::kRunning, 0, {}};
        return {StepStatus::State::kExited, kCannotRun, std::string(kStepNotStarted) + begun.error().message, true};
    }

    static void write_stop(const std::string& path, Duration grace) {
        write_file(path + "/stop", std::to_string(grace / std::chrono::milliseconds{1}) + "\n");
    }

    static StepStatus end_killed(const std::string& path, const std::string& reason) {
        write_file(path + "/exit", std::to_string(kKilled) + " " + reason + "\n");
        return {StepStatus::State::kExited, kKilled, reason};
    }

    /// A step of another host, of which nothing can be seen here; its supervisor looks for the stop now and then. Of
    /// the two the first says how it ended, so this must not touch the draft of the other.
    StepStatus give_up(const StepId& step_id, const std::string& reason) const {
        const std::string path = control_folder(step_id);
        write_stop(path, Duration{0});  // first: once it counts as ended nobody asks for a stop any more
        const std::string draft = path + "/given_up";
        if (write_file(draft, std::to_string(kKilled) + " " + reason + "\n")) {
            if (link(draft.c_str(), (path + "/exit").c_str()) != 0 && errno != EEXIST)
                rename(draft.c_str(), (path + "/exit").c_str());  // a file system without links
            unlink(draft.c_str());
        }
        return read_exit(path).value_or(StepStatus{StepStatus::State::kExited, kKilled, reason});
    }

    std::string control_folder(const StepId& step_id) const { return context_.options.folder + "/" + step_id; }
    std::string job_folder(const StepId& step_id) const { return control_folder(step_id) + "/job"; }

    static std::optional<StepStatus> read_exit(const std::string& path) {
        const auto text = read_file(path + "/exit");
        if (!text || text->empty()) return std::nullopt;
        StepStatus status{StepStatus::State::kExited, 0, {}};
        std::size_t space = text->find(' ');
        status.exit_code = std::atoi(text->c_str());
        if (space != std::string::npos) status.reason = text->substr(space + 1, text->find('\n') - space - 1);
        status.is_site_fault = status.reason.starts_with(kStepNotStarted);
        return status;
    }

    ExecutorContext context_;
    InputCopies copies_;
    std::set<StepId> resuming_;  ///< steps whose folders others share are asked for first
};

/// Why jobs cannot have `namespaces` on this host; empty where they can. Tried where steps run. Errors: the starter
/// cannot say it.
Result<std::string> try_namespaces(const ExecutorContext& context, const std::string& namespaces) {
    SupervisorLaunch launch{.program = context.options.supervisor,
                            .log = context.options.folder + "/probe.log",
                            .starter = context.options.starter};
    launch.arguments = {"--probe", "yes", "--namespaces", namespaces};
    for (const std::string& path : context.hidden) launch.arguments.insert(launch.arguments.end(), {"--hide", path});
    for (const std::string& path : context.read_only)
        launch.arguments.insert(launch.arguments.end(), {"--read-only", path});
    Result<std::string> answer = ask_supervisor(launch);
    if (answer) return *answer == "ok" ? std::string{} : *answer;
    if (!context.options.starter.empty()) return answer.error();
    return answer.error().message;
}

Error unavailable(const std::string& what) { return {ErrorCode::kUnavailable, what, {}}; }

}  // namespace

Result<void> check_supervisor(const std::string& path, const std::string& place) {
    struct stat info {};
    const bool is_folder = stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
    if (!is_folder && access(path.c_str(), X_OK) == 0) return {};
    return Error{ErrorCode::kUnavailable,
                 "the program " + path + " cannot be run: " + std::strerror(is_folder ? EISDIR : errno) +
                     "; install it (Debian: zbs-node), or set 'step_supervisor' to where it is",
                 place};
}

Result<void> check_step_settings(const StepExecutorOptions& options, const StepSettingPlaces& places) {
    const auto at = [](const std::string& setting, const Error& fault, const std::string& place) {
        return Error{fault.code, "'" + setting + "': " + fault.message, place};
    };
    if (auto good = check_hidden_folders(options.hidden_paths); !good)
        return at("hidden_paths", good.error(), places.hidden_paths);
    ExecutorContext context{.options = options};
    context.host.is_root = geteuid() == 0;
    context.host.user = user_name(geteuid());
    if (const AccountName& name = options.default_account; !name.empty()) {
        if (const auto account = choose_account(context, name); !account)
            return at("default_account", account.error(), places.default_account);
    }
    if (!options.starter.empty()) {
        if (const auto starter = find_starter(options.starter); !starter)
            return Error{starter.error().code, starter.error().message, places.step_starter};
    }
    return {};
}

Result<std::unique_ptr<StepExecutor>> make_step_executor(StepExecutorOptions options) {
    if (mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST)
        return unavailable("cannot make the folder " + options.folder + ": " + std::strerror(errno));
    if (chmod(options.folder.c_str(), options.passable ? kPassable : 0700) != 0)
        return unavailable("cannot change the mode of " + options.folder + ": " + std::strerror(errno));
    if (auto good = check_supervisor(options.supervisor); !good) return good.error();
    if (!sees_closed_processes())
        return unavailable(
            "this host hides processes from user " + user_name(geteuid()) +
            " (/proc is mounted with hidepid), so what runs would look as if it had ended: put the user into the group "
            "that /proc is mounted with (gid=), or, under systemd, set ProtectProc=default");
    ExecutorContext context{.options = std::move(options)};
    char real[PATH_MAX];  // jobs are shown the folder under the name that has no links
    if (realpath(context.options.folder.c_str(), real) != nullptr) context.options.folder = real;
    context.host.is_root = geteuid() == 0;
    context.host.user = user_name(geteuid());
    if (!context.options.default_account.empty()) {
        if (const auto account = choose_account(context, context.options.default_account); !account)
            return account.error();
    }
    Result<std::vector<std::string>> hidden = find_hidden_folders(context.options);
    if (!hidden) return hidden.error();
    Result<std::vector<std::string>> read_only = find_read_only_folders(context.options);
    if (!read_only) return read_only.error();
    context.hidden = *std::move(hidden);
    context.read_only = *std::move(read_only);

    signal(SIGCHLD, SIG_IGN);  // supervisors are watched by number and start time; nobody waits for them
    const std::string namespaces = namespaces_of(context);
    if (!context.options.starter.empty()) {
        if (auto starter = find_starter(context.options.starter); !starter) return starter.error();
    }
    Result<std::string> fault = namespaces == "none" ? Result<std::string>("memory is shared between steps")
                                                     : try_namespaces(context, namespaces);
    if (!fault) return fault.error();
    context.host.namespaces_fault = *std::move(fault);
    context.protection = describe_protection(context.options, context.host);
    if (context.options.require_isolation && context.protection.isolation == Isolation::kNone)
        return unavailable("jobs are not kept from this service: " + context.protection.text);
    return std::unique_ptr<StepExecutor>(new ProcessStepExecutor(std::move(context)));
}

}  // namespace zbs::process
