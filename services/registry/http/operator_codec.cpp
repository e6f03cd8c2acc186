#include "services/registry/http/operator_codec.hpp"

#include "services/common/codec/json/reply_view.hpp"
#include "services/common/codec/message_codec.hpp"

namespace zbs::codec {

Json encode_enrolments(const std::vector<Registry::Enrolment>& zones,
                       const std::vector<OrganisationRow>& organisations) {
    Json zone_rows = Json::array(), organisation_rows = Json::array();
    for (const Registry::Enrolment& enrolment : zones) {
        Json row = {{"zone", enrolment.zone.name},
                    {"organisation", enrolment.zone.organisation},
                    {"url", enrolment.url},
                    {"live", enrolment.live}};
        if (enrolment.rival) row["rival"] = encode(*enrolment.rival);
        zone_rows.push_back(std::move(row));
    }
    for (const OrganisationRow& row : organisations)
        organisation_rows.push_back(
            {{"organisation", row.organisation}, {"fingerprint", row.fingerprint}, {"zones", row.zones}});
    return {{"zones", std::move(zone_rows)}, {"organisations", std::move(organisation_rows)}};
}

EnrolmentsView decode_enrolments(const Json& json) {
    EnrolmentsView view;
    const ReplyView answer(json);
    for (const Json& item : answer.array("zones")) {
        const ReplyView row(item);
        view.zones.push_back({row.text("zone"), row.text("organisation"), row.text("url"), row.boolean("live"),
                              row.object("rival").text("url"), item});
    }
    for (const Json& item : answer.array("organisations")) {
        const ReplyView row(item);
        view.organisations.push_back({row.text("organisation"), row.text("fingerprint"), row.integer("zones"), item});
    }
    return view;
}

Json encode_removed_zones(const std::vector<ZoneName>& zones) { return {{"zones", zones}}; }

std::vector<std::string> decode_removed_zones(const Json& json) { return ReplyView(json).texts("zones"); }

Json encode(const Registry::Invitation& invitation) {
    return {{"token", invitation.token}, {"expires_us", to_microseconds(invitation.expires)}};
}

std::string decode_token(const Json& json) { return ReplyView(json).text("token"); }

ZoneEntryView decode_zone_entry_view(const Json& json) {
    const ReplyView entry(json);
    return {entry.text("name"), entry.text("organisation"), entry.text("standing"), entry.text("url"),
            entry.text("contact")};
}

}  // namespace zbs::codec
