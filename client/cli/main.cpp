// zbs: the command line client. See client/README.md.
#include <CLI/CLI.hpp>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/context.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/pages/command_pages.hpp"
#include "services/common/adapters/command_line/pages/program_words.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/command_line/values.hpp"

namespace {

/// The words that may name a format: of some commands -o is a file.
std::vector<std::string> words_about_format(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* command = &app;
    std::vector<std::string> others;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto named = command->get_subcommands([&](const CLI::App* sub) { return sub->check_name(words[i]); });
        if (!named.empty()) command = named.front();
        const CLI::Option* const option = command->get_option_no_throw("-o");
        const bool is_file = option != nullptr && !option->check_lname("output");
        if (is_file && words[i] == "-o")
            ++i;
        else if (!is_file || !words[i].starts_with("-o"))
            others.push_back(words[i]);
    }
    return others;
}

int run(int argc, char** argv) {
    CLI::App app{
        "zbs runs MPI programs over the clusters of several organisations.\n\nExample: zbs run -n 6 -- ./my_program "
        "input.dat"};
    app.require_subcommand(1);
    app.set_version_flag("--version", zbs::cli::kProgramVersion);
    zbs::cli::Context context;
    context.credentials = zbs::cli::default_credentials_folder();
    app.add_option("--credentials", context.credentials, "folder of your certificate, made by 'zbs login'")
        ->envname("ZBS_CREDENTIALS");
    app.add_option("--proxy", context.proxy, "act by this proxy certificate instead (as grid-proxy-init writes it)")
        ->envname("X509_USER_PROXY");
    CLI::Option* const url =
        app.add_option(
               "--url", context.url,
               "addresses of the zone, with commas between them where it has several schedulers; needed without TLS")
            ->check(zbs::command_line::something("write https://HOST:PORT, or leave the option out"))
            ->envname("ZBS_URL");
    app.add_option("--identity", context.identity,
                   "a zone without TLS, on loopback: who you are, spiffe://ORGANISATION/user/NAME")
        ->envname("ZBS_IDENTITY");
    app.add_option("--token", context.token, "with --identity: the content of local_token in that zone's state folder")
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
    zbs::cli::add_top_command(app, context);
    zbs::cli::add_dashboard_command(app, context);
    zbs::cli::add_doctor_command(app, context);
    zbs::cli::add_quickstart_command(app, context);
    zbs::cli::add_complete_command(app, context);
    const std::vector<std::string> words = zbs::command_line::divide_words(app, {argv + 1, argv + argc}).own;
    context.url_place = zbs::command_line::place_of(*url, words);
    const std::optional<std::string> asked = zbs::command_line::asked_format(words_about_format(app, words));
    context.output_is_asked = asked.has_value();
    zbs::cli::add_json_flag(app, context, asked);
    zbs::command_line::add_page_commands(
        app, "zbs", {1, zbs::cli::kProgramVersion, "ZBS commands", zbs::cli::kExitCodes, zbs::cli::kExitNote},
        context.exit_code);
    if (const auto ended = zbs::command_line::parse(app, "zbs", argc, argv)) return *ended;
    return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    return zbs::command_line::run_program("zbs", run, argc, argv);
}
