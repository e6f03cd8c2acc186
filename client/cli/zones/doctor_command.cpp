// zbs doctor: what may keep jobs from running, and what to do about it. See doctor_checks for what is thought of it.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "client/api/zone_view.hpp"
#include "client/cli/context.hpp"
#include "client/cli/submission/probe_program.hpp"
#include "client/cli/zones/doctor_checks.hpp"
#include "services/common/adapters/command_line/check_codec.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/system/wall_clock.hpp"

namespace zbs::cli {
namespace {

constexpr std::chrono::seconds kPatience{5};

Check failed(const std::string& name, const Error& error, const std::string& remedy) {
    return {name, CheckResult::kFail, text_with_pointer(error), remedy};
}

/// A client of the home zone, with what credentials say; none where there are none to use.
std::unique_ptr<client::ZoneClient> check_credentials(const Context& context, std::vector<Check>& checks) {
    if (const Result<void> good = context.check_url(); !good) {
        checks.push_back(failed("home zone", good.error(), "write the address in " + context.url_place + " so"));
        return nullptr;
    }
    if (!context.identity.empty()) {
        const auto self = parse_identity(context.identity);
        if (!self || context.url.empty()) {
            checks.push_back({"credentials", CheckResult::kFail, "without TLS both a name and an address are needed",
                              "set ZBS_URL to http://HOST:PORT and ZBS_IDENTITY to spiffe://ORGANISATION/user/NAME"});
            return nullptr;
        }
        checks.push_back({"credentials", CheckResult::kOk, context.identity + ", without TLS", {}});
        return std::make_unique<client::ZoneClient>(context.url, *self, context.token, kPatience);
    }
    auto own = context.proxy.empty() ? client::Credentials::open(context.credentials)
                                     : client::Credentials::open_with_proxy(context.credentials, context.proxy);
    if (!own) {
        checks.push_back(check_unusable(own.error()));
        return nullptr;
    }
    checks.push_back({"credentials", CheckResult::kOk, to_uri(own->name()) + " in " + context.credentials, {}});
    checks.push_back(
        check_lifetime(own->not_after() ? std::optional(*own->not_after() - system::wall_clock()) : std::nullopt));
    return std::make_unique<client::ZoneClient>(*std::move(own), context.url, kPatience);
}

void check_home(client::ZoneClient& zone, std::vector<Check>& checks) {
    const Result<codec::Json> self = zone.get("/v1/whoami");
    if (!self) {
        const bool reached = self.error().code != ErrorCode::kUnavailable && self.error().code != ErrorCode::kTimeout;
        checks.push_back(failed("home zone", self.error(),
                                reached
                                    ? "ask its operator whether you are its user, or run 'zbs login'"
                                    : "check the address " + zone.url() + ", the network and whether the zone runs"));
        return;
    }
    const std::string zone_name = client::decode_self_view(*self).zone;
    const std::string place = (zone_name.empty() ? zone.url() : zone_name) + " at " + zone.url();
    const Result<std::string> why_not = zone.why_not_ready();
    if (!why_not)
        checks.push_back(failed("home zone", why_not.error(), "try again; else ask its operator"));
    else if (!why_not->empty())  // it answered, so it can only drain
        checks.push_back({"home zone", CheckResult::kWarn, place + " is draining: " + *why_not,
                          "new applications wait until its operator ends that with 'zbs-zone undrain'"});
    else
        checks.push_back({"home zone", CheckResult::kOk, place, {}});
    const Time asked = system::wall_clock();
    if (const Result<Time> theirs = zone.clock()) {
        const Time answered = system::wall_clock();
        const Duration wait = std::max(answered - asked, Duration{0});
        // Their second had begun when they answered, and the answer was under way for some of the wait.
        checks.push_back(check_home_clock(answered - *theirs, wait + std::chrono::seconds{1}));
    }
    if (const Result<codec::Json> contract = zone.get("/openapi.json"); !contract) {
        checks.push_back(failed("version", contract.error(), "ask the operator of the zone"));
    } else {
        checks.push_back(check_version(client::decode_contract_version(*contract)));
    }
    if (const Result<codec::Json> peers = zone.get("/v1/peerings"); !peers) {
        checks.push_back(failed("peers", peers.error(), "ask the operator of the zone"));
    } else {
        for (Check& check : check_peers(*peers)) checks.push_back(std::move(check));
    }
}

void check_mpi(std::vector<Check>& checks) {
    std::size_t found = 0;
    for (const char* name : {"mpiexec", "mpiexec.mpich", "mpiexec.openmpi"}) {
        const std::string path = path_of(name);
        if (path.empty()) continue;
        ++found;
        const Result<ProgramOutput> said = run_briefly({path, "--version"}, kPatience);
        const std::string check = std::string("MPI ") + name;
        if (said && said->exit_code == 0)
            checks.push_back({check, CheckResult::kOk, mpi_version(said->text) + " at " + path, {}});
        else
            checks.push_back(
                {check, CheckResult::kWarn,
                 path + (said ? " ends with " + std::to_string(said->exit_code) : " " + said.error().message),
                 "run '" + path + " --version' and repair the installation"});
    }
    if (found == 0)
        checks.push_back(
            {"MPI", CheckResult::kWarn,
             "no mpiexec on PATH; zones launch jobs with theirs, but programs cannot be built or tried here",
             "install MPICH (Debian: apt install mpich), or load its module"});
}

void check_profiler(std::vector<Check>& checks) {
    std::error_code fault;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", fault).parent_path();
    for (const std::filesystem::path& file :
         {folder / "../lib/libzbs-profile.so", std::filesystem::path("/usr/lib/zbs/libzbs-profile.so")}) {
        if (!std::filesystem::exists(file, fault)) continue;
        checks.push_back({"profiler", CheckResult::kOk, file.lexically_normal().string(), {}});
        return;
    }
    checks.push_back(
        {"profiler", CheckResult::kWarn,
         "libzbs-profile.so is not beside this program; zones use theirs, runs outside of them are not profiled",
         "build with ZBS_BUILD_PROFILER=ON, or install the package"});
}

void check_slurm(std::vector<Check>& checks) {
    const std::string info = path_of("sinfo");
    if (info.empty()) {
        checks.push_back({"Slurm", CheckResult::kOk, "none here; only a zone in front of Slurm needs it", {}});
        return;
    }
    std::string missing;
    for (const char* name : {"sbatch", "scancel", "scontrol", "squeue", "srun"})
        if (path_of(name).empty()) missing += (missing.empty() ? "" : ", ") + std::string(name);
    const Result<ProgramOutput> said = run_briefly({info, "--noheader", "--format=%P"}, kPatience);
    if (!missing.empty())
        checks.push_back(
            {"Slurm", CheckResult::kWarn, "sinfo is here, but not " + missing, "install the whole slurm-client"});
    else if (!said || said->exit_code != 0)
        checks.push_back({"Slurm", CheckResult::kWarn,
                          "sinfo: " + (said ? mpi_version(said->text) : said.error().message),
                          "check slurm.conf, munged and slurmctld: 'scontrol ping'"});
    else
        checks.push_back({"Slurm", CheckResult::kOk, "answers at " + info, {}});
}

void print_checks(Context& context, const std::vector<Check>& checks) {
    if (context.output == "json") return print_document(context, command_line::document_of(checks));
    if (!context.for_people()) return print(context, command_line::listing_of(checks));
    std::cout << command_line::text_of(checks, command_line::wants_colour(1));
}

void examine(Context& context) {
    std::vector<Check> checks{command_line::check_clock_of_host()};
    if (const auto zone = check_credentials(context, checks)) check_home(*zone, checks);
    check_mpi(checks);
    check_profiler(checks);
    check_slurm(checks);
    print_checks(context, checks);
    if (worst_of(checks) == CheckResult::kFail) context.exit_code = kFailed;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
    app.add_subcommand("doctor",
                       "look for what may keep jobs from running: clock, certificate, home zone, peers, MPI, profiler, "
                       "Slurm; with remedies. Exit code 1 where something fails\n\nExample: zbs doctor")
        ->callback([&context] { examine(context); });
}

}  // namespace zbs::cli
