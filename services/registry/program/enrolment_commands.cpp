// zbs-registry's commands about who may come here.
#include <CLI/CLI.hpp>

#include "services/common/adapters/command_line/values.hpp"
#include "services/common/http/call.hpp"
#include "services/registry/http/operator_codec.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {
namespace {

using codec::Json;

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
