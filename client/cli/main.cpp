// zbs: the command line client. See client/README.md.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "client/cli/context.hpp"

namespace {

int run(int argc, char** argv) {
    CLI::App app{
        "zbs runs MPI programs over the clusters of several organisations.\n\nExample: zbs run -n 6 -- ./my_program "
        "input.dat"};
    app.require_subcommand(1);
    app.set_version_flag("--version", "zbs 0.1.0");
    zbs::cli::Context context;
    context.credentials = zbs::cli::default_credentials_folder();
    app.add_option("--credentials", context.credentials, "folder of your certificate, made by 'zbs login'")
        ->envname("ZBS_CREDENTIALS");
    app.add_option("--proxy", context.proxy, "act by this proxy certificate instead (as grid-proxy-init writes it)")
        ->envname("X509_USER_PROXY");
    app.add_option("--url", context.url, "address of a zone without TLS")->envname("ZBS_URL");
    app.add_option("--identity", context.identity,
                   "a zone without TLS, on loopback: who you are, spiffe://ORGANISATION/user/NAME")
        ->envname("ZBS_IDENTITY");
    app.add_option("--token", context.token, "and the content of local_token in that zone's state folder")
        ->envname("ZBS_TOKEN");
    app.add_option("-o,--output", context.output, "table, json, jsonl or csv")
        ->envname("ZBS_OUTPUT")
        ->check(CLI::IsMember({"table", "json", "jsonl", "csv"}));
    app.fallthrough();
    zbs::cli::add_application_commands(app, context);
    zbs::cli::add_zone_commands(app, context);
    zbs::cli::add_peer_commands(app, context);
    zbs::cli::add_identity_commands(app, context);
    zbs::cli::add_map_command(app, context);
    zbs::cli::add_profile_command(app, context);
    zbs::cli::add_queue_command(app, context);
    zbs::cli::add_replay_command(app, context);
    zbs::cli::add_simulate_command(app, context);
    zbs::cli::add_report_command(app, context);
    zbs::cli::add_quickstart_command(app, context);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& done) {  // --help, --version
        return app.exit(done);
    } catch (const CLI::ParseError& fault) {
        app.exit(fault);
        return zbs::cli::kUsage;
    }
    std::cout.flush();
    return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const std::exception& fault) {
        std::cerr << "zbs: " << fault.what() << "\n";
        return zbs::cli::kFailed;
    }
}
