#include "tests/simulation/jobs.hpp"

#include <algorithm>
#include <utility>

#include "services/common/messages/part.hpp"
#include "services/common/messages/steps/own_files.hpp"

namespace zbs::simulation {
namespace {

constexpr std::string_view kLauncher = "mpi-";
constexpr Duration kNoticed = std::chrono::seconds{2};  ///< until the others of a job see that one is gone

/// Until a connection to a lost host counts as broken: `step::kSilence`, of zbs-step.
constexpr Duration kSilence = std::chrono::seconds{35};
/// Of a launcher that lost a connection in this way.
constexpr const char* kLostConnection =
    "[mpiexec@host] HYDU_sock_read (utils/sock/sock.c:210): read error (Connection timed out)\n"
    "[mpiexec@host] control_cb (pm/pmiserv/pmiserv_cb.c:205): unable to read command from proxy\n";

constexpr std::string_view kPort = "127.0.0.1:";

/// The launcher that a proxy is to connect to.
std::string port_of(const StepSpec& proxy) {
    const auto option = std::ranges::find(proxy.argv, "--control-port");
    return option == proxy.argv.end() ? "" : (option + 1)->substr(kPort.size());
}

constexpr const char* kResult = "r.dat";

/// Some come in two pieces.
std::string result_of(const StepId& step_id) {
    return std::string(std::hash<std::string>{}(step_id) % 8 == 0 ? 530'000 : 20'000, 'r');
}

/// The first step of a part that got files, which it must have got.
bool leaves_result(const StepSpec& spec) { return !spec.inputs.empty(); }

std::string launcher_output(int proxies, const std::string& port) {
    std::string text;
    for (int i = 0; i < proxies; ++i)
        text += "HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port " + std::string(kPort) + port +
                " --launcher manual --pgid 0 --proxy-id " + std::to_string(i) + " \n";
    return text + "HYDRA_LAUNCH_END\n";
}

}  // namespace

class Jobs::HostExecutor : public Executor {
  public:
    HostExecutor(Jobs& jobs, Host& host) : jobs_(jobs), host_(host) { jobs_.needs_[host.name()].clear(); }

    /// Takes its time, and does not always come about. What is under way is forgotten with the service.
    Result<bool> stage_inputs(const Need& need) override {
        if (!host_.step()) return false;
        std::set<std::string>& needs = jobs_.needs_[host_.name()];
        needs.insert(need.who);
        bool all = true;
        for (const StepSpec::Input& input : need.inputs) {
            const auto [at, is_new] = there_at_.try_emplace({need.machine, input.digest});
            if (is_new) {
                if (jobs_.rng_.uniform() < jobs_.unbrought) {
                    there_at_.erase(at);
                    return Error{
                        ErrorCode::kRejected, "file " + input.name + ": the disk of " + need.machine + " is full", {}};
                }
                const auto longest = static_cast<double>(jobs_.longest_way.count());
                at->second = jobs_.time_.now() + Duration{static_cast<std::int64_t>(jobs_.rng_.uniform() * longest)};
                ++jobs_.brought_;
            }
            all = all && at->second <= jobs_.time_.now();
        }
        return all;
    }
    void end_staging(const std::string& who) override {
        if (host_.step()) jobs_.needs_[host_.name()].erase(who);
    }
    void place(const StepId&, const MachineName&) override {}
    void request_results(const StepId&, Wanted) override {}
    void share_output(const std::vector<StepId>&) override {}

    Result<void> start(const StepSpec& spec) override {
        const Error gone{ErrorCode::kUnavailable, "the service has ended", {}};
        if (!host_.step()) return gone;
        Result<void> started = jobs_.start(host_.name(), spec);
        return host_.step() ? started : gone;
    }
    StepStatus status(const StepId& step_id) override {
        const Process* process = find(step_id);
        if (process == nullptr) return {};
        StepStatus status{StepStatus::State::kExited, process->exit_code, process->reason};
        if (process->runs(jobs_.time_.now())) status = {StepStatus::State::kRunning, 0, {}};
        if (process->proxies > 0)
            status.proxies = process->has_met ? StepStatus::Proxies::kConnected : StepStatus::Proxies::kAwaited;
        return status;
    }
    void stop(const StepId& step_id, Duration) override {
        if (host_.step() && find(step_id) != nullptr) jobs_.stop(step_id, "stopped");
    }
    std::string folder(const StepId& step_id) override { return "/steps/" + step_id; }
    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override {
        const Process* process = find(step_id);
        if (process != nullptr && file == kResult && leaves_result(process->spec)) {
            const std::string result = result_of(step_id);
            return offset >= result.size() ? std::string{} : result.substr(offset, limit);
        }
        if (process != nullptr && file == own_files::kStderr)
            return offset >= process->errors.size() ? std::string{} : process->errors.substr(offset, limit);
        if (process == nullptr || file != own_files::kStdout) return Error{ErrorCode::kNotFound, "no file " + file, {}};
        const std::string text = launcher_output(process->proxies, process->launch);
        return offset >= text.size() ? std::string{} : text.substr(offset, limit);
    }
    std::vector<File> list(const StepId& step_id, const std::string&) override {
        const Process* process = find(step_id);
        if (process == nullptr || !leaves_result(process->spec)) return {};
        return {{kResult, result_of(step_id).size()}};
    }
    std::vector<File> list_all(const StepId& step_id) override { return list(step_id, {}); }
    Result<void> remove_files(const StepId&, const std::vector<std::string>&) override { return {}; }
    Result<Removal> remove(const StepId&, std::size_t) override { return Removal{0, true}; }

  private:
    const Process* find(const StepId& step_id) const {
        const auto at = jobs_.processes_.find(step_id);
        return at == jobs_.processes_.end() || at->second.host != host_.name() ? nullptr : &at->second;
    }

    Jobs& jobs_;
    Host& host_;
    std::map<std::pair<std::string, std::string>, Duration> there_at_;  // files, by machine and digest
};

std::unique_ptr<Executor> Jobs::executor(Host& host) { return std::make_unique<HostExecutor>(*this, host); }

Result<void> Jobs::start(const std::string& host, const StepSpec& spec) {
    if (processes_.contains(spec.step_id)) return {};
    Process process{.host = host, .spec = spec, .started = time_.now()};
    const bool is_launcher = spec.step_id.str().starts_with(kLauncher);
    process.proxies = static_cast<int>(spec.proxies);
    process.launch = is_launcher ? std::to_string(++last_port_) : port_of(spec);
    if (rng_.uniform() < lingering)
        process.linger =
            Duration{static_cast<std::int64_t>(rng_.uniform() * static_cast<double>(longest_linger.count()))};
    ++starts_[spec.step_id];
    chronicle_.note(host, "process " + spec.step_id + " starts");
    live_[host][spec.step_id] = &processes_.emplace(spec.step_id, std::move(process)).first->second;
    const std::string launch = processes_.at(spec.step_id).launch;
    if (is_launcher) launchers_[launch] = spec.step_id;
    members_[launch].push_back(spec.step_id);
    if (spec.walltime > Duration{0})
        time_.after(spec.walltime,
                    [this, step_id = spec.step_id] { stop(step_id, std::string(kWalltimeReason) + " reached"); });
    meet(launch);
    return {};
}

/// Once launcher and all proxies are there, the ranks compute.
void Jobs::meet(const std::string& launch) {
    const std::vector<StepId>& members = members_[launch];
    const auto launcher = processes_.find(launchers_[launch]);
    if (launcher == processes_.end() || !launcher->second.runs(time_.now())) {
        for (const StepId& member : members) {  // nobody to connect to
            if (!member.str().starts_with(kLauncher))
                time_.after(kNoticed, [this, member] { end(member, 1, "the launcher is gone"); });
        }
        return;
    }
    int there = 0;
    for (const StepId& member : members)
        there += !member.str().starts_with(kLauncher) && processes_.at(member).runs(time_.now());
    if (there < launcher->second.proxies || launcher->second.is_stopping) return;
    launcher->second.has_met = true;
    if (rng_.uniform() < endless) return;
    const auto spread = static_cast<std::uint64_t>((longest - shortest).count()) + 1;
    time_.after(shortest + Duration{static_cast<std::int64_t>(rng_.below(spread))}, [this, launch] {
        const std::vector<StepId> all = members_[launch];
        const bool whole = std::all_of(
            all.begin(), all.end(), [this](const StepId& member) { return processes_.at(member).runs(time_.now()); });
        if (!whole) return;  // the others are about to hear of it
        for (const StepId& member : all) end(member, 0, {});
    });
}

void Jobs::stop(const StepId& step_id, const std::string& reason) {
    processes_.at(step_id).is_stopping = true;
    const Duration linger = processes_.at(step_id).linger;
    if (linger == Duration{0}) return end(step_id, 143, reason);
    time_.after(linger, [this, step_id, reason] { end(step_id, 143, reason); });
}

void Jobs::end(const StepId& step_id, int exit_code, const std::string& reason) {
    Process& process = processes_.at(step_id);
    if (!process.runs(time_.now())) return;
    process.ended = time_.now();
    live_[process.host].erase(step_id);
    process.exit_code = exit_code;
    process.reason = reason;
    chronicle_.note(process.host, "process " + step_id + " ends with " + std::to_string(exit_code) + " " + reason);
    if (exit_code == 0) return;
    for (const StepId& member : members_[process.launch]) time_.after(kNoticed, [this, member] { end(member, 1, {}); });
}

void Jobs::kill_one(const std::string& host) {
    std::vector<StepId> alive;
    for (const auto& [step_id, process] : live(host)) alive.push_back(step_id);
    if (!alive.empty()) end(alive[rng_.below(alive.size())], 137, "killed");
}

void Jobs::lose(const std::string& host) {
    const std::map<StepId, const Process*> lost = live(host);
    needs_[host].clear();
    live_.erase(host);
    for (const auto& [step_id, process] : lost) {
        Process& gone = processes_.at(step_id);
        gone.ended = time_.now();
        gone.exit_code = 137;
        for (const StepId& member : members_[gone.launch]) {
            if (processes_.at(member).host == host) continue;
            time_.after(kSilence, [this, member] {
                Process& other = processes_.at(member);
                const bool is_launcher = member.str().starts_with(kLauncher);
                if (is_launcher && other.runs(time_.now())) other.errors = kLostConnection;
                end(member, is_launcher ? 255 : 1, {});
            });
        }
    }
}

const std::map<StepId, const Jobs::Process*>& Jobs::live(const std::string& host) const {
    static const std::map<StepId, const Process*> none;
    const auto at = live_.find(host);
    return at == live_.end() ? none : at->second;
}

}  // namespace zbs::simulation
