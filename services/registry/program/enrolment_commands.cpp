// zbs-registry's commands about who may come here.
#include <CLI/CLI.hpp>
#include <iostream>

#include "services/common/codec/document_text.hpp"
#include "services/common/http/call.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {
namespace {

using codec::Json;

constexpr const char* kAsServiceSays =
    "zones and organisations, as the service says it, for programs: instants in _us since 1970";

void list_zones(const Json& answer) {
    for (const Json& row : answer.value("zones", Json::array())) {
        std::cout << row.value("zone", "") << "\t" << row.value("organisation", "") << "\t"
                  << (row.value("live", false) ? "live" : "away") << "\t" << row.value("url", "") << "\n";
    }
}

void list_organisations(const Json& answer) {
    for (const Json& row : answer.value("organisations", Json::array())) {
        std::cout << row.value("organisation", "") << "\t" << row.value("zones", 0) << " zones\t"
                  << row.value("fingerprint", "") << "\n";
    }
}

void say_removed(const Json& answer) {
    for (const Json& zone : answer.value("zones", Json::array()))
        std::cout << "removed zone " << zone.get<std::string>() << "\n";
}

}  // namespace

void add_enrolment_commands(CLI::App& cli, Options& options, int& exit_code) {
    auto name = std::make_shared<std::string>();
    const auto ask = [&options, &exit_code](const char* method, const std::string& path, auto tell) {
        const Result<Json> answer = call(options, method, path);
        if (answer)
            tell(*answer);
        else
            exit_code = fail(answer.error());
    };
    CLI::App* zone = cli.add_subcommand("zone", "zones that are enrolled here");
    zone->require_subcommand(1);
    const auto as_json = std::make_shared<bool>(false);
    const auto told = [as_json](auto text) {
        return [as_json, text](const Json& answer) {
            if (*as_json)
                std::cout << codec::document_text(answer);
            else
                text(answer);
        };
    };
    CLI::App* zones =
        zone->add_subcommand("list",
                             "all that may come here, also those that are away: name, organisation, live or away, "
                             "address\n\nExample: zbs-registry zone list --state DIR");
    zones->add_flag("--json", *as_json, kAsServiceSays);
    zones->callback([ask, told] { ask("GET", "/v1/enrolments", told(list_zones)); });
    CLI::App* remove_zone = zone->add_subcommand(
        "remove",
        "take a zone out: it is listed no more and gets no answer from now on; it comes back by a new token "
        "only\n\nExample: zbs-registry zone remove org-a-one --state DIR");
    remove_zone->add_option("NAME", *name, "the zone")->required();
    remove_zone->callback([ask, name] { ask("DELETE", "/v1/enrolments/" + http::encode_percent(*name), say_removed); });
    CLI::App* organisation = cli.add_subcommand("organisation", "organisations whose bundles are kept here");
    organisation->require_subcommand(1);
    CLI::App* organisations = organisation->add_subcommand(
        "list",
        "name, number of its zones, fingerprint of its bundle\n\nExample: zbs-registry organisation "
        "list --state DIR");
    organisations->add_flag("--json", *as_json, kAsServiceSays);
    organisations->callback([ask, told] { ask("GET", "/v1/enrolments", told(list_organisations)); });
    CLI::App* remove = organisation->add_subcommand(
        "remove",
        "forget an organisation's bundle, with all its zones and open tokens; it may come back with another "
        "bundle\n\nExample: zbs-registry organisation remove org-a --state DIR");
    remove->add_option("NAME", *name, "the organisation")->required();
    remove->callback([ask, name] {
        ask("DELETE", "/v1/organisations/" + http::encode_percent(*name), [&name](const Json& answer) {
            say_removed(answer);
            std::cout << "removed organisation " << *name << "\n";
        });
    });
}

}  // namespace zbs::registry_program
