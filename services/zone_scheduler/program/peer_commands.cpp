// zbs-zone peer ...: whose users this zone takes, and whom it asks.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "algorithms/base/duration_text.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/printable.hpp"
#include "services/zone_scheduler/program/operator_client.hpp"
#include "services/zone_scheduler/program/peer_commands.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"
#include "services/zone_scheduler/site_policy/rights_text.hpp"

namespace zbs::zone_program {
namespace {

using codec::Json;

struct Wish {
    std::string organisation, fingerprint, bundle_file, reason;
    std::string walltime, floor_walltime, hours, weekdays, partitions, account;
    int processors = -1, parts = -1, floor_processors = -1, floor_parts = -1;
    double share = -1, initial_trust = -1;
    bool forward = false, no_forward = false, delegation = false, no_delegation = false;
};

std::string path_of(const std::string& organisation) { return "/v1/peerings/" + organisation; }

/// Sets `value` from its text; the error names the option.
template <class Value, class Parse>
Result<void> read(const std::string& text, const char* option, Parse parse, std::optional<Value>& value) {
    if (text.empty()) return {};
    auto parsed = parse(text);
    if (!parsed) return invalid(parsed.error().message, option);
    value = *std::move(parsed);
    return {};
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
        parts.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

Result<PeeringChange> change_of(const Wish& wish, PeeringVerb verb) {
    PeeringChange change{.verb = verb, .fingerprint = wish.fingerprint, .reason = wish.reason};
    if (!wish.bundle_file.empty()) {
        auto text = process::read_file(wish.bundle_file, limits::kMaxBundleBytes);
        if (!text) return Error{ErrorCode::kNotFound, "cannot be read", wish.bundle_file};
        change.bundle = *std::move(text);
    }
    RightsChange& rights = change.rights;
    const auto count = [](int value) { return value < 0 ? std::optional<int>{} : std::optional<int>{value}; };
    rights.processors = count(wish.processors);
    rights.concurrent_parts = count(wish.parts);
    rights.floor_processors = count(wish.floor_processors);
    rights.floor_parts = count(wish.floor_parts);
    if (auto ok = read(wish.walltime, "--walltime", parse_duration, rights.walltime); !ok) return ok.error();
    if (auto ok = read(wish.floor_walltime, "--floor-walltime", parse_duration, rights.floor_walltime); !ok)
        return ok.error();
    if (wish.hours == "all")
        rights.hours.emplace();
    else if (auto ok = read(wish.hours, "--hours", parse_hours, rights.hours); !ok)
        return ok.error();
    if (auto ok = read(wish.weekdays, "--weekdays", parse_weekdays, rights.weekdays); !ok) return ok.error();
    if (wish.partitions == "all")
        rights.partitions.emplace();
    else if (!wish.partitions.empty())
        rights.partitions = split(wish.partitions);
    if (wish.share >= 0) rights.share = wish.share;
    if (!wish.account.empty()) rights.account_rule = wish.account;
    if (wish.forward || wish.no_forward) rights.may_forward = wish.forward;
    if (wish.delegation || wish.no_delegation) rights.require_delegation = wish.delegation;
    if (wish.initial_trust >= 0) change.initial_trust = wish.initial_trust;
    return change;
}

void add_rights(CLI::App* command, Wish& wish) {
    command->add_option("--processors", wish.processors, "at once, all its parts together (default: the whole zone)")
        ->check(CLI::Range(0, limits::kMaxRanks));
    command->add_option("--walltime", wish.walltime, "of one part, at most, e.g. 2h (default: 24h)");
    command->add_option("--parts", wish.parts, "at once (default: one per processor)")
        ->check(CLI::Range(0, limits::kMaxRanks));
    command->add_option("--hours", wish.hours, "when parts may start, UTC, e.g. 18:00-08:00; 'all'");
    command->add_option("--weekdays", wish.weekdays, "on which days, e.g. mon-fri");
    command->add_option("--partitions", wish.partitions, "on which partitions, with commas; 'all'");
    command->add_option("--share", wish.share, "of the zone's processors at once, 0 to 1")->check(CLI::Range(0.0, 1.0));
    command->add_option("--account", wish.account, "map (the account map decides), account:NAME or pool:NAME");
    CLI::Option* forward = command->add_flag("--forward", wish.forward, "it may pass others' work on to this zone");
    command->add_flag("--no-forward", wish.no_forward, "it may not (default)")->excludes(forward);
    CLI::Option* needed =
        command->add_flag("--delegation", wish.delegation, "every part needs its user's delegation (default)");
    command->add_flag("--no-delegation", wish.no_delegation, "its word is enough")->excludes(needed);
    const std::string floor = " at trust 0 (default: a tenth)";
    command->add_option("--floor-processors", wish.floor_processors, "processors" + floor)
        ->check(CLI::Range(0, limits::kMaxRanks));
    command->add_option("--floor-walltime", wish.floor_walltime, "walltime" + floor);
    command->add_option("--floor-parts", wish.floor_parts, "parts" + floor)->check(CLI::Range(0, limits::kMaxRanks));
    command->add_option("--initial-trust", wish.initial_trust, "0 to 1, before it has a history (default: 0.5)")
        ->check(CLI::Range(0.0, 1.0));
}

std::string seconds_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%gh", seconds / 3'600);
    return text;
}

std::string score_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
}

/// From another zone: no name may drive the terminal.
std::string text_of(const Json& json, const char* key) { return printable_text(json.value(key, std::string{}), 1'024); }

void print_rights(const char* title, const Json& rights) {
    std::cout << "  " << title << "\t" << rights.value("processors", 0) << " processors, "
              << seconds_text(rights.value("walltime_s", 0.0)) << ", " << rights.value("concurrent_parts", 0)
              << " parts\n";
}

void print_limits(const Json& rights) {
    const auto read_range = codec::decode_rights_range(rights);
    if (!read_range) return;
    const PeeringRights& top = read_range->ceiling;
    std::string partitions;
    for (const std::string& name : top.partitions) partitions += (partitions.empty() ? "" : ",") + name;
    std::cout << "  starts\t" << hours_text(top.hours) << " (UTC), " << weekdays_text(top.weekdays) << "\n"
              << "  partitions\t" << (partitions.empty() ? "all" : partitions) << "\n"
              << "  share\t" << score_text(top.share) << " of the zone\n"
              << "  account\t" << top.account_rule << "\n"
              << "  forwards\t" << (top.may_forward ? "yes" : "no") << "\n"
              << "  delegation\t" << (top.require_delegation ? "needed" : "not needed") << "\n";
}

void print_peering(const Json& peering) {
    std::cout << text_of(peering, "organisation") << "\t" << text_of(peering, "state") << "\n  bundle\t"
              << text_of(peering, "fingerprint") << "\n";
    for (const Json& zone : peering.value("zones", Json::array()))
        std::cout << "  zone\t" << text_of(zone, "name") << "\t" << text_of(zone, "url") << "\n";
    if (!text_of(peering, "by").empty()) std::cout << "  settled by\t" << text_of(peering, "by") << "\n";
    if (!text_of(peering, "reason").empty()) std::cout << "  reason\t" << text_of(peering, "reason") << "\n";
    if (text_of(peering, "state") == "requested") return;
    const Json trust = peering.value("trust", Json::object());
    std::cout << "  trust\t" << score_text(trust.value("score", 0.0)) << " (began with "
              << score_text(trust.value("initial", 0.0)) << ")\n";
    for (const Json& reason : trust.value("reasons", Json::array()))
        std::cout << "    " << text_of(reason, "event") << "\t" << reason.value("count", 0) << " ever\tweight "
                  << score_text(reason.value("weight", 0.0)) << "\teffect " << score_text(reason.value("effect", 0.0))
                  << "\n";
    const Json rights = peering.value("rights", Json::object());
    print_rights("now", peering.value("rights_now", Json::object()));
    print_rights("floor", rights.value("floor", Json::object()));
    print_rights("ceiling", rights.value("ceiling", Json::object()));
    print_limits(rights);
    const Json usage = peering.value("usage", Json::object());
    std::cout << "  in use\t" << usage.value("processors", 0) << " processors, " << usage.value("parts", 0)
              << " parts\n";
    for (const Json& event : peering.value("last_events", Json::array()))
        std::cout << "  event\t" << event.value("at_us", std::int64_t{0}) / 1'000'000 << "\t" << text_of(event, "event")
                  << "\n";
}

void list(const OperatorCommand& commands) {
    const auto answer = commands.call("GET", "/v1/peerings");
    if (!answer) return;
    std::cout << "whose users this zone takes:\n";
    for (const Json& row : answer->value("peerings", Json::array())) {
        const Json trust = row.value("trust", Json::object());
        std::cout << text_of(row, "organisation") << "\t" << text_of(row, "state") << "\ttrust "
                  << score_text(trust.value("score", 0.0)) << "\t" << text_of(row, "fingerprint") << "\n";
    }
    std::cout << "who takes this organisation's users:\n";
    for (const Json& row : answer->value("peers", Json::array()))
        std::cout << text_of(row, "zone") << "\t" << text_of(row, "organisation") << "\t"
                  << text_of(row, "they_accept_us") << "\t" << text_of(row, "reason") << "\n";
}

void settle(const OperatorCommand& commands, const Wish& wish, PeeringVerb verb) {
    const Result<PeeringChange> change = change_of(wish, verb);
    if (!change) return commands.fail(change.error());
    const auto answer = commands.call("PATCH", path_of(wish.organisation), codec::encode(*change));
    if (!answer) return;
    if (verb == PeeringVerb::kAsk)
        std::cout << "asks the zones of " << wish.organisation << "; 'zbs-zone peer list' shows what they say\n";
    for (const Json& peering : answer->value("peerings", Json::array())) print_peering(peering);
    for (const Json& note : answer->value("notes", Json::array()))
        if (note.is_string()) std::cerr << "note: " << printable_text(note.get<std::string>(), 4'096) << "\n";
}

}  // namespace

void add_peer_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    const OperatorCommand commands{&config_path, &exit_code};
    CLI::App* peer = cli.add_subcommand("peer", "whose users this zone takes, and who takes ours");
    peer->require_subcommand(1);
    auto wish = std::make_shared<Wish>();
    const auto add = [&](const char* name, const std::string& help) {
        return peer->add_subcommand(name, help + "\n\nExample: zbs-zone peer " + name);
    };
    const auto named = [&](const char* name, const std::string& help, const std::string& rest) {
        CLI::App* command = peer->add_subcommand(
            name, help + "\n\nExample: zbs-zone peer " + name + " org-b" + rest + " --config zone.toml");
        command->add_option("ORGANISATION", wish->organisation, "by name")->required();
        return command;
    };
    const auto settles = [&](const char* name, PeeringVerb verb, const std::string& help, const std::string& rest) {
        CLI::App* command = named(name, help, rest);
        command->add_option("--fingerprint", wish->fingerprint, "of its bundle, sha256:..., as its operator told it");
        command->callback([commands, wish, verb] { settle(commands, *wish, verb); });
        return command;
    };
    add("list", "organisations that asked or were asked")->callback([commands] { list(commands); });
    named("show", "rights, degree of trust and its reasons, what is in use", "")->callback([commands, wish] {
        const auto answer = commands.call("GET", path_of(wish->organisation));
        if (!answer) return;
        for (const Json& peering : answer->value("peerings", Json::array())) print_peering(peering);
    });
    CLI::App* accept = settles("accept", PeeringVerb::kAccept,
                               "take its users, up to these limits; compare the fingerprint with its operator first",
                               " --fingerprint sha256:... --processors 16 --hours 18:00-08:00");
    accept->add_option("--bundle", wish->bundle_file, "its bundle, PEM, where it has not asked yet");
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
    ask->add_option("--bundle", wish->bundle_file, "its bundle, PEM, where the registry shows none");
    named("remove", "forget it, also as one to ask", "")->callback([commands, wish] {
        if (commands.call("DELETE", path_of(wish->organisation))) std::cout << "forgot " << wish->organisation << "\n";
    });
}

}  // namespace zbs::zone_program
