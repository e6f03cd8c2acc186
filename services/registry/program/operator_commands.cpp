#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/limits.hpp"
#include "services/registry/http/operator_codec.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {
namespace {

using system::wall_clock;

using codec::Json;
using command_line::Output;

/// What each zone has said of itself, all pages in one.
Result<Json> all_zones(const Options& options) {
    std::string after;
    Json zones = Json::array();
    do {
        const Result<Json> answer = call(options, "GET", "/v1/zones" + (after.empty() ? after : "?after=" + after));
        const auto page = answer ? codec::decode_zone_page(*answer) : Result<ZonePage>(answer.error());
        if (!page) return page.error();
        for (const SignedText& text : page->entries) {
            const Result<Json> json = codec::parse(text.text);
            if (json && json->is_object()) zones.push_back(*json);
        }
        after = page->next;
    } while (!after.empty());
    return zones;
}

listing::Listing listed_zones(const Json& zones) {
    listing::Listing rows{
        "zones", {{"ZONE", "name"}, "ORGANISATION", "STANDING", {"ADDRESS", "url"}, {"CONTACT", true}}, {}, zones};
    for (const Json& zone : zones) {
        const codec::ZoneEntryView entry = codec::decode_zone_entry_view(zone);
        rows.rows.push_back({entry.name, entry.organisation, entry.standing, entry.url, entry.contact});
    }
    return rows;
}

Result<void> make_identity(const StateFolder& state, const Output& output, const std::string& organisation,
                           const std::string& name) {
    if (auto own = process::check_owner(state.path); !own) return own;
    std::error_code fault;
    std::filesystem::create_directories(state.path, fault);
    chmod(state.path.c_str(), 0700);
    if (auto keys = openssl::make_registry(state.identity(), OrganisationName(organisation), name, wall_clock()); !keys)
        return keys.error();
    const std::string uri = "spiffe://" + organisation + "/registry/" + name;
    output.print_document(codec::encode_identity(uri, state.identity()),
                          "made the identity of " + uri + " in " + state.identity() + "\n");
    return {};
}

Result<void> make_operator(const StateFolder& state, const Output& output, const std::string& name) {
    if (auto own = process::check_owner(state.path); !own) return own;
    if (auto keys = openssl::issue_operator(state.identity(), name, wall_clock()); !keys) return keys.error();
    output.print_document(codec::encode_identity(name, state.operator_identity()),
                          "operator '" + name + "' has a new certificate in " + state.operator_identity() + "\n");
    return {};
}

Result<void> put_certificate(const StateFolder& state, const Output& output, const std::string& path) {
    const auto chain = process::read_file(path, limits::kMaxChainBytes);
    if (auto own = process::check_owner(state.path); !own) return own;
    if (!chain) return Error{ErrorCode::kNotFound, "cannot be read", path};
    if (auto put = openssl::replace_certificate(state.identity(), *chain, wall_clock()); !put) return put;
    output.print_document(codec::encode_folder(state.identity()),
                          "the new certificate is in place; a running registry takes it with SIGHUP\n");
    return {};
}

void add_init_command(CLI::App& cli, Options& options, const command_line::OperatorCommand& shared) {
    auto organisation = std::make_shared<std::string>();
    auto name = std::make_shared<std::string>("registry");
    CLI::App* init = cli.add_subcommand(
        "init", "keys and certificate of this registry\n\nExample: zbs-registry init --state DIR --organisation grid");
    init->add_option("--organisation", *organisation, "who runs the registry")
        ->required()
        ->check(command_line::name_of("an organisation"));
    init->add_option("--name", *name, "of the registry")
        ->check(command_line::name_of("a registry"))
        ->capture_default_str();
    const auto made = command_line::add_outcome(*init);
    init->callback([&options, shared, made, organisation, name] {
        shared.run(*made, [&] { return make_identity({options.state}, *made, *organisation, *name); });
    });
}

void add_operator_command(CLI::App& cli, Options& options, const command_line::OperatorCommand& shared) {
    auto operator_name = std::make_shared<std::string>("operator");
    CLI::App* person = cli.add_subcommand(
        "operator",
        "a new certificate for the operator, before or after the old one has ended; needs the CA key in the registry's "
        "folder; the registry may run\n\nExample: zbs-registry operator --state DIR");
    person->add_option("--name", *operator_name, "name in it")
        ->check(command_line::name_of("an operator"))
        ->capture_default_str();
    const auto issued = command_line::add_outcome(*person);
    person->callback([&options, shared, issued, operator_name] {
        shared.run(*issued, [&] { return make_operator({options.state}, *issued, *operator_name); });
    });
}

void add_renew_command(CLI::App& cli, Options& options, const command_line::OperatorCommand& shared) {
    auto path = std::make_shared<std::string>();
    CLI::App* renew = cli.add_subcommand(
        "renew",
        "put a new certificate for this registry's key in place, made by the organisation's CA elsewhere (a registry "
        "that holds the CA key renews by itself)\n\nExample: zbs-registry renew --certificate new.pem --state DIR");
    renew->add_option("--certificate", *path, "it and what leads to the bundle, PEM, leaf first")->required();
    const auto renewed = command_line::add_outcome(*renew);
    renew->callback([&options, shared, renewed, path] {
        shared.run(*renewed, [&] { return put_certificate({options.state}, *renewed, *path); });
    });
}

void add_token_command(CLI::App& cli, Options& options, const command_line::OperatorCommand& shared) {
    auto hours = std::make_shared<int>(24);
    auto whose = std::make_shared<std::string>();
    CLI::App* token = cli.add_subcommand(
        "token",
        "a one-time word by which one zone enrols ('zbs-zone enrol')\n\nExample: zbs-registry token --state DIR "
        "--for org-a");
    token->add_option("--for", *whose, "only a zone of this organisation; default: of any")
        ->check(command_line::name_of("an organisation"));
    token->add_option("--hours", *hours, "how long it works")
        ->check(command_line::whole_number_in(1, 720))
        ->capture_default_str();
    const auto given = command_line::add_outcome(*token);
    token->callback([&options, shared, given, whose, hours] {
        shared.run(*given, [&]() -> Result<void> {
            const codec::NewToken wanted{OrganisationName(*whose), std::chrono::hours{*hours}};
            const Result<Json> answer = call(options, "POST", "/v1/enrolment-tokens", codec::encode(wanted));
            if (!answer) return answer.error();
            given->print_document(*answer, codec::decode_token(*answer) + "\n");
            return {};
        });
    });
}

void add_list_command(CLI::App& cli, Options& options, const command_line::OperatorCommand& shared) {
    CLI::App* zones = cli.add_subcommand(
        "list", "zones that are here: name, organisation, standing, address\n\nExample: zbs-registry list --state DIR");
    const auto output = std::make_shared<Output>(Output::Kind::kList);
    output->add_to(*zones, listed_zones(Json::array()));
    zones->callback([&options, shared, output] {
        shared.run(*output, [&]() -> Result<void> {
            const Result<Json> here = all_zones(options);
            if (!here) return here.error();
            shared.print(*output, listed_zones(*here));
            return {};
        });
    });
}

void add_ready_command(CLI::App& cli, Options& options, const command_line::OperatorCommand& shared) {
    CLI::App* ready =
        cli.add_subcommand("ready",
                           "exits with 0 where the registry runs and takes calls: for health checks of containers and "
                           "watchdogs\n\nExample: zbs-registry ready --state DIR");
    const auto readiness = command_line::add_outcome(*ready);
    ready->callback([&options, shared, readiness] {
        if (!shared.can_begin(*readiness)) return;
        const Result<Json> answer = call(options, "GET", "/readyz");
        if (!answer) return shared.not_well(answer.error(), *readiness);
        readiness->print_document(codec::encode_is_ready(), "");
    });
}

listing::Listing zones_of(const codec::EnrolmentsView& answer) {
    listing::Listing listing{
        "zones",
        {"ZONE", "ORGANISATION", {"STANDING", "live"}, {"ADDRESS", "url"}, {"ALSO CLAIMED BY", "rival.url"}},
        {}};
    for (const codec::EnrolmentsView::Zone& zone : answer.zones) {
        listing.items.push_back(zone.item);
        listing.rows.push_back({zone.zone, zone.organisation, zone.live ? "live" : "away", zone.url,
                                zone.rival_url.empty() ? "-" : zone.rival_url});
    }
    return listing;
}

listing::Listing organisations_of(const codec::EnrolmentsView& answer) {
    listing::Listing listing{"organisations", {"ORGANISATION", "ZONES", "FINGERPRINT"}, {}};
    for (const codec::EnrolmentsView::Organisation& row : answer.organisations) {
        listing.items.push_back(row.item);
        listing.rows.push_back({row.organisation, row.zones, row.fingerprint});
    }
    return listing;
}

std::string removed_text(const Json& answer) {
    std::string text;
    for (const std::string& zone : codec::decode_removed_zones(answer)) text += "removed zone " + zone + "\n";
    return text;
}

}  // namespace

void add_operator_commands(CLI::App& cli, Options& options, int& exit_code) {
    const auto shared = operator_command(options, exit_code);
    add_init_command(cli, options, shared);
    add_operator_command(cli, options, shared);
    add_renew_command(cli, options, shared);
    add_token_command(cli, options, shared);
    add_list_command(cli, options, shared);
    add_ready_command(cli, options, shared);
    add_enrolment_commands(cli, options, exit_code);
    add_audit_commands(cli, options, exit_code);
    add_backup_commands(cli, options, exit_code);
}

void add_audit_commands(CLI::App& cli, Options& options, int& exit_code) {
    command_line::add_audit_command(cli, operator_command(options, exit_code),
                                    {.get = [&options](const std::string& path) { return call(options, "GET", path); },
                                     .verify =
                                         [&options](const auto& expected) {
                                             return sqlite::verify_audit_log(StateFolder{options.state}.audit(),
                                                                             expected);
                                         },
                                     .parse_head = sqlite::parse_audit_head,
                                     .text_of = sqlite::to_string,
                                     .now = system::wall_clock,
                                     .example = "--state DIR"});
}

void add_enrolment_commands(CLI::App& cli, Options& options, int& exit_code) {
    const auto shared = operator_command(options, exit_code);
    auto name = std::make_shared<std::string>();
    // `rest` is printed behind the zones that went.
    const auto removes = [&options, shared, name](CLI::App* command, const std::string& path, const std::string& rest) {
        const auto output = command_line::add_outcome(*command);
        command->callback([&options, shared, output, name, path, rest] {
            shared.run(*output, [&]() -> Result<void> {
                const Result<Json> answer = call(options, "DELETE", path + http::encode_percent(*name));
                if (!answer) return answer.error();
                output->print_document(*answer, removed_text(*answer) + (rest.empty() ? rest : rest + *name + "\n"));
                return {};
            });
        });
    };
    CLI::App* zone = cli.add_subcommand("zone", "zones that are enrolled here");
    zone->require_subcommand(1);
    const auto prints = [&options, shared](CLI::App* command,
                                           listing::Listing (*rows_of)(const codec::EnrolmentsView&)) {
        const auto output = std::make_shared<command_line::Output>(command_line::Output::Kind::kList);
        output->add_to(*command, rows_of({}));
        command->callback([&options, shared, output, rows_of] {
            shared.run(*output, [&]() -> Result<void> {
                const Result<Json> answer = call(options, "GET", "/v1/enrolments");
                if (!answer) return answer.error();
                shared.print(*output, rows_of(codec::decode_enrolments(*answer)), *answer);
                return {};
            });
        });
    };
    CLI::App* zones =
        zone->add_subcommand("list",
                             "all that may come here, also those that are away: name, organisation, live or away, "
                             "address\n\nExample: zbs-registry zone list --state DIR");
    prints(zones, zones_of);
    CLI::App* remove_zone = zone->add_subcommand(
        "remove",
        "take a zone out: it is listed no more and gets no answer from now on; it comes back by a new token "
        "only\n\nExample: zbs-registry zone remove org-a-one --state DIR");
    remove_zone->add_option("NAME", *name, "the zone")->required()->check(command_line::name_of("a zone"));
    removes(remove_zone, "/v1/enrolments/", "");
    CLI::App* organisation = cli.add_subcommand("organisation", "organisations whose bundles are kept here");
    organisation->require_subcommand(1);
    CLI::App* organisations = organisation->add_subcommand(
        "list",
        "name, number of its zones, fingerprint of its bundle\n\nExample: zbs-registry organisation "
        "list --state DIR");
    prints(organisations, organisations_of);
    CLI::App* remove = organisation->add_subcommand(
        "remove",
        "forget an organisation's bundle, with all its zones and open tokens; it may come back with another "
        "bundle\n\nExample: zbs-registry organisation remove org-a --state DIR");
    remove->add_option("NAME", *name, "the organisation")->required()->check(command_line::name_of("an organisation"));
    removes(remove, "/v1/organisations/", "removed organisation ");
}

}  // namespace zbs::registry_program
