#pragma once
#include <string>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/registry/domain/registry.hpp"

/// Messages between a registry and its operator. Decoders accept any value, also one of another release: a member that
/// is absent or of another type gives the default.
namespace zbs::codec {

/// An organisation whose bundle the registry keeps.
struct OrganisationRow {
    OrganisationName organisation;
    std::string fingerprint;  ///< of its bundle
    int zones = 0;            ///< that are enrolled
};
Json encode_enrolments(const std::vector<Registry::Enrolment>& zones,
                       const std::vector<OrganisationRow>& organisations);

/// What the operator is shown; `item` is the whole row, as it was sent.
struct EnrolmentsView {
    struct Zone {
        std::string zone, organisation, url;
        bool live = false;
        std::string rival_url;  ///< empty: no other scheduler claims the zone
        Json item;
    };
    struct Organisation {
        std::string organisation, fingerprint;
        std::int64_t zones = 0;
        Json item;
    };
    std::vector<Zone> zones;
    std::vector<Organisation> organisations;
};
EnrolmentsView decode_enrolments(const Json& json);

/// The zones that are enrolled no more.
Json encode_removed_zones(const std::vector<ZoneName>& zones);
std::vector<std::string> decode_removed_zones(const Json& json);

Json encode(const Registry::Invitation& invitation);
/// The token of an invitation.
std::string decode_token(const Json& json);

/// An entry that a zone has signed.
struct ZoneEntryView {
    std::string name, organisation, standing, url, contact;
};
ZoneEntryView decode_zone_entry_view(const Json& json);

}  // namespace zbs::codec
