#include "client/cli/quickstart/quickstart_federation.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/api/zone_client.hpp"
#include "client/api/zone_view.hpp"
#include "client/cli/submission/probe_program.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kPatience{2};

/// Runs a program of ours to its end. What it prints, or its complaint.
Result<std::string> run(const std::vector<std::string>& words) {
    Result<ProgramOutput> done = run_briefly(words, kPatience);
    if (!done) return done.error();
    while (done->text.ends_with('\n')) done->text.pop_back();
    if (done->exit_code == 0) return std::move(done->text);
    return Error{ErrorCode::kUnavailable, done->text.empty() ? words[0] + " could not be run" : done->text, {}};
}

std::string zone_program(const FederationPlan& plan) { return plan.programs + "/zbs-zone"; }
std::string registry_program(const FederationPlan& plan) { return plan.programs + "/zbs-registry"; }
std::string config_of(const FederationPlan& plan, const std::string& zone) {
    return plan.folder + "/" + zone + ".toml";
}
std::string organisation_of(const std::string& zone) { return "org-" + zone; }
std::string bundle_of(const FederationPlan& plan, const std::string& zone) {
    return plan.folder + "/" + zone + "/identity/bundle.pem";
}

/// Before all have keys there are no bundles to name: without peers.
std::string zone_config(const FederationPlan& plan, std::size_t index, bool with_peers) {
    const std::string& name = plan.zones[index];
    // Declared delays differ on purpose: a and b are near each other, c is far.
    const auto delay = [&](const std::string& other) { return (name == "c" || other == "c") ? 0.02 : 0.005; };
    std::ostringstream text;
    text << "name = \"" << name << "\"\norganisation = \"" << organisation_of(name) << "\"\ncontact = \"operator@"
         << organisation_of(name) << ".example\"\nstate = " << toml_string(plan.folder + "/" + name)
         << "\nlisten = \"127.0.0.1:" << plan.ports[index + 1]
         << "\"\nallow_private_addresses = true  # all on this machine\nrun_as = \"self\"  # jobs run as whoever "
            "started this\nshared_memory = true  # ranks of all zones are on this machine; without root jobs are not "
            "kept "
            "from the zone's files\naccount_map = "
         << toml_string(plan.folder + "/" + name + ".accounts") << "\n";
    text << "hidden_paths = [" << toml_string(plan.folder + "/registry");
    for (const std::string& other : plan.zones) {
        if (other != name) text << ", " << toml_string(plan.folder + "/" + other);
    }
    text << "]  # the other services' keys\n";
    if (name == plan.slurm_zone)
        text << "\n[slurm]  # its nodes are the machines\nconfiguration = " << toml_string(plan.slurm_configuration)
             << "\n";
    else
        text << "\n[[machine]]\nname = \"m0\"\nprocessors = " << plan.processors << "\nspeed = 1.0\n";
    const int allowed = name == plan.slurm_zone ? 1'000 : plan.processors;  // all of them
    for (const std::string& other : plan.zones) {
        if (other == name || !with_peers) continue;
        text << "\n[[peering]]  # accepted without asking the operator\norganisations = [\"" << organisation_of(other)
             << "\"]\nbundle = " << toml_string(bundle_of(plan, other)) << "\nprocessors = " << allowed
             << "\nfloor_processors = " << allowed
             << "\nparts = 1000\nfloor_parts = 1000\nwalltime = \"168h\"\nfloor_walltime = \"168h\"\n\n[[link]]\nzone "
                "= \""
             << other << "\"\ndelay_s = " << delay(other) << "\nbandwidth_Bps = 1.0e7\n";
    }
    text << "\n[timing]\ndiscover_s = 0.5\n";
    return text.str();
}

Result<void> changed(bool done, const QuickstartAccount& account) {
    if (done) return {};
    return Error{ErrorCode::kUnavailable,
                 "cannot change to the account '" + account.name + "': " + std::strerror(errno), "--user"};
}

}  // namespace

Result<void> prepare_federation(const FederationPlan& plan) {
    const std::string registry = plan.folder + "/registry";
    if (!fs::exists(registry + "/identity")) {
        if (auto made = run({registry_program(plan), "init", "--state", registry, "--organisation", "grid"}); !made)
            return made.error();
    }
    for (std::size_t i = 0; i < plan.zones.size(); ++i) {
        const std::string& zone = plan.zones[i];
        std::ofstream(config_of(plan, zone)) << zone_config(plan, i, false);
        const std::string accounts = plan.folder + "/" + zone + ".accounts";
        if (!fs::exists(accounts))
            std::ofstream(accounts)
                << "# organisation  user  group  ->  account | pool:NAME | deny\norg-*  *  *  ->  guest\n";
    }
    for (const std::string& zone : plan.zones) {
        if (fs::exists(plan.folder + "/" + zone + "/identity")) continue;
        if (auto made = run({zone_program(plan), "init", "--config", config_of(plan, zone)}); !made)
            return made.error();
    }
    for (std::size_t i = 0; i < plan.zones.size(); ++i)
        std::ofstream(config_of(plan, plan.zones[i])) << zone_config(plan, i, true);
    return {};
}

std::vector<std::string> registry_command(const FederationPlan& plan) {
    return {registry_program(plan),     "run",           "--state",
            plan.folder + "/registry",  "--listen-port", std::to_string(plan.ports[0]),
            "--allow-private-addresses"};
}

std::vector<std::string> zone_command(const FederationPlan& plan, const std::string& zone) {
    return {zone_program(plan), "run", "--config", config_of(plan, zone)};
}

std::string zone_url(const FederationPlan& plan, std::size_t index) {
    return "https://127.0.0.1:" + std::to_string(plan.ports[index + 1]);
}

Result<void> enrol_zones(const FederationPlan& plan) {
    for (const std::string& zone : plan.zones) {
        const std::string address = plan.folder + "/" + zone + "/registry/address";
        std::ifstream known(address);
        std::string url;
        if (known >> url && url == "https://127.0.0.1:" + std::to_string(plan.ports[0])) continue;
        Result<std::string> token = run(
            {registry_program(plan), "token", "--state", plan.folder + "/registry", "--for", organisation_of(zone)});
        if (!token) return token.error();
        if (auto done = run({zone_program(plan), "enrol", *token, "--config", config_of(plan, zone)}); !done)
            return done.error();
    }
    return {};
}

Result<void> log_in(const FederationPlan& plan, const std::string& credentials, const AsOwner& as_owner) {
    const std::string url = zone_url(plan, 0);
    bool is_done = false;
    const auto look = [&]() -> Result<void> {
        const auto own = client::Credentials::open(credentials);
        is_done = own && own->home().url == url;
        return {};
    };
    if (auto looked = as_owner(look); !looked || is_done) return looked;
    const Result<std::string> printed =
        run({zone_program(plan), "user", "add", "you", "--config", config_of(plan, plan.zones[0])});
    if (!printed) return printed.error();
    const std::size_t begin = printed->find("zbs-login-1+");
    if (begin == std::string::npos) return Error{ErrorCode::kInternal, "no code came: " + *printed, {}};
    const Result<JoinToken> token =
        parse_join_token(std::string_view(*printed).substr(begin, printed->find('\n', begin) - begin));
    if (!token) return token.error();
    return as_owner([&] { return client::Credentials::log_in(credentials, *token); });
}

Result<void> check_met(const FederationPlan& plan, const std::string& credentials) {
    auto own = client::Credentials::open(credentials);
    if (!own) return own.error();
    client::ZoneClient zone(*std::move(own), {}, std::chrono::seconds(5));
    const Result<codec::Json> peers = zone.get("/v1/peerings");
    if (!peers) return peers.error();
    const auto accepted = std::ranges::count_if(codec::decode_peerings_view(*peers).peers, client::is_usable);
    if (static_cast<std::size_t>(accepted) + 1 >= plan.zones.size()) return {};
    return Error{ErrorCode::kUnavailable, std::to_string(accepted) + " zones have accepted the first one so far", {}};
}

Result<QuickstartAccount> choose_account(const std::string& wanted) {
    const passwd* found = nullptr;
    const char* const sudo = std::getenv("SUDO_USER");
    const bool has_sudo = sudo != nullptr && std::strcmp(sudo, "root") != 0 && *sudo != '\0';
    std::string name = wanted;
    if (name.empty() && geteuid() != 0) {
        found = getpwuid(geteuid());
        if (found == nullptr) return QuickstartAccount{geteuid(), getegid(), std::to_string(geteuid())};
    } else {
        if (name.empty()) name = has_sudo ? sudo : "nobody";
        found = getpwnam(name.c_str());
    }
    if (found == nullptr)
        return Error{ErrorCode::kInvalidArgument, "this machine has no account '" + name + "'; name one with --user",
                     "--user"};
    if (geteuid() != 0 && found->pw_uid != geteuid())
        return Error{ErrorCode::kInvalidArgument, "only root can start it as another account, here '" + name + "'",
                     "--user"};
    const bool is_user = geteuid() != 0 || (sudo != nullptr && std::strcmp(sudo, found->pw_name) == 0);
    return QuickstartAccount{found->pw_uid, found->pw_gid, found->pw_name, is_user || found->pw_uid == 0};
}

Result<void> change_to(const QuickstartAccount& account) {
    if (account.uid == geteuid()) return {};
    return changed(seteuid(0) == 0 && initgroups(account.name.c_str(), account.gid) == 0 &&
                       setresgid(account.gid, account.gid, account.gid) == 0 &&
                       setresuid(account.uid, account.uid, 0) == 0,
                   account);
}

Result<void> with_own_rights(const QuickstartAccount& account, const std::function<Result<void>()>& act) {
    if (seteuid(0) != 0) return act();  // there are no others
    Result<void> done = act();
    if (auto back = changed(seteuid(account.uid) == 0, account); !back) return back;
    return done;
}

Result<void> keep_account(const QuickstartAccount& account) {
    return changed(setresuid(account.uid, account.uid, account.uid) == 0, account);
}

}  // namespace zbs::cli
