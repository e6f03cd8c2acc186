#include <sched.h>
#include <sys/stat.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <filesystem>
#include <iostream>
#include <thread>

#include "algorithms/base/text.hpp"
#include "schemas/contract.hpp"
#include "services/common/adapters/beast/port_rights.hpp"
#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/files/file_depot.hpp"
#include "services/common/adapters/hardware/machine_sensor.hpp"
#include "services/common/adapters/openssl/issuing/self_renewal.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/control_group.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_control.hpp"
#include "services/common/adapters/process/start/step_starter.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/host/service_host.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/node_agent/http/node_routes.hpp"
#include "services/node_agent/http/zone_registration.hpp"
#include "services/node_agent/program/node_config_file.hpp"
#include "services/node_agent/program/node_program.hpp"

namespace zbs::node_program {
namespace {

constexpr Duration kRefusalsEvery = std::chrono::seconds{1};

/// A thread and a strand for nothing but switching slices. Where the system allows, it goes before the jobs.
class SwitchLoop {
  public:
    SwitchLoop() : thread_([this] { work(); }) {}
    ~SwitchLoop() { stop(); }
    system::Strand& strand() { return strand_; }
    void post(std::function<void()> work) { boost::asio::post(strand_, std::move(work)); }
    void stop() {
        guard_.reset();
        io_.stop();
        if (thread_.joinable()) thread_.join();
    }
    /// Does what was posted before, then ends.
    void finish() {
        boost::asio::post(strand_, [this] { io_.stop(); });
        if (thread_.joinable()) thread_.join();
    }

  private:
    void work() {
        const sched_param first{.sched_priority = 1};
        sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first);  // without the right to it: like all others
        io_.run();
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_ = boost::asio::make_work_guard(io_);
    system::Strand strand_ = boost::asio::make_strand(io_);
    std::thread thread_;
};

/// The means of an agent on its machine.
struct Machine {
    std::unique_ptr<process::FolderLock> lock;
    std::unique_ptr<process::StepExecutor> executor;
    std::unique_ptr<process::StepControl> control;
    std::unique_ptr<MachineSensor> sensor;
    std::unique_ptr<FileDepot> depot;
    std::string step_folder;  ///< with `{operation}` in it
};

/// Of this process, or of who starts its steps: they are there.
std::string find_delegated_group(const NodeSettings& settings) {
    if (settings.step_starter.empty()) return process::ControlGroup::find_delegated();
    const Result<pid_t> starter = process::find_starter(settings.step_starter);
    return starter ? process::ControlGroup::find_delegated_to(*starter) : std::string{};
}

Result<std::unique_ptr<process::StepControl>> open_control(const NodeSettings& settings, const std::string& steps,
                                                           Log& log) {
    const bool automatic = settings.control_group == "auto";
    const std::string group = automatic                          ? find_delegated_group(settings)
                              : settings.control_group == "none" ? std::string{}
                                                                 : settings.control_group;
    auto made = process::make_process_control({.folder = steps, .control_group = group});
    if (made || !automatic) return made;
    log.warn("no_control_group", {{"reason", made.error().message}});
    return process::make_process_control({.folder = steps, .control_group = {}});
}

Result<Machine> open_machine(const NodeSettings& settings, Log& log) {
    Machine machine;
    std::error_code fault;
    std::filesystem::create_directories(settings.state_folder, fault);
    chmod(settings.state_folder.c_str(), 0700);
    auto lock = process::FolderLock::take(settings.state_folder);
    if (!lock) return lock.error();
    machine.lock = *std::move(lock);
    const std::string steps = settings.state_folder + "/steps";
    std::vector<std::string> hidden = {settings.state_folder};
    if (!settings.identity.starts_with(settings.state_folder + "/")) hidden.push_back(settings.identity);
    hidden.insert(hidden.end(), settings.hidden_paths.begin(), settings.hidden_paths.end());
    auto executor = process::make_step_executor({.folder = steps,
                                                 .supervisor = settings.step_supervisor,
                                                 .starter = settings.step_starter,
                                                 .hidden_paths = std::move(hidden),
                                                 .default_account = settings.default_account,
                                                 .allow_root_jobs = !settings.run_as_accounts,
                                                 .minimum_uid = static_cast<uid_t>(settings.minimum_uid),
                                                 .require_isolation = settings.require_isolation,
                                                 .shared_memory = settings.shared_memory});
    if (!executor) return executor.error();
    machine.executor = *std::move(executor);
    log.info("jobs", {{"protection", machine.executor->protection().text}});
    const auto real = std::filesystem::canonical(steps, fault);
    machine.step_folder = (fault ? steps : real.string()) + "/{operation}/job";
    auto control = open_control(settings, steps, log);
    if (!control) return control.error();
    machine.control = *std::move(control);
    log.info("control", {{"means", machine.control->means()}});
    auto sensor = hardware::make_machine_sensor();
    if (!sensor) return sensor.error();
    machine.sensor = *std::move(sensor);
    auto depot = files::open_file_depot(settings.state_folder + "/files");
    if (!depot) return depot.error();
    machine.depot = *std::move(depot);
    return machine;
}

Result<void> check_name(const Caller& name, const NodeSettings& settings) {
    if (name.kind == CallerKind::kNode && name.name == settings.name) return {};
    return invalid("the certificate is of " + to_uri(name) + ", the configuration of node '" + settings.name +
                       "'; correct one of them",
                   settings.identity);
}

/// Says who was refused, once a second at most.
class Refusals {
  public:
    Refusals(Clock& clock, Log& log) : clock_(clock), log_(log) {}
    void record(Action action, const http::Call& call, const std::string& reason) {
        ++count_;
        if (logged_at_ && clock_.steady_now() - *logged_at_ < kRefusalsEvery) return;
        logged_at_ = clock_.steady_now();
        log_.warn("refused", {{"who", to_uri(call.caller())},
                              {"from", call.address},
                              {"what", std::string(to_string(action))},
                              {"reason", reason},
                              {"since_last", std::to_string(count_)}});
        count_ = 0;
    }

  private:
    Clock& clock_;
    Log& log_;
    std::optional<Duration> logged_at_;
    int count_ = 0;
};

std::string rounded(double value) { return number_text("%.2f", value); }

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string description_text(const NodeDescription& machine, const NodeLoad& load) {
    return "machine     " + machine.name + "\nprocessors  " + std::to_string(machine.processors) + " on " +
           std::to_string(machine.cores) + " cores in " + std::to_string(machine.sockets) + " sockets\nmemory      " +
           mebibytes(machine.memory_bytes) + ", " + mebibytes(load.memory_available_bytes) +
           " available\navailable   " + rounded(load.cpu_available) + " processors\nload        " +
           rounded(load.load_1) + " over 1 min, " + rounded(load.load_5) + " over 5, " + rounded(load.load_15) +
           " over 15\nclock       " + machine.clock_source + "\n";
}

Result<NodeSettings> load_settings(const std::string& config_path) {
    const std::string folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
    if (config_path.empty()) return invalid(kWhichNode);
    return read_node_settings(config_path, folder);
}

constexpr const char* kStarterOption = "--step-starter";

/// Whether the agent could start with them, as far as they and this host show. `starter_place`: the place that names
/// the starter of steps; empty: in the file.
Result<void> check_for_service(const NodeSettings& settings, const std::string& config_path,
                               const std::string& starter_place = {}) {
    const std::string listen = place_of(settings.values, "listen", config_path);
    if (auto good =
            beast::check_listen_address(settings.listen_address, static_cast<unsigned short>(settings.listen_port),
                                        {"'listen'", "'listen'", listen});
        !good)
        return good;
    if (auto good = process::check_supervisor(settings.step_supervisor,
                                              place_of(settings.values, "step_supervisor", config_path));
        !good)
        return good;
    const auto place = [&](const char* key) { return place_of(settings.values, key, config_path); };
    const std::string starter = starter_place.empty() ? place("step_starter") : starter_place;
    if (auto good = process::check_step_settings({.starter = settings.step_starter,
                                                  .hidden_paths = settings.hidden_paths,
                                                  .default_account = settings.default_account,
                                                  .allow_root_jobs = !settings.run_as_accounts,
                                                  .minimum_uid = static_cast<uid_t>(settings.minimum_uid)},
                                                 {place("hidden_paths"), place("default_account"), starter});
        !good)
        return good;
    if (auto good = process::check_state_folder(settings.state_folder, place("state")); !good) return good;
    if (settings.control_group.starts_with('/')) {
        if (auto good = process::ControlGroup::check(settings.control_group); !good)
            return Error{good.error().code,
                         "'control_group': " + good.error().message + "; set it to auto, none, or a group of its own",
                         place("control_group")};
    }
    const std::string identity = place("identity");
    std::error_code fault;
    if (!std::filesystem::exists(settings.identity, fault) && !fault)
        return invalid("an agent needs keys, and there are none in " + settings.identity +
                           "; make them where the organisation's CA is, with 'zbs-zone node add " + settings.name +
                           " --out FOLDER --config ZONE.toml', and bring the folder here",
                       identity);
    if (const auto good = openssl::check_identity(settings.identity, system::wall_clock()); !good)
        return Error{good.error().code, "the agent's keys: " + text_with_pointer(good.error()), identity};
    return {};
}

Result<void> ask_agent(const std::string& config_path) {
    const Result<NodeSettings> settings = read_node_settings(config_path, {});
    if (!settings) return settings.error();
    if (settings->listen_port == 0)
        return invalid("'listen' names no port, so nobody knows where this agent is; give one", config_path);
    openssl::TrustStore trust(system::wall_clock);
    const auto keys = openssl::KeyFolder::open(settings->identity, system::wall_clock);
    if (!keys) return keys.error();
    const Caller self = (*keys)->name();
    if (auto pinned = trust.pin(self.organisation, (*keys)->bundle()); !pinned) return pinned.error();
    cpprest::HttpCaller caller(
        {.self = self, .local_token = {}, .tls = std::make_shared<openssl::TlsClient>(**keys, trust)});
    const std::string url = "https://" + HostPort{settings->advertised_host, settings->listen_port}.text();
    const Result<HttpAnswer> answer = caller.call({{url, self}, "GET", "/readyz", {}});
    if (!answer) return answer.error();
    if (answer->status >= 300) return http::read_problem(answer->status, answer->body);
    return {};
}

}  // namespace

Result<Configuration> settings_in_force(const std::string& config_path) {
    Result<NodeSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    return Configuration{std::move(settings->values), std::move(settings->files)};
}

Result<void> check_settings(const std::string& config_path, std::vector<std::string>& notes) {
    Result<NodeSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    if (std::string as_owner = process::check_as_owner(settings->state_folder); !as_owner.empty()) {
        notes.push_back(std::move(as_owner));
        settings = load_settings(config_path);  // may this account read the files, too?
        if (!settings) return settings.error();
    }
    if (auto good = check_for_service(*settings, config_path); !good) return good;
    if (std::string port = beast::port_note(settings->listen_port, beast::own_port_rights()); !port.empty())
        notes.push_back(std::move(port));
    return {};
}

int fail(const Error& error) { return command_line::fail("zbs-node", error); }

int describe(const command_line::Output& output) {
    if (const Result<void> good = output.check(); !good) return fail(good.error()), 2;
    auto sensor = hardware::make_machine_sensor();
    if (!sensor) return fail(sensor.error());
    std::this_thread::sleep_for(std::chrono::milliseconds{200});  // what the load is measured over
    NodeLoad load = (*sensor)->load(Duration{0});
    load.at = system::wall_clock();
    const NodeDescription machine = (*sensor)->describe();
    output.print_document(codec::encode_machine(machine, load), description_text(machine, load));
    return 0;
}

namespace {

/// Checks and names the calls that the router gets.
http::RouterHooks make_hooks(NodeServices& services, Refusals& refusals, ServiceHost& host, Log& log) {
    return {.guard = [&services, &refusals](Action action, const http::Call& call) -> Result<void> {
                const Decision decision = check_node_call(services, action, call);
                Result<void> admitted = to_result(decision);
                if (admitted) admitted = check_turn(services, call);
                if (!admitted) refusals.record(action, call, admitted.error().message);
                return admitted;
            },
            .fresh_id = [&ids = host.ids, self = host.keys->name()] { return to_string(ids.fresh(self)); },
            .on_exception =
                [&log](const std::string& what) {
                    log.warn("handler_threw", {{"what", what}});
                }};
}

/// Until the process is to end.
int serve(const NodeSettings& settings, ServiceHost& host, Machine& machine, Log& log) {
    const Caller self = host.keys->name();
    const auto tls_client = host.make_tls_client();
    const ServiceHost::Post post = host.post();
    SwitchLoop switching;
    system::AsioClock switch_clock(switching.strand());
    SliceSwitcher switcher(switch_clock, *machine.control, log);
    InputStore inputs(*machine.depot, host.clock, log, settings.most_input_bytes);
    NodeService node({.clock = host.clock,
                      .steps = *machine.executor,
                      .files = *machine.executor,
                      .control = *machine.control,
                      .sensor = *machine.sensor,
                      .switcher = switcher,
                      .post_switch = [&switching](std::function<void()> work) { switching.post(std::move(work)); },
                      .inputs = inputs,
                      .log = log},
                     settings.name, machine.step_folder);
    cpprest::HttpCaller caller({.self = self, .local_token = {}, .tls = tls_client});
    const Caller zone{CallerKind::kZone, self.organisation, settings.zone_name};
    std::vector<ServiceAddress> schedulers;
    for (const std::string& address : settings.zone_urls) schedulers.push_back({address, zone});
    ZoneSession session(host.clock, node, make_registration_sender(caller, std::move(schedulers), post), log);

    // A client of its own, because other agents' answers are bounded more tightly, and connections to them are closed
    // after each measurement: there may be thousands.
    cpprest::HttpCaller prober(
        {.self = self, .local_token = {}, .tls = tls_client, .max_reply_bytes = limits::kMaxProbeBytes});
    LinkProbe probe({.client = prober, .clock = host.clock, .post = post, .self = {{}, self}, .done = [&prober] {
                         prober.forget_connections();
                     }});
    ProbeBudget budget;
    NodeServices services{node, inputs, probe, budget, host.clock, self, zone, node_contract()};
    Refusals refusals(host.clock, log);
    http::Router router = make_node_routes(services, make_hooks(services, refusals, host, log));
    ServiceDoor door(host,
                     {.address = settings.listen_address,
                      .port = static_cast<unsigned short>(settings.listen_port),
                      .setting = {"'listen'", "'listen'", settings.place_of("listen")}},
                     router);
    if (auto opened = door.open(); !opened) return fail(opened.error());
    const std::string url = "https://" + HostPort{settings.advertised_host, door.port()}.text();
    openssl::SelfRenewal renewal(*host.keys, *host.tls_server, host.clock, log,
                                 "put it in place of " + settings.identity + "/certificate.pem and send SIGHUP");
    post([&] {
        probe.listens_at(url);
        node.resume();
        session.start(url);
        renewal.start();
    });
    host.run({.ready = [&] { std::cout << "zbs-node " << settings.name << " listening on " << url << std::endl; },
              .drain =
                  [&] {
                      door.drain();
                      post([&] {
                          session.stop();
                          node.release();
                          host.clock.cancel_all();
                      });
                  },
              .reload =
                  [&] {
                      if (host.reload_keys_and_log(log)) caller.forget_connections();
                  }});
    caller.close();  // what still comes finds nobody
    prober.close();
    switching.finish();  // what was suspended runs again
    return 0;
}

}  // namespace

int run(const std::string& config_path, const std::string& step_starter) {
    Result<NodeSettings> settings = load_settings(config_path);
    if (!settings) return fail(settings.error());
    if (!step_starter.empty()) settings->step_starter = step_starter;
    if (auto good = check_for_service(*settings, config_path, step_starter.empty() ? "" : kStarterOption); !good)
        return fail(good.error());
    const auto log = system::make_log("zbs-node." + settings->name);

    ServiceHost host;
    const auto check = [&settings](const Caller& name) { return check_name(name, *settings); };
    if (auto opened = host.open_keys(settings->identity, check); !opened) return fail(opened.error());
    if (auto pinned = host.trust.pin(host.keys->name().organisation, host.keys->bundle()); !pinned)
        return fail(pinned.error());
    Result<Machine> machine = open_machine(*settings, *log);
    if (!machine) return fail(machine.error());
    return serve(*settings, host, *machine, *log);
}

void ready(const command_line::OperatorCommand& shared, const command_line::Output& output) {
    if (!shared.can_begin(output)) return;
    const Result<void> done = ask_agent(*shared.service);
    if (!done) return shared.not_well(done.error(), output);
    output.print_document(codec::encode_is_ready(), "");
}

}  // namespace zbs::node_program
