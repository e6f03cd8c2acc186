// zbs peer ...: peerings of the home zone. Settling them is for operators: --credentials names their folder. Hours,
// weekdays and floors are set with 'zbs-zone peer'.
#include <CLI/CLI.hpp>
#include <iostream>

#include "client/cli/context.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/listing/peer_listing.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

void list_peers(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> answer = zone->get("/v1/peerings");
    if (!answer) return context.fail(answer.error());
    print(context, listing::peers_of(*answer));
}

void call(Context& context, const std::string& method, const std::string& organisation, const Json& body = {}) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> answer = zone->call(method, "/v1/peerings/" + http::encode_percent(organisation), body);
    if (!answer) return context.fail(answer.error());
    print(context, listing::peerings_of(*answer));
    for (const std::string& note : codec::decode_peerings_view(*answer).notes)
        std::cerr << "note: " << printable(note) << "\n";
}

struct Wish {
    std::string organisation, walltime;
    int processors = -1, parts = -1;
    double share = -1;
    std::string account;
    PeeringChange change;
};

void settle(Context& context, const Wish& wish, PeeringVerb verb) {
    PeeringChange change = wish.change;
    change.verb = verb;
    if (wish.processors >= 0) change.rights.processors = wish.processors;
    if (wish.parts >= 0) change.rights.concurrent_parts = wish.parts;
    if (wish.share >= 0) change.rights.share = wish.share;
    if (!wish.account.empty()) change.rights.account_rule = wish.account;
    if (!wish.walltime.empty()) {
        const Result<Duration> walltime = parse_duration(wish.walltime);
        if (!walltime) return context.fail(invalid(walltime.error().message, "--walltime"));
        change.rights.walltime = *walltime;
    }
    call(context, "PATCH", wish.organisation, codec::encode(change));
}

}  // namespace

void add_peer_commands(CLI::App& app, Context& context) {
    CLI::App* peer = app.add_subcommand("peer", "peerings of your home zone");
    peer->require_subcommand(1);
    CLI::App* all = peer->add_subcommand("list",
                                         "who accepts whom; outbound: that zone takes your users, inbound: your zone "
                                         "takes its users\n\nExample: zbs peer list");
    add_list_options(*all, context, listing::peers_of(Json::object()));
    all->callback([&context] { list_peers(context); });
    auto wish = std::make_shared<Wish>();
    const auto named = [&](const char* name, const std::string& help, const std::string& rest = "") {
        CLI::App* command = peer->add_subcommand(name, help + "\n\nExample: zbs peer " + name + " org-b" + rest);
        command_line::offer(command->add_option("ORGANISATION", wish->organisation, "by name")
                                ->required()
                                ->check(command_line::name_of("an organisation")),
                            {.words = {}, .kind = "organisations"});
        return command;
    };
    CLI::App* one = named("show", "how it stands with one organisation");
    add_list_options(*one, context, listing::peerings_of(Json::object()));
    one->callback([&context, wish] { call(context, "GET", wish->organisation); });
    const auto settles = [&](const char* name, PeeringVerb verb, const std::string& help,
                             const std::string& rest = "") {
        CLI::App* command = named(name, help + " (operators)", rest);
        command->add_option("--fingerprint", wish->change.fingerprint, "of its bundle, as its operator announced it")
            ->check(command_line::fingerprint())
            ->check(command_line::something("leave the option out where only one bundle claims the name"));
        command->callback([&context, wish, verb] { settle(context, *wish, verb); });
        return command;
    };
    const auto with_rights = [&](CLI::App* command) {
        command->add_option("--processors", wish->processors, "at once")
            ->check(command_line::whole_number_in(0, limits::kMaxRanks));
        command->add_option("--walltime", wish->walltime, "of one part, at most, e.g. 2h")
            ->check(command_line::something("write a time as 2h"));
        command->add_option("--parts", wish->parts, "at once")
            ->check(command_line::whole_number_in(0, limits::kMaxRanks));
        command->add_option("--share", wish->share, "of the zone's processors, 0 to 1")
            ->check(command_line::number_in(0.0, 1.0));
        command->add_option("--account", wish->account, "map, account:NAME or pool:NAME")
            ->check(command_line::something("write 'map' for the account map"));
    };
    with_rights(settles("accept", PeeringVerb::kAccept, "take its users"));
    with_rights(settles("set", PeeringVerb::kSet, "other limits", " --processors 8"));
    for (CLI::App* command : {settles("reject", PeeringVerb::kReject, "take none of its users"),
                              settles("suspend", PeeringVerb::kSuspend, "take none for now; what runs goes on"),
                              settles("resume", PeeringVerb::kResume, "take its users again")})
        command->add_option("--reason", wish->change.reason, "the other side sees it");
}

}  // namespace zbs::cli
