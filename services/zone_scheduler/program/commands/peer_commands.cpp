// zbs-zone peer ...: whose users this zone takes, and whom it asks.
#include <CLI/CLI.hpp>
#include <iostream>

#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/listing/peer_listing.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/commands/peer_commands.hpp"
#include "services/zone_scheduler/program/commands/peer_options.hpp"
#include "services/zone_scheduler/program/commands/peer_text.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

using codec::Json;
using command_line::Output;

std::string path_of(const std::string& organisation) { return "/v1/peerings/" + http::encode_percent(organisation); }

const Places kPlaces = {{"/organisation", "ORGANISATION"},
                        {"/fingerprint", "--fingerprint"},
                        {"/bundle", "--bundle"},
                        {"/reason", "--reason"},
                        {"/initial_trust", "--initial-trust"},
                        {"/rights/ceiling/processors", "--processors"},
                        {"/rights/ceiling/concurrent_parts", "--parts"},
                        {"/rights/ceiling/walltime", "--walltime"},
                        {"/rights/ceiling/hours", "--hours"},
                        {"/rights/ceiling/weekdays", "--weekdays"},
                        {"/rights/ceiling/partitions", "--partitions"},
                        {"/rights/ceiling/share", "--share"},
                        {"/rights/ceiling/overcommit", "--overcommit"},
                        {"/rights/ceiling/account_rule", "--account"},
                        {"/rights/floor/processors", "--floor-processors"},
                        {"/rights/floor/concurrent_parts", "--floor-parts"},
                        {"/rights/floor/walltime", "--floor-walltime"}};

void print_peers(const OperatorCommand& commands, const Output& output, bool only_zones) {
    const auto answer = commands.call(output, "GET", "/v1/peerings");
    if (!answer) return;
    if (only_zones) return commands.print(output, listing::peers_of(*answer), {});
    if (!output.for_people() || output.has_choice())
        return commands.print(output, listing::peerings_of(*answer), *answer);
    std::cout << peer_list_text(*answer, output.format());
}

void settle(const OperatorCommand& commands, const Output& output, const PeerWish& wish, PeeringVerb verb) {
    const Result<PeeringChange> change = change_of(wish, verb);
    if (!change) return commands.fail(change.error(), output);
    const auto answer = commands.call(output, "PATCH", path_of(wish.organisation), codec::encode(*change), kPlaces);
    if (!answer) return;
    if (verb == PeeringVerb::kAsk)
        (output.for_people() ? std::cout : std::cerr)
            << "asks the zones of " << wish.organisation << "; 'zbs-zone peer list' shows what they say\n";
    output.print_document(*answer, peerings_text(*answer));
    for (const std::string& note : codec::decode_peerings_view(*answer).notes)
        std::cerr << "note: " << printable_text(note, 4'096) << "\n";
}

/// Adds commands below 'peer'.
struct PeerCommands {
    OperatorCommand commands;
    CLI::App* peer;
    std::shared_ptr<PeerWish> wish = std::make_shared<PeerWish>();

    /// A command about one organisation.
    CLI::App* named(const char* name, const std::string& help, const std::string& rest) const {
        CLI::App* command = peer->add_subcommand(
            name, help + "\n\nExample: zbs-zone peer " + name + " org-b" + rest + " --config zone.toml");
        command->add_option("ORGANISATION", wish->organisation, "by name")
            ->required()
            ->check(command_line::name_of("an organisation"));
        return command;
    }
    /// One that changes what is between it and this zone.
    CLI::App* settling(const char* name, PeeringVerb verb, const std::string& help, const std::string& rest) const {
        CLI::App* command = named(name, help, rest);
        command
            ->add_option("--fingerprint", wish->fingerprint, "of its bundle, sha256:..., as its operator announced it")
            ->check(command_line::fingerprint())
            ->check(command_line::something("leave the option out where only one bundle claims the name"));
        const auto output = std::make_shared<Output>(Output::Kind::kDocument);
        output->add_to(*command);
        command->callback([commands = commands, output, wish = wish, verb] { settle(commands, *output, *wish, verb); });
        return command;
    }
};

void add_peer_list(const PeerCommands& to) {
    CLI::App* list = to.peer->add_subcommand(
        "list", "organisations that asked or were asked\n\nExample: zbs-zone peer list --config zone.toml");
    const auto listed = std::make_shared<Output>(Output::Kind::kList);
    listed->add_to(*list, listing::peerings_of(Json::object()));
    auto zones = std::make_shared<bool>(false);
    list->add_flag("--zones", *zones,
                   "only the zones of others, and whether they take this organisation's users. Without it tables have "
                   "both, and csv, name, --columns, --sort and --filter are about the organisations");
    list->callback([commands = to.commands, listed, zones] { print_peers(commands, *listed, *zones); });
}

void add_peer_show(const PeerCommands& to) {
    CLI::App* show = to.named("show", "rights, degree of trust and its reasons, what is in use", "");
    const auto shown = std::make_shared<Output>(Output::Kind::kDocument);
    shown->add_to(*show);
    show->callback([commands = to.commands, shown, wish = to.wish] {
        const auto answer = commands.call(*shown, "GET", path_of(wish->organisation));
        if (answer) shown->print_document(*answer, peerings_text(*answer));
    });
}

void add_peer_remove(const PeerCommands& to) {
    CLI::App* remove = to.named("remove", "forget it, also as one to ask", "");
    const auto removed = command_line::add_outcome(*remove);
    remove->callback([commands = to.commands, removed, wish = to.wish] {
        const auto answer = commands.call(*removed, "DELETE", path_of(wish->organisation));
        if (answer) removed->print_document(*answer, "forgot " + wish->organisation + "\n");
    });
}

}  // namespace

void add_peer_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    CLI::App* peer = cli.add_subcommand("peer", "whose users this zone takes, and who takes ours");
    peer->require_subcommand(1);
    const PeerCommands to{{&config_path, &exit_code}, peer};
    PeerWish& wish = *to.wish;
    add_peer_list(to);
    add_peer_show(to);
    CLI::App* accept =
        to.settling("accept", PeeringVerb::kAccept,
                    "take its users, up to these limits; compare the fingerprint with its operator first",
                    " --fingerprint sha256:... --processors 16 --hours 18:00-08:00");
    accept->add_option("--bundle", wish.bundle_file, "its bundle, PEM, where it has not asked yet")
        ->check(command_line::something("name the file"));
    add_rights(accept, wish);
    CLI::App* set = to.settling("set", PeeringVerb::kSet, "other limits, from its next part on", " --processors 8");
    add_rights(set, wish);
    const std::string reason = "the other side sees it";
    to.settling("reject", PeeringVerb::kReject, "take none of its users", " --reason 'no contract'")
        ->add_option("--reason", wish.reason, reason);
    to.settling("suspend", PeeringVerb::kSuspend, "take none for now; what runs goes on", " --reason maintenance")
        ->add_option("--reason", wish.reason, reason);
    to.settling("resume", PeeringVerb::kResume, "take its users again", "");
    CLI::App* ask = to.settling("request", PeeringVerb::kAsk, "believe its bundle and ask its zones to take our users",
                                " --fingerprint sha256:...");
    ask->add_option("--bundle", wish.bundle_file, "its bundle, PEM, where the registry shows none")
        ->check(command_line::something("name the file"));
    add_peer_remove(to);
}

}  // namespace zbs::zone_program
