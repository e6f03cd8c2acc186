#include "tests/simulation/jobs.hpp"

#include <algorithm>
#include <utility>

#include "services/common/messages/part.hpp"
#include "services/common/messages/steps/own_files.hpp"

namespace zbs::simulation {
namespace {

constexpr std::string_view kLauncher = "mpi-";
constexpr Duration kNoticed = std::chrono::seconds{2};  ///< until the others of a job see that one is gone

constexpr std::string_view kPort = "127.0.0.1:";

/// The launcher that a proxy is to connect to.
std::string port_of(const StepSpec& proxy) {
    const auto option = std::ranges::find(proxy.argv, "--control-port");
    return option == proxy.argv.end() ? "" : (option + 1)->substr(kPort.size());
}

constexpr const char* kResult = "r.dat";

/// Some come in two pieces.
std::string result_of(const std::string& operation) {
    return std::string(std::hash<std::string>{}(operation) % 8 == 0 ? 530'000 : 20'000, 'r');
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

    Result<void> start(const StepSpec& spec) override {
        const Error gone{ErrorCode::kUnavailable, "the service has ended", {}};
        if (!host_.step()) return gone;
        Result<void> started = jobs_.start(host_.name(), spec);
        return host_.step() ? started : gone;
    }
    StepStatus status(const std::string& operation) override {
        const Process* process = find(operation);
        if (process == nullptr) return {};
        StepStatus status{StepStatus::State::kExited, process->exit_code, process->reason};
        if (process->runs(jobs_.time_.now())) status = {StepStatus::State::kRunning, 0, {}};
        if (process->proxies > 0)
            status.proxies = process->has_met ? StepStatus::Proxies::kConnected : StepStatus::Proxies::kAwaited;
        return status;
    }
    void stop(const std::string& operation, Duration) override {
        if (host_.step() && find(operation) != nullptr) jobs_.stop(operation, "stopped");
    }
    std::string folder(const std::string& operation) override { return "/steps/" + operation; }
    Result<std::string> read(const std::string& operation, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override {
        const Process* process = find(operation);
        if (process != nullptr && file == kResult && leaves_result(process->spec)) {
            const std::string result = result_of(operation);
            return offset >= result.size() ? std::string{} : result.substr(offset, limit);
        }
        if (process == nullptr || file != own_files::kStdout) return Error{ErrorCode::kNotFound, "no file " + file, {}};
        const std::string text = launcher_output(process->proxies, process->launch);
        return offset >= text.size() ? std::string{} : text.substr(offset, limit);
    }
    std::vector<File> list(const std::string& operation, const std::string&) override {
        const Process* process = find(operation);
        if (process == nullptr || !leaves_result(process->spec)) return {};
        return {{kResult, result_of(operation).size()}};
    }
    std::vector<File> list_all(const std::string& operation) override { return list(operation, {}); }
    Result<void> remove_files(const std::string&, const std::vector<std::string>&) override { return {}; }
    Result<Removal> remove(const std::string&, std::size_t) override { return Removal{0, true}; }

  private:
    const Process* find(const std::string& operation) const {
        const auto at = jobs_.processes_.find(operation);
        return at == jobs_.processes_.end() || at->second.host != host_.name() ? nullptr : &at->second;
    }

    Jobs& jobs_;
    Host& host_;
    std::map<std::pair<std::string, std::string>, Duration> there_at_;  // files, by machine and digest
};

std::unique_ptr<Executor> Jobs::executor(Host& host) { return std::make_unique<HostExecutor>(*this, host); }

Result<void> Jobs::start(const std::string& host, const StepSpec& spec) {
    if (processes_.contains(spec.operation)) return {};
    Process process{.host = host, .spec = spec, .started = time_.now()};
    const bool is_launcher = spec.operation.starts_with(kLauncher);
    process.proxies = static_cast<int>(spec.proxies);
    process.launch = is_launcher ? std::to_string(++last_port_) : port_of(spec);
    if (rng_.uniform() < lingering)
        process.linger =
            Duration{static_cast<std::int64_t>(rng_.uniform() * static_cast<double>(longest_linger.count()))};
    ++starts_[spec.operation];
    chronicle_.note(host, "process " + spec.operation + " starts");
    live_[host][spec.operation] = &processes_.emplace(spec.operation, std::move(process)).first->second;
    const std::string launch = processes_.at(spec.operation).launch;
    if (is_launcher) launchers_[launch] = spec.operation;
    members_[launch].push_back(spec.operation);
    if (spec.walltime > Duration{0})
        time_.after(spec.walltime,
                    [this, operation = spec.operation] { stop(operation, std::string(kWalltimeReason) + " reached"); });
    meet(launch);
    return {};
}

/// Once launcher and all proxies are there, the ranks compute.
void Jobs::meet(const std::string& launch) {
    const std::vector<std::string>& members = members_[launch];
    const auto launcher = processes_.find(launchers_[launch]);
    if (launcher == processes_.end() || !launcher->second.runs(time_.now())) {
        for (const std::string& member : members) {  // nobody to connect to
            if (!member.starts_with(kLauncher))
                time_.after(kNoticed, [this, member] { end(member, 1, "the launcher is gone"); });
        }
        return;
    }
    int there = 0;
    for (const std::string& member : members)
        there += !member.starts_with(kLauncher) && processes_.at(member).runs(time_.now());
    if (there < launcher->second.proxies || launcher->second.is_stopping) return;
    launcher->second.has_met = true;
    if (rng_.uniform() < endless) return;
    const auto spread = static_cast<std::uint64_t>((longest - shortest).count()) + 1;
    time_.after(shortest + Duration{static_cast<std::int64_t>(rng_.below(spread))}, [this, launch] {
        const std::vector<std::string> all = members_[launch];
        const bool whole = std::all_of(all.begin(), all.end(), [this](const std::string& member) {
            return processes_.at(member).runs(time_.now());
        });
        if (!whole) return;  // the others are about to hear of it
        for (const std::string& member : all) end(member, 0, {});
    });
}

void Jobs::stop(const std::string& operation, const std::string& reason) {
    processes_.at(operation).is_stopping = true;
    const Duration linger = processes_.at(operation).linger;
    if (linger == Duration{0}) return end(operation, 143, reason);
    time_.after(linger, [this, operation, reason] { end(operation, 143, reason); });
}

void Jobs::end(const std::string& operation, int exit_code, const std::string& reason) {
    Process& process = processes_.at(operation);
    if (!process.runs(time_.now())) return;
    process.ended = time_.now();
    live_[process.host].erase(operation);
    process.exit_code = exit_code;
    process.reason = reason;
    chronicle_.note(process.host, "process " + operation + " ends with " + std::to_string(exit_code) + " " + reason);
    if (exit_code == 0) return;
    for (const std::string& member : members_[process.launch])
        time_.after(kNoticed, [this, member] { end(member, 1, {}); });
}

void Jobs::kill_one(const std::string& host) {
    std::vector<std::string> alive;
    for (const auto& [operation, process] : live(host)) alive.push_back(operation);
    if (!alive.empty()) end(alive[rng_.below(alive.size())], 137, "killed");
}

const std::map<std::string, const Jobs::Process*>& Jobs::live(const std::string& host) const {
    static const std::map<std::string, const Process*> none;
    const auto at = live_.find(host);
    return at == live_.end() ? none : at->second;
}

}  // namespace zbs::simulation
