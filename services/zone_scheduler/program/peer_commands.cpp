// zbs-zone peer ...: whose users this zone takes, and whom it asks.
#include <CLI/CLI.hpp>
#include <iostream>

#include "services/common/codec/document_text.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/messages/printable.hpp"
#include "services/zone_scheduler/program/operator_client.hpp"
#include "services/zone_scheduler/program/peer_commands.hpp"
#include "services/zone_scheduler/program/peer_options.hpp"
#include "services/zone_scheduler/program/peer_text.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

using codec::Json;

std::string path_of(const std::string& organisation) { return "/v1/peerings/" + organisation; }

/// What the zone answers, as it is or for people.
template <class Text>
void ask_and_print(const OperatorCommand& commands, const std::string& path, bool as_json, Text text) {
    const auto answer = commands.call("GET", path);
    if (answer) std::cout << (as_json ? codec::document_text(*answer) : text(*answer));
}

void settle(const OperatorCommand& commands, const PeerWish& wish, PeeringVerb verb) {
    const Result<PeeringChange> change = change_of(wish, verb);
    if (!change) return commands.fail(change.error());
    const auto answer = commands.call("PATCH", path_of(wish.organisation), codec::encode(*change));
    if (!answer) return;
    if (verb == PeeringVerb::kAsk)
        std::cout << "asks the zones of " << wish.organisation << "; 'zbs-zone peer list' shows what they say\n";
    std::cout << peerings_text(*answer);
    for (const Json& note : answer->value("notes", Json::array()))
        if (note.is_string()) std::cerr << "note: " << printable_text(note.get<std::string>(), 4'096) << "\n";
}

}  // namespace

void add_peer_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    const OperatorCommand commands{&config_path, &exit_code};
    CLI::App* peer = cli.add_subcommand("peer", "whose users this zone takes, and who takes ours");
    peer->require_subcommand(1);
    auto wish = std::make_shared<PeerWish>();
    const auto add = [&](const char* name, const std::string& help) {
        return peer->add_subcommand(name, help + "\n\nExample: zbs-zone peer " + name + " --config zone.toml");
    };
    const auto named = [&](const char* name, const std::string& help, const std::string& rest) {
        CLI::App* command = peer->add_subcommand(
            name, help + "\n\nExample: zbs-zone peer " + name + " org-b" + rest + " --config zone.toml");
        command->add_option("ORGANISATION", wish->organisation, "by name")->required();
        return command;
    };
    const auto settles = [&](const char* name, PeeringVerb verb, const std::string& help, const std::string& rest) {
        CLI::App* command = named(name, help, rest);
        command->add_option("--fingerprint", wish->fingerprint, "of its bundle, sha256:..., as its operator told it")
            ->check(something("leave the option out where only one bundle claims the name"));
        command->callback([commands, wish, verb] { settle(commands, *wish, verb); });
        return command;
    };
    auto as_json = std::make_shared<bool>(false);
    const std::string json_help = "as the service says it, for programs: instants in _us since 1970, durations in _s";
    CLI::App* list = add("list", "organisations that asked or were asked");
    list->add_flag("--json", *as_json, json_help);
    list->callback([commands, as_json] { ask_and_print(commands, "/v1/peerings", *as_json, peer_list_text); });
    CLI::App* show = named("show", "rights, degree of trust and its reasons, what is in use", "");
    show->add_flag("--json", *as_json, json_help);
    show->callback(
        [commands, wish, as_json] { ask_and_print(commands, path_of(wish->organisation), *as_json, peerings_text); });
    CLI::App* accept = settles("accept", PeeringVerb::kAccept,
                               "take its users, up to these limits; compare the fingerprint with its operator first",
                               " --fingerprint sha256:... --processors 16 --hours 18:00-08:00");
    accept->add_option("--bundle", wish->bundle_file, "its bundle, PEM, where it has not asked yet")
        ->check(something("name the file"));
    add_rights(accept, *wish);
    CLI::App* set = settles("set", PeeringVerb::kSet, "other limits, from its next part on", " --processors 8");
    add_rights(set, *wish);
    const std::string reason = "told to the other side";
    settles("reject", PeeringVerb::kReject, "take none of its users", " --reason 'no contract'")
        ->add_option("--reason", wish->reason, reason);
    settles("suspend", PeeringVerb::kSuspend, "take none for now; what runs goes on", " --reason maintenance")
        ->add_option("--reason", wish->reason, reason);
    settles("resume", PeeringVerb::kResume, "take its users again", "");
    CLI::App* ask = settles("request", PeeringVerb::kAsk, "believe its bundle and ask its zones to take our users",
                            " --fingerprint sha256:...");
    ask->add_option("--bundle", wish->bundle_file, "its bundle, PEM, where the registry shows none")
        ->check(something("name the file"));
    named("remove", "forget it, also as one to ask", "")->callback([commands, wish] {
        if (commands.call("DELETE", path_of(wish->organisation))) std::cout << "forgot " << wish->organisation << "\n";
    });
}

}  // namespace zbs::zone_program
