#pragma once
#include <map>
#include <string_view>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/messages/application_summary.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/profile.hpp"
#include "services/common/messages/registry.hpp"

/// One decode_x / encode pair per message of schemas/openapi. Times are seconds on the wire; instants are
/// microseconds since the Unix epoch; enums are words; ids are their 26 characters.
namespace zbs::codec {

/// An id in a path or a field; the error names `pointer`.
template <class Id>
Result<Id> decode_id(std::string_view text, const std::string& pointer) {
    const auto id = parse_id128(text);
    if (!id) return invalid("must be an id of 26 characters (ULID)", pointer);
    return Id{*id};
}

// Capacity
Json encode(const CapacityRequest& request);
Result<CapacityRequest> decode_capacity_request(const Json& json);
Json encode(const Capacity& capacity);
Result<Capacity> decode_capacity(const Json& json);

// Parts
Json encode(const PartRequest& request);
Result<PartRequest> decode_part_request(const Json& json);
Json encode(const PartStatus& status);
Json encode(const QueueOutlook& outlook);
Result<PartStatus> decode_part_status(const Json& json, const std::string& pointer = {});
Json encode(const RankPlace& place);
Result<RankPlace> decode_rank_place(const Json& json, const std::string& pointer);
Json encode_commit(std::uint64_t token);
Result<std::uint64_t> decode_commit(const Json& json);
Json encode(const LaunchRequest& request);
Result<LaunchRequest> decode_launch_request(const Json& json);

// Applications
Json encode(const ApplicationRequest& request);
Result<ApplicationRequest> decode_application_request(const Json& json);
/// Reads a request that may leave its id out; its id is then `otherwise`.
Result<ApplicationRequest> decode_new_application(const Json& json, const ApplicationId& otherwise);
Json encode(const ApplicationPlan& plan);
Result<ApplicationPlan> decode_application_plan(const Json& json, const std::string& pointer = {});
Json encode(const ApplicationPart& part);
Result<ApplicationPart> decode_application_part(const Json& json, const std::string& pointer);
/// What is stored: everything. What a user sees is `encode_view`.
Json encode(const ApplicationStatus& status);
Result<ApplicationStatus> decode_application_status(const Json& json, const std::string& pointer = {});
/// The application as its owner sees it; never the environment or the model.
Json encode_view(const Application& application);
/// Why it is where it is: state, last plan, and what every zone was asked and answered.
Json encode_explanation(const Application& application);
/// The events of an explanation; none from a service that does not send them.
Result<std::vector<ApplicationEvent>> decode_events(const Json& json);
Json encode(const ApplicationSummary& row);
Result<ApplicationSummary> decode_application_summary(const Json& json);
/// `next` is the place that the next page starts behind; empty: this was the last.
struct ApplicationPage {
    std::vector<ApplicationSummary> rows;
    std::string next;
};
Json encode(const ApplicationPage& page);
Result<ApplicationPage> decode_application_page(const Json& json);
/// Words of states with commas between them. Errors: kInvalidArgument, at `pointer`, with the words that there are.
Result<std::vector<ApplicationState>> decode_states(std::string_view words, const std::string& pointer);
/// Where a page of a list ends, for the next one: opaque to who reads it, at most 46 characters of [0-9A-Z-], and no
/// id.
std::string encode_place(const ApplicationPlace& place);
/// Errors: kInvalidArgument, at `pointer`.
Result<ApplicationPlace> decode_place(std::string_view text, const std::string& pointer);
/// States without any are left out; those of ended applications count from `since` on.
Json encode_counts(const std::map<ApplicationState, std::size_t>& by_state, Time since);

// Profiles
Json encode(const ProfileSummary& summary);
Json encode(const ProfileRow& row);
Result<ProfileRow> decode_profile_row(const Json& json, const std::string& pointer = {});
/// `{"profiles": [...]}`
Json encode(const std::vector<ProfileRow>& rows);
Result<std::vector<ProfileRow>> decode_profile_rows(const Json& json);
Json encode(const ProfileImport& wanted);
/// `otherwise` is the id of an import that names none.
Result<ProfileImport> decode_profile_import(const Json& json, const ProfileId& otherwise);

// Registry and peering
Json encode(const ZoneEntry& entry);
Result<ZoneEntry> decode_zone_entry(const Json& json, const std::string& pointer = {});
Json encode(const SignedText& text);
Result<SignedText> decode_signed_text(const Json& json, const std::string& pointer = {});
/// `{"zones": [...]}`, as the registry lists what zones signed.
Json encode(const ZonePage& page);
Result<ZonePage> decode_zone_page(const Json& json);
/// `{"entry": ...}`, with the code of an operator where a zone is new.
struct EntryOffer {
    std::string code;
    SignedText entry;
};
Json encode(const EntryOffer& offer);
Result<EntryOffer> decode_entry_offer(const Json& json);
Json encode(const PeerCondition& condition);
Json encode(const RivalClaim& rival);
Json encode(const ZoneLease& lease);
Result<ZoneLease> decode_zone_lease(const Json& json);
Json encode(const EnrolledZone& zone);
Result<EnrolledZone> decode_enrolled_zone(const Json& json);
Json encode(const EnrolmentRight& right);
Result<EnrolmentRight> decode_enrolment_right(const Json& json);
Json encode(const PeeringRequest& request);
Result<PeeringRequest> decode_peering_request(const Json& json);
Json encode(const PeeringAnswer& answer);
Result<PeeringAnswer> decode_peering_answer(const Json& json);
Json encode(const Peer& peer);
Result<Peer> decode_peer(const Json& json);

}  // namespace zbs::codec
