// zbs: the command line client. See client/README.md.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "algorithms/base/suggestion.hpp"
#include "client/cli/context.hpp"
#include "services/common/adapters/command_line/command_pages.hpp"

namespace {

/// The innermost command that was recognised.
CLI::App& innermost(CLI::App& app) {
    CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
    return *at;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* at = &command; at != nullptr; at = at->get_parent())
        for (const CLI::Option* option : at->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

/// What is said of the first word that was not understood; empty where all were.
std::string unknown_word(CLI::App& app) {
    const std::vector<std::string> rest = app.remaining(true);
    if (rest.empty() || rest[0] == "--") return {};
    const CLI::App& command = innermost(app);
    const std::string word = rest[0].substr(0, rest[0].find('='));
    const bool is_option = word.starts_with("-");
    std::vector<std::string> known;
    if (is_option) {
        known = option_names(command);
    } else {
        for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
            known.push_back(sub->get_name());
        if (known.empty()) return {};
    }
    std::string text =
        "there is no " + std::string(is_option ? "option" : "command") + " '" + zbs::cli::harmless_line(word) + "'";
    const std::string parent = command.get_parent() == nullptr ? "zbs" : "'" + command.get_name() + "'";
    text += " of " + parent;
    const std::vector<std::string_view> names(known.begin(), known.end());
    if (!is_option) return text + zbs::did_you_mean(word, names);
    if (const std::string_view near = zbs::closest_name(word, names); !near.empty())
        text += "; did you mean '" + std::string(near) + "'?";
    return text;
}

/// Says what was wrong with the command line.
int refuse(CLI::App& app, const CLI::ParseError& fault) {
    // A value that is wrong leaves the words behind it unread: they are not what is wrong.
    const bool is_about_words = dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr ||
                                dynamic_cast<const CLI::RequiredError*>(&fault) != nullptr;
    if (const std::string unknown = is_about_words ? unknown_word(app) : std::string{}; !unknown.empty())
        std::cerr << "zbs: " << unknown << "\nRun with --help for more information.\n";
    else
        app.exit(fault);
    return zbs::cli::kUsage;
}

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
    app.add_option(
           "--url", context.url,
           "addresses of the zone, with commas between them where it has several schedulers; needed without TLS")
        ->envname("ZBS_URL");
    app.add_option("--identity", context.identity,
                   "a zone without TLS, on loopback: who you are, spiffe://ORGANISATION/user/NAME")
        ->envname("ZBS_IDENTITY");
    app.add_option("--token", context.token, "and the content of local_token in that zone's state folder")
        ->envname("ZBS_TOKEN");
    zbs::cli::add_output_option(app, context, "ZBS_OUTPUT");
    app.fallthrough();
    zbs::cli::add_application_commands(app, context);
    zbs::cli::add_fetch_command(app, context);
    zbs::cli::add_zone_commands(app, context);
    zbs::cli::add_peer_commands(app, context);
    zbs::cli::add_identity_commands(app, context);
    zbs::cli::add_map_command(app, context);
    zbs::cli::add_profile_command(app, context);
    zbs::cli::add_queue_command(app, context);
    zbs::cli::add_replay_command(app, context);
    zbs::cli::add_simulate_command(app, context);
    zbs::cli::add_report_command(app, context);
    zbs::cli::add_top_command(app, context);
    zbs::cli::add_dashboard_command(app, context);
    zbs::cli::add_doctor_command(app, context);
    zbs::cli::add_quickstart_command(app, context);
    zbs::command_line::add_page_commands(app, "zbs", {1, "zbs 0.1.0", "ZBS commands"}, context.exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& done) {  // --help, --version
        return app.exit(done);
    } catch (const CLI::ParseError& fault) {
        return refuse(app, fault);
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
