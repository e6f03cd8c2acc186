#include "services/common/codec/message_codec.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/records/record_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/node_messages.hpp"

namespace zbs::codec {
namespace {
using namespace zbs::test;

/// A message as the tests below see it: one full sample, and reading that gives the written form back.
struct Message {
    std::string name;
    Json sample;
    std::function<Result<Json>(const Json&)> rewrite;
    std::function<Result<void>(const Json&)> read;
    bool gives_back_value;
};
void PrintTo(const Message& message, std::ostream* out) { *out << message.name; }

template <class Value, class Decode, class Encode>
Message message(const char* name, const Value& value, Decode decode, Encode write) {
    // By way of the text, as on the wire.
    const Json sample = *parse(dump(write(value)));
    const Result<Value> back = decode(sample);
    return {name, sample,
            [decode, write](const Json& json) -> Result<Json> {
                const Result<Value> read = decode(*parse(dump(json)));
                if (!read) return read.error();
                return parse(dump(write(*read)));
            },
            [decode](const Json& json) -> Result<void> {
                const Result<Value> read = decode(json);
                if (!read) return read.error();
                return {};
            },
            back&&* back == value};
}
template <class Value, class Decode>
Message message(const char* name, const Value& value, Decode decode) {
    return message(name, value, decode, [](const Value& v) { return encode(v); });
}

/// An offer that can be compared.
struct SampleOffer : EntryOffer {
    bool operator==(const SampleOffer& other) const { return code == other.code && entry == other.entry; }
};
Result<SampleOffer> decode_sample_offer(const Json& json) {
    Result<EntryOffer> offer = decode_entry_offer(json);
    if (!offer) return offer.error();
    return SampleOffer{*std::move(offer)};
}

/// A start that can be compared.
struct SampleStep : StepSpec {
    bool operator==(const SampleStep& other) const {
        return step_id == other.step_id && argv == other.argv && environment == other.environment &&
               directory == other.directory && files == other.files && account == other.account &&
               shares == other.shares && walltime == other.walltime && inputs == other.inputs &&
               folder_bytes == other.folder_bytes && grace == other.grace && is_launcher == other.is_launcher;
    }
};
Result<SampleStep> decode_sample_step(const Json& json) {
    Result<StepSpec> spec = decode_step_spec(json);
    if (!spec) return spec.error();
    return SampleStep{*std::move(spec)};
}

ApplicationSummary whole_summary() {
    ApplicationSummary row = summary_of(some_application());
    row.ended = row.started;
    row.expected_start = time_from_microseconds(15);
    row.waits_for = "turn";
    row.results_left_out = 2;
    return row;
}

const std::vector<Message>& all_messages() {
    static const std::vector<Message> all = {
        message("Model", some_model(), [](const Json& j) { return decode_model(j); }),
        message("TaskGraph", ring_graph(3), [](const Json& j) { return decode_task_graph(j, ""); }),
        message("Link", Link{0.5, 1e6}, [](const Json& j) { return decode_link(j, ""); }),
        message("CapacityRequest", some_capacity_request(), decode_capacity_request),
        message("Capacity", some_capacity(), decode_capacity),
        message("PartRequest", some_part_request(), decode_part_request),
        message("PartStatus", some_part_status(), [](const Json& j) { return decode_part_status(j); }),
        message("Commit", std::uint64_t{INT64_MAX}, decode_commit, encode_commit),
        message("LaunchRequest", some_launch(), decode_launch_request),
        message("SrunLaunchRequest", some_srun_launch(), decode_launch_request),
        message("ApplicationRequest", some_application_request(), decode_application_request),
        message("ApplicationPlan", some_plan(), [](const Json& j) { return decode_application_plan(j); }),
        message("ApplicationStatus", some_application_status(),
                [](const Json& json) { return decode_application_status(json); }),
        message("ZoneEntry", some_entry(), [](const Json& j) { return decode_zone_entry(j); }),
        message("ZonePage", ZonePage{{some_signed_text(), some_signed_text()}, {}}, decode_zone_page),
        message("ZonePageWithLeases",
                ZonePage{{some_signed_text(), some_signed_text()}, "b", {std::chrono::seconds{7}, Duration{1}}},
                decode_zone_page),
        message("SignedText", some_signed_text(), [](const Json& j) { return decode_signed_text(j); }),
        message("DelegatedPartRequest", some_delegated_part_request(), decode_part_request),
        message("EntryOffer", SampleOffer{{"code", some_signed_text()}}, decode_sample_offer),
        message("ZoneLease", ZoneLease{"beta-one", std::chrono::seconds{40}}, decode_zone_lease),
        message("ContestedZoneLease",
                ZoneLease{"beta-one", std::chrono::seconds{40},
                          RivalClaim{"spiffe://org-b/zone/beta-one", "https://copy:1", std::chrono::seconds{3}}},
                decode_zone_lease),
        message("EnrolledZone", some_enrolled_zone(), decode_enrolled_zone),
        message("EnrolmentRight", some_enrolment_right(), decode_enrolment_right),
        message("Member", some_member(), decode_member),
        message("Block", some_block(), decode_block),
        message("TrustedOrganisation", some_trusted_organisation(), decode_trusted_organisation),
        message("TrustStatement", some_trust_statement(), decode_trust_statement),
        message("EnrolmentRequest", some_enrolment_request(), decode_enrolment_request),
        message("EnrolmentAnswer", some_enrolment_answer(), decode_enrolment_answer),
        message("Delegation", some_delegation(), decode_delegation),
        message("PeeringRequest", PeeringRequest{"beta-one", "beta", "http://localhost:1", 3}, decode_peering_request),
        message("PeeringAnswer", PeeringAnswer{"beta-one", "beta", PeeringState::kRequested, "wait"},
                decode_peering_answer),
        message("Peer", some_peer(), decode_peer),
        message("PartRecord", some_part_record(), decode_part_record),
        message("ProfileRow", some_profile_row(), [](const Json& j) { return decode_profile_row(j); }),
        message("ProfileRows", std::vector{some_profile_row()}, decode_profile_rows),
        message("ProfileImport", some_profile_import(),
                [](const Json& json) { return decode_profile_import(json, {}); }),
        message("ApplicationSummary", summary_of(some_application()), decode_application_summary),
        message("ApplicationSummaryWhole", whole_summary(), decode_application_summary),
        message("NodeStatus", some_node_status(), decode_node_status),
        message("NodeRegistration", some_node_registration(), decode_node_registration),
        message("NodeLease", NodeLease{"node-1", std::chrono::seconds{40}}, decode_node_lease),
        message("ProbeRequest", ProbeRequest{"node-2", "https://127.0.0.1:4001"}, decode_probe_request),
        message("ProbeReport", ProbeReport{"node-2", Duration{150}, 262'144, Duration{6'000}, Duration{90}},
                decode_probe_report),
        message("StepSpec", SampleStep{some_step_spec()}, decode_sample_step),
        message("StepStop", Duration{1'500'000}, decode_step_stop, encode_step_stop),
        message("StepPage", StepPage{7, {some_running_step(), some_exited_step()}}, decode_step_page),
        message("StepFiles", std::vector<StepFile>{{"stdout", 1}, {"stderr", 0}, {"run", 2, {}, false, true}},
                decode_step_files),
        message("StepRemoval", StepRemoval{3, true}, decode_step_removal),
        message("SliceColumn", some_slice_column(), decode_slice_column),
        message("ColumnOfShares", some_column_of_shares(), decode_slice_column),
        message("StateEvent", some_event(), decode_state_event),
        message("PartEvent", some_part_event(), decode_state_event),
        message("ShareTable", some_share_table(), decode_share_table),
    };
    return all;
}

class MessageTest : public testing::TestWithParam<Message> {};
INSTANTIATE_TEST_SUITE_P(, MessageTest, testing::ValuesIn(all_messages()),
                         [](const auto& param_info) { return param_info.param.name; });

/// Pointers to all values inside `json`, itself first.
void collect(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& found) {
    found.push_back(at);
    if (json.is_object()) {
        for (auto it = json.begin(); it != json.end(); ++it) collect(*it, at / it.key(), found);
    } else if (json.is_array()) {
        for (std::size_t i = 0; i < json.size(); ++i) collect(json[i], at / i, found);
    }
}
std::vector<Json::json_pointer> places(const Json& json) {
    std::vector<Json::json_pointer> found;
    collect(json, Json::json_pointer(), found);
    return found;
}

TEST_P(MessageTest, ComesBackEqual) {
    EXPECT_TRUE(GetParam().gives_back_value);
    const Result<Json> again = GetParam().rewrite(GetParam().sample);
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(*again, GetParam().sample);
}

TEST_P(MessageTest, UnknownFieldsAreRefusedAtEveryLevel) {
    int objects = 0;
    for (const Json::json_pointer& at : places(GetParam().sample)) {
        Json json = GetParam().sample;
        if (!json[at].is_object() || at.to_string().ends_with("/environment")) continue;
        ++objects;
        json[at]["zz"] = 1;
        const Result<Json> read = GetParam().rewrite(json);
        ASSERT_FALSE(read) << at.to_string();
        const std::string pointer = at.to_string() + "/zz";
        // Records are not sent: their parts name the place from their own top.
        if (GetParam().name == "PartRecord") continue;
        EXPECT_EQ(read.error(), invalid("is not a field of this message", pointer));
    }
    EXPECT_GT(objects, 0);
}

TEST_P(MessageTest, AMissingFieldIsNamedUnlessItIsOptional) {
    const std::set<std::string> optional = {"/complete",
                                            "/groups",
                                            "/inputs",
                                            "/folder_bytes",
                                            "/executable",
                                            "/staging",
                                            "/file_system",
                                            "/account",
                                            "/code",
                                            "/delegation",
                                            "/revoked_us",
                                            "/ended_us",
                                            "/leased_until_us",
                                            "/left_s",
                                            "/rival",
                                            "/condition",
                                            "/next",
                                            "/exit_code",
                                            "/plan",
                                            "/profile",
                                            "/model",
                                            "/environment",
                                            "/walltime_s",
                                            "/grace_s",
                                            "/is_launcher",
                                            "/mapper",
                                            "/seed",
                                            "/zones",
                                            "/use_profile",
                                            "/priority",
                                            "/share",
                                            "/partition",
                                            "/overcommit",
                                            "/max_overcommit",
                                            "/shares",
                                            "/weights",
                                            "/work",
                                            "/without",
                                            "/windows",
                                            "/start_in_s",
                                            "/starts_in_s",
                                            "/start_us",
                                            "/started_us",
                                            "/expected_start_us",
                                            "/queue_start_us",
                                            "/waits_for",
                                            "/results_left_out",
                                            "/starts_at_us",
                                            "/replaces",
                                            "/ready",
                                            "/events",
                                            "/crossing_bytes",
                                            "/crossing_bytes_block",
                                            "/crossing_bytes_round_robin",
                                            "/learned",
                                            "/digest",
                                            "/predicted_s",
                                            "/measured_s",
                                            "/error",
                                            "/usage",
                                            "/owner",
                                            "/cancelled_by",
                                            "/part",
                                            "/others",
                                            "/directory"};
    int required = 0;
    for (const Json::json_pointer& at : places(GetParam().sample)) {
        if (at.empty() || !GetParam().sample[at.parent_pointer()].is_object() ||
            at.parent_pointer().to_string().ends_with("/environment"))
            continue;
        Json json = GetParam().sample;
        json[at.parent_pointer()].erase(at.back());
        const Result<Json> read = GetParam().rewrite(json);
        if (read) {
            const bool imported = at.back() == "application" && GetParam().name.starts_with("ProfileRow");
            const bool of_a_job = at.back() == "name" && GetParam().name.starts_with("Application");
            const bool made_by_the_zone = at.back() == "id" && GetParam().name == "ProfileImport";
            const bool of_the_registry = at.back() == "categories" && GetParam().name == "Peer";
            EXPECT_TRUE(optional.contains("/" + at.back()) || imported || of_a_job || made_by_the_zone ||
                        of_the_registry)
                << at.to_string() << " may be left out";
            continue;
        }
        ++required;
        if (GetParam().name == "PartRecord") continue;
        EXPECT_EQ(read.error().pointer, at.to_string()) << read.error();
    }
    EXPECT_GT(required, 0);
}

TEST_P(MessageTest, AnotherKindOfValueIsRefusedEverywhere) {
    for (const Json::json_pointer& at : places(GetParam().sample)) {
        for (const Json& other :
             {Json(nullptr), Json("?"), Json(-1), Json(0.5), Json(true), Json::array({1}), Json{{"a", 1}}}) {
            const Json& value = GetParam().sample[at];
            const bool same_kind = value.type() == other.type() || (value.is_number() && other.is_number());
            if (same_kind) continue;
            Json json = GetParam().sample;
            json[at] = other;
            const Result<void> read = GetParam().read(json);
            ASSERT_FALSE(read) << at.to_string() << " may be " << other;
            EXPECT_FALSE(read.error().message.empty());
        }
    }
}

Json patched(const std::string& name, const char* pointer, const Json& value) {
    for (const Message& m : all_messages()) {
        if (m.name != name) continue;
        Json json = m.sample;
        json[Json::json_pointer(pointer)] = value;
        return json;
    }
    ADD_FAILURE() << "no message " << name;
    return {};
}
Result<Json> rewrite(const std::string& name, const Json& json) {
    for (const Message& m : all_messages()) {
        if (m.name == name) return m.rewrite(json);
    }
    return invalid("no such message");
}
/// Numbers as the parser of a text makes them: those from 0 on have no sign.
Json as_parsed(Json json) {
    if (json.is_number_integer() && json >= 0) return json.get<std::uint64_t>();
    if (json.is_structured())
        for (Json& item : json) item = as_parsed(std::move(item));
    return json;
}
/// Of a value of megabytes, which would cost seconds as a text.
Result<void> read(const std::string& name, const Json& json) {
    for (const Message& m : all_messages()) {
        if (m.name == name) return m.read(as_parsed(json));
    }
    return invalid("no such message");
}
std::string letters(std::size_t n) { return std::string(n, 'a'); }
Json strings(std::size_t n, const std::string& text = "a") { return Json(std::vector<std::string>(n, text)); }
Json variables(int n) {
    Json json = Json::object();
    for (int i = 0; i < n; ++i) json["V" + std::to_string(i)] = "";
    return json;
}

TEST(ProfileRow, NamesCallsThatWereNotSeen) {
    ProfileRow row = some_profile_row();
    row.profile.unseen = {{"MPI_Psend_init", 4}};
    Json json = encode(row);
    EXPECT_EQ(decode_profile_row(json).value(), row);
    json["unseen"]["MPI_Psend_init"] = 0;
    EXPECT_EQ(decode_profile_row(json).error().pointer, "/unseen/MPI_Psend_init");
}

struct Bound {
    const char* message;
    const char* pointer;
    Json last_good;
    Json first_bad;
};
TEST(MessageLimits, HoldAtTheLimitAndBreakOneOver) {
    const Json proxy = {{"id", 0}, {"machine", "m"}}, option = {{"name", "n"}, {"value", "v"}},
               other = {{"processors", 1}, {"walltime_s", 60}};
    const std::vector<Bound> bounds = {
        {"CapacityRequest", "/processors", limits::kMaxRanks, limits::kMaxRanks + 1},
        {"CapacityRequest", "/processors", 1, 0},
        {"CapacityRequest", "/walltime_s", limits::kMaxWalltimeSeconds, limits::kMaxWalltimeSeconds + 1},
        {"CapacityRequest", "/zones", strings(limits::kMaxZonesInRegistry), strings(limits::kMaxZonesInRegistry + 1)},
        {"CapacityRequest", "/others", std::vector<Json>(64, other), std::vector<Json>(65, other)},
        {"CapacityRequest", "/others/0/walltime_s", 0, -1},
        {"Capacity", "/others/0/largest_machine", 1, 2},
        {"Capacity", "/largest_machine", 3, 4},
        {"Capacity", "/windows/0/largest_machine", 4, 5},
        {"Capacity", "/windows/1/after_s", 5.5, 5},
        {"Capacity", "/windows/0/speed_sum", 0.1, 0},
        {"PartRequest", "/start_in_s", limits::kMaxWalltimeSeconds, limits::kMaxWalltimeSeconds + 1},
        {"Capacity", "/processors", 10'000'000, 10'000'001},
        {"PartRequest", "/ranks/1", limits::kMaxRanks - 1, limits::kMaxRanks},
        {"PartRequest", "/ranks", Json::array({7, 8}), Json::array({8, 8})},
        {"PartRequest", "/home", letters(64), letters(65)},
        {"PartRequest", "/priority", kMaxPriority, kMaxPriority + 1},
        {"PartRequest", "/priority", 0, -1},
        {"PartRequest", "/share", kMaxShare, kMaxShare + 1},
        {"PartRequest", "/partition", letters(64), letters(65)},
        {"ApplicationRequest", "/partition", "gpu", "GPU"},
        {"PartRequest", "/share", kMinShare, kMinShare - 1},
        {"CapacityRequest", "/share", kMaxShare, 100},
        {"CapacityRequest", "/staging/largest", 7, 8},
        {"CapacityRequest", "/staging/bytes", 5, 4},
        {"PartRequest", "/staging/bytes", (limits::kMaxStagedMiB << 20) * 256, (limits::kMaxStagedMiB << 20) * 256 + 1},
        {"PartRequest", "/staging/file_system", letters(128), letters(129)},
        {"ApplicationRequest", "/priority", kMaxPriority, "high"},
        {"ApplicationRequest", "/comment", letters(200), letters(201)},
        {"ApplicationRequest", "/comment", "two parts, \xc3\xa4", "two\nlines"},
        {"ApplicationRequest", "/comment", "x", ""},
        {"ApplicationRequest", "/share", kMinShare, 0},
        {"ApplicationRequest", "/overcommit", limits::kMaxOvercommit, limits::kMaxOvercommit + 1},
        {"ApplicationRequest", "/overcommit", 1, 0},
        {"PartRequest", "/overcommit", limits::kMaxOvercommit, limits::kMaxOvercommit + 1},
        {"Capacity", "/max_overcommit", limits::kMaxOvercommit, limits::kMaxOvercommit + 1},
        {"Capacity", "/max_overcommit", 1, 0},
        {"ApplicationRequest", "/grace_s", 3600, 3601},
        {"ApplicationRequest", "/grace_s", 0, -1},
        {"PartRequest", "/grace_s", 3600, 3600.5},
        {"PartStatus", "/grace_s", 3600, 3601},
        {"PartStatus", "/grace_s", 0, -1},
        {"CapacityRequest", "/grace_s", 0, "30s"},
        {"PartRequest", "/seed", INT64_MAX, std::uint64_t{INT64_MAX} + 1},
        {"PartRequest", "/walltime_s", 1, 0.999},
        {"PartStatus", "/exit_code", 255, 256},
        {"PartStatus", "/exit_code", 0, -1},
        {"PartStatus", "/reason", letters(4096), letters(4097)},
        {"Commit", "/token", 1, 0},
        {"LaunchRequest", "/operation", letters(64), letters(65)},
        {"LaunchRequest", "/operation", "A-z9", "A_z9"},
        {"LaunchRequest", "/operation", "a", ""},
        {"LaunchRequest", "/proxies", Json::array({proxy}), Json::array()},
        {"LaunchRequest", "/options", std::vector<Json>(64, option), std::vector<Json>(65, option)},
        {"LaunchRequest", "/options/0/value", letters(limits::kMaxOptionBytes), letters(limits::kMaxOptionBytes + 1)},
        {"LaunchRequest", "/launcher", "openmpi", "ssh"},
        {"SrunLaunchRequest", "/launcher", "srun-pmix", "openmpi"},
        {"SrunLaunchRequest", "/program/argv", strings(limits::kMaxArguments), Json::array()},
        {"SrunLaunchRequest", "/program/directory", "/", "work"},
        {"ApplicationRequest", "/launcher", "srun-pmix", "srun"},
        {"ApplicationRequest", "/argv", strings(limits::kMaxArguments), strings(limits::kMaxArguments + 1)},
        {"ApplicationRequest", "/argv", strings(1, letters(limits::kMaxArgumentBytes)),
         strings(1, letters(limits::kMaxArgumentBytes + 1))},
        {"ApplicationRequest", "/argv", strings(1), strings(1, "")},
        {"ApplicationRequest", "/argv", strings(1), Json::array()},
        {"ApplicationRequest", "/directory", "/" + letters(limits::kMaxPathBytes - 1),
         "/" + letters(limits::kMaxPathBytes)},
        {"ApplicationRequest", "/directory", "/", "relative"},
        {"ApplicationRequest", "/environment", variables(limits::kMaxEnvironment),
         variables(limits::kMaxEnvironment + 1)},
        {"ApplicationRequest", "/environment", Json{{"A", letters(1024 * 1024 - 1)}},
         Json{{"A", letters(1024 * 1024)}}},
        {"ApplicationRequest", "/environment", Json{{"A", "="}}, Json{{"A=", ""}}},
        {"ApplicationRequest", "/environment", Json::object(), Json{{"", ""}}},
        {"ApplicationRequest", "/environment", Json{{"OMP_PLACES", "cores"}}, Json{{"PMI_RANK", "7"}}},
        {"ApplicationRequest", "/walltime_s", 1, 0.999},
        {"ApplicationRequest", "/walltime_s", limits::kMaxWalltimeSeconds, limits::kMaxWalltimeSeconds + 1},
        {"ApplicationRequest", "/ranks", 4, 5},  // the model has 4
        {"ApplicationPlan", "/round", 1000, 1001},
        {"ZoneEntry", "/name", letters(64), letters(65)},
        {"ZoneEntry", "/name", "0.a_b-c", ".a"},
        {"ZoneEntry", "/name", "a", "A"},
        {"ZoneEntry", "/contact", letters(256), letters(257)},
        {"ZoneEntry", "/categories", strings(32), strings(33)},
        {"ZoneEntry", "/categories", strings(1, letters(2048)), strings(1, letters(2049))},
        {"ZoneEntry", "/lease_s", 3600, 3601},
        {"ZoneEntry", "/interface_version", 1, 0},
        {"ZoneEntry", "/url", "http://" + letters(505), "http://" + letters(506)},
        {"ZoneEntry", "/url", "http://a:1", "http://a:1/x"},
        {"ZoneEntry", "/url", "https://[::1]:1", "https://u@a"},
        {"ZoneEntry", "/url", "http://a", "http://"},
        {"ZoneEntry", "/url", "http://a", "ftp://a"},
        {"SignedText", "/text", letters(limits::kMaxSignedTextBytes), letters(limits::kMaxSignedTextBytes + 1)},
        {"SignedText", "/chain", letters(limits::kMaxChainBytes), letters(limits::kMaxChainBytes + 1)},
        {"SignedText", "/signature", letters(limits::kMaxSignatureBytes), letters(limits::kMaxSignatureBytes + 1)},
        {"DelegatedPartRequest", "/delegation/chain", letters(limits::kMaxChainBytes),
         letters(limits::kMaxChainBytes + 1)},
        {"EntryOffer", "/code", letters(64), letters(65)},
        {"ZoneEntry", "/standing", "left", "gone"},
        {"ZoneEntry", "/issued_us", 0, -1},
        {"ZoneEntry", "/bundle", letters(limits::kMaxBundleBytes), letters(limits::kMaxBundleBytes + 1)},
        {"ZoneLease", "/lease_s", 3600, 3601},
        {"Peer", "/categories", strings(32), strings(33)},
        {"Peer", "/condition/state", "refuses us", "dead"},
        {"Peer", "/condition/clock_ahead_s", -75.5, "slow"},
        {"ContestedZoneLease", "/rival/age_s", 3600, 3601},
        {"ContestedZoneLease", "/rival/url", "https://h:1", "ftp://h:1"},
        {"Member", "/groups", strings(limits::kMaxGroups), strings(limits::kMaxGroups + 1)},
        {"Member", "/certificates/0/serial", "0f", "0F"},
        {"Member", "/certificates/0/serial", "0", ""},
        {"TrustStatement", "/revocations", letters(limits::kMaxRevocationBytes),
         letters(limits::kMaxRevocationBytes + 1)},
        {"TrustStatement", "/blocked", strings(limits::kMaxBlocks), strings(limits::kMaxBlocks + 1)},
        {"TrustStatement", "/blocked", strings(limits::kMaxBlocks, letters(256)),
         strings(limits::kMaxBlocks, letters(257))},
        {"Member", "/groups", strings(limits::kMaxGroups, letters(64)), strings(limits::kMaxGroups, letters(65))},
        {"EnrolmentRequest", "/request", letters(limits::kMaxRequestBytes), letters(limits::kMaxRequestBytes + 1)},
        {"EnrolmentRequest", "/code", letters(64), letters(65)},
        {"Model", "/compute/0", 1e12, 1.1e12},
        {"Model", "/edges/0/2", 1e21, 1.1e21},
        {"Link", "/bandwidth_Bps", 1e-9, 0},
        {"NodeRegistration", "/url", "https://" + letters(1'016), "https://" + letters(1'017)},
        {"NodeRegistration", "/url", "https://a", "http://a"},
        {"NodeRegistration", "/description/processors", limits::kMaxNodeProcessors, limits::kMaxNodeProcessors + 1},
        {"NodeRegistration", "/load/cpu_available", 0, -0.5},
        {"NodeLease", "/lease_s", 3600, 3601},
        {"ProbeRequest", "/url", "https://h:1", "http://h:1"},
        {"ProbeRequest", "/node", "n", "n/m"},
        {"ProbeReport", "/bytes", limits::kMaxProbeBytes, limits::kMaxProbeBytes + 1},
        {"ProbeReport", "/bytes", 1, 0},
        {"ProbeReport", "/round_trip_us", limits::kMaxProbeMicroseconds, limits::kMaxProbeMicroseconds + 1},
        {"ProbeReport", "/transfer_us", 0, -1},
        {"ProbeReport", "/overhead_us", limits::kMaxProbeMicroseconds, limits::kMaxProbeMicroseconds + 1},
        {"StepSpec", "/argv", strings(limits::kMaxStepArguments), strings(limits::kMaxStepArguments + 1)},
        {"StepSpec", "/argv", strings(1), Json::array()},
        {"StepSpec", "/argv", strings(1, letters(limits::kMaxStepArgumentBytes)),
         strings(1, letters(limits::kMaxStepArgumentBytes + 1))},
        {"StepSpec", "/environment", std::vector<Json>(limits::kMaxStepEnvironment, option),
         std::vector<Json>(limits::kMaxStepEnvironment + 1, option)},
        {"StepSpec", "/environment/0/name", "a", ""},
        {"StepSpec", "/environment/0/value", letters(limits::kMaxStepVariableBytes),
         letters(limits::kMaxStepVariableBytes + 1)},
        {"StepSpec", "/files/0/text", letters(limits::kMaxStepFileBytes), letters(limits::kMaxStepFileBytes + 1)},
        {"StepSpec", "/shares/0", letters(64), letters(65)},
        {"StepSpec", "/shares/0", "a-1", "../a"},
        {"StepSpec", "/walltime_s", 0, -1},
        {"StepSpec", "/grace_s", 3600, 3601},
        {"StepSpec", "/is_launcher", false, 1},
        {"StepSpec", "/inputs/0/name", "in.dat", "../in.dat"},
        {"StepSpec", "/inputs/0/name", "in.dat", ".zbs-stdout"},
        {"StepSpec", "/folder_bytes", INT64_MAX, -1},
        {"StepSpec", "/inputs/0/digest", letters(64), letters(63)},
        {"StepSpec", "/inputs/0/size", limits::kMaxStagedMiB << 20, (limits::kMaxStagedMiB << 20) + 1},
        {"StepStop", "/grace_s", 3600, 3601},
        {"StepPage", "/steps/1/exit_code", 255, 256},
        {"StepPage", "/steps/0/operation", letters(64), letters(65)},
        {"StepPage", "/steps/0/work", "mixed", "sleep"},
        {"PartStatus", "/work", "computation", "compute"},
        {"StepFiles", "/files/0/name", "a/b", "a/../b"},
        {"StepFiles", "/files/0/name", ".a", "./a"},
        {"SliceColumn", "/number", 1, 0},
        {"SliceColumn", "/slice_us", limits::kMinSliceMicroseconds, limits::kMinSliceMicroseconds - 1},
        {"SliceColumn", "/slice_us", limits::kMaxSliceMicroseconds, limits::kMaxSliceMicroseconds + 1},
        {"SliceColumn", "/rows", std::vector<Json>(limits::kMaxSliceRows, Json::array()),
         std::vector<Json>(limits::kMaxSliceRows + 1, Json::array())},
        {"SliceColumn", "/rows/0", Json::array({"a", "b"}), Json::array({"a", "a"})},
        {"SliceColumn", "/rows/0", Json::array(), Json::array({"a/b"})},
        {"SliceColumn", "/fill", "none", "some"},
        {"SliceColumn", "/fillers", Json::array({"a"}), Json::array({"a", "a"})},
        {"ColumnOfShares", "/shares/2", 100, 101},
        {"ColumnOfShares", "/shares/2", 1, 0},
        {"ColumnOfShares", "/shares", Json::array({1, 2, 3}), Json::array({1, 2, 3, 4})},
        {"ShareTable", "/number", 1, 0},
        {"ShareTable", "/shares/0/weight", 10'000, 10'001},
        {"ShareTable", "/shares/0/weight", 1, 0},
        {"ShareTable", "/shares/0", Json{{"operation", "a"}, {"nice", -20}}, Json{{"operation", "a"}, {"nice", -21}}},
        {"ShareTable", "/shares/0", Json{{"operation", "a"}, {"nice", 19}},
         Json{{"operation", "a"}, {"nice", 1}, {"weight", 1}}},
        {"ShareTable", "/shares/0/operation", "c", "b"},
    };
    for (const Bound& bound : bounds) {
        const std::string what = std::string(bound.message) + bound.pointer;
        const Result<void> good = read(bound.message, patched(bound.message, bound.pointer, bound.last_good));
        EXPECT_TRUE(good) << what << ": " << (good ? Error{} : good.error());
        const Result<void> bad = read(bound.message, patched(bound.message, bound.pointer, bound.first_bad));
        ASSERT_FALSE(bad) << what << " = " << dump(bound.first_bad).substr(0, 80);
        EXPECT_EQ(bad.error().code, ErrorCode::kInvalidArgument);
    }
}

TEST(MessageWords, EveryWordIsReadAndAWrongOneNamesTheRightOnes) {
    for (const char* word : {"held", "committed", "running", "completed", "failed", "released", "expired"})
        EXPECT_TRUE(rewrite("PartStatus", patched("PartStatus", "/state", word))) << word;
    for (const char* word : {"accepted", "planned", "held", "committed", "launching", "running", "completed", "failed",
                             "cancelled", "rejected"}) {
        EXPECT_TRUE(rewrite("ApplicationStatus", patched("ApplicationStatus", "/state", word))) << word;
    }
    for (const char* word : {"none", "requested", "accepted", "rejected", "suspended"})
        EXPECT_TRUE(rewrite("Peer", patched("Peer", "/inbound", word))) << word;
    for (const char* word : {"", "Held", "held ", "accepted", "0"})
        EXPECT_FALSE(rewrite("PartStatus", patched("PartStatus", "/state", word))) << word;
    EXPECT_EQ(rewrite("Peer", patched("Peer", "/inbound", "held")).error(),
              invalid("must be one of none requested accepted rejected suspended", "/inbound"));
}

TEST(MessageIds, AreTwentySixCharactersInEitherCase) {
    EXPECT_TRUE(rewrite("PartStatus", patched("PartStatus", "/id", "01j9z3v7q0abcdefghjkmnpqrs")));
    for (const char* id : {"", "01J9Z3V7Q0ABCDEFGHJKMNPQR", "01J9Z3V7Q0ABCDEFGHJKMNPQRSS", "81J9Z3V7Q0ABCDEFGHJKMNPQRS",
                           "01J9Z3V7Q0ABCDEFGHJKMNPQRU", "01J9Z3V7Q0ABCDEFGHJKMNPQR/"}) {
        EXPECT_EQ(rewrite("PartStatus", patched("PartStatus", "/id", id)).error().pointer, "/id") << id;
    }
}

TEST(MessageCodes, AreNotEmpty) {
    EXPECT_EQ(rewrite("EnrolmentRequest", patched("EnrolmentRequest", "/code", "")).error().pointer, "/code");
}

TEST(MessageIdentity, IsAUserZoneOrOperator) {
    for (const char* uri : {"spiffe://a/user/b", "spiffe://a.b-c_0/zone/9", "spiffe://a/operator/b"})
        EXPECT_TRUE(rewrite("CapacityRequest", patched("CapacityRequest", "/user", uri))) << uri;
    for (const char* uri :
         {"", "anonymous", "spiffe://a/user/", "spiffe:///user/b", "spiffe://a/admin/b", "spiffe://a/user/b/c",
          "spiffe://A/user/b", "spiffe://a/user/b ", "http://a/user/b", "spiffe://a/user/-b", "spiffe://a/userb"}) {
        EXPECT_EQ(rewrite("CapacityRequest", patched("CapacityRequest", "/user", uri)).error().pointer, "/user") << uri;
    }
}

TEST(ApplicationCodec, FirstWordIsAProgramAndNoOptionOfALauncher) {
    const auto read = [](const std::string& argv, const std::string& more = {}) {
        return decode_application_request(
            *parse(R"({"id":"01J9Z3V7Q0ABCDEFGHJKMNPQRS","ranks":2,"directory":"/","argv":)" + argv + more + "}"));
    };
    for (const char* argv : {R"(["-genv","X","1","/usr/bin/env"])", R"(["-configfile","/etc/passwd"])", R"(["--"])",
                             R"(["-"])", R"([":","/bin/true"])"})
        EXPECT_EQ(read(argv).error().pointer, "/argv/0") << argv;
    for (const char* argv : {R"(["/bin/true","-l",":"])", R"(["[1]"])", R"([" -x"])", R"(["a=b"])"})
        EXPECT_TRUE(read(argv)) << argv;
    for (const char* name : {"a.b", "1a", "a b", "PWD", ""})
        EXPECT_EQ(read(R"(["/bin/true"])", std::string(R"(,"environment":{")") + name + R"(":"1"})").error().pointer,
                  "/environment/" + std::string(name));
}

TEST(ApplicationRequestCodec, LeftOutFieldsHaveDefaults) {
    const auto request = decode_application_request(
        *parse(R"({"id":"01J9Z3V7Q0ABCDEFGHJKMNPQRS","ranks":2,"argv":["./a"],"directory":"/"})"));
    ASSERT_TRUE(request) << request.error();
    ApplicationRequest expected;
    expected.id = request->id;
    expected.ranks = 2;
    expected.argv = {"./a"};
    expected.directory = "/";
    expected.walltime = std::chrono::hours{1};
    expected.grace = std::chrono::seconds{30};
    EXPECT_EQ(*request, expected);
}

/// `rest`: what such a request must have besides its id.
template <class Id, class Value>
void expect_optional_id(Result<Value> (*decode)(const Json&, const Id&), const std::string& rest) {
    const auto read = [&](const std::string& id) { return decode(*parse("{" + id + rest + "}"), {some_id(9)}); };
    EXPECT_EQ(to_string(read(R"("id":"01J9Z3V7Q0ABCDEFGHJKMNPQRS",)")->id), "01J9Z3V7Q0ABCDEFGHJKMNPQRS");
    EXPECT_EQ(read("")->id.value, some_id(9));
    for (const char* bad : {R"("id":"7",)", R"("id":null,)", R"("id":"",)"})
        EXPECT_EQ(read(bad).error().pointer, "/id") << bad;
}

TEST(NewIds, AreThoseOfTheRequestOrElseTheGivenOnes) {
    expect_optional_id(decode_new_application, R"("ranks":2,"argv":["./a"],"directory":"/")");
    expect_optional_id(decode_profile_import, R"("argv":["/a"],"model":)" + dump(encode(some_model())));
    expect_optional_id(decode_new_delegation, R"("application":"01J9Z3V7Q0ABCDEFGHJKMNPQRT")");
    EXPECT_EQ(decode_application_request(*parse(R"({"ranks":2,"argv":["./a"],"directory":"/"})")).error().pointer,
              "/id");
}

TEST(ApplicationView, NeverShowsEnvironmentOrModel) {
    const Json view = encode_view(some_application());
    EXPECT_FALSE(view.contains("environment"));
    EXPECT_FALSE(view.contains("model"));
    EXPECT_EQ(view["zones"], Json::array({"beta-one"}));
    EXPECT_EQ(view["parts"][0].contains("token"), false) << "the fencing token is between zones";
}

/// What an operator or a user is shown holds no secret, not even a digest of one.
TEST(Views, HoldNoKeysAndNoCodes) {
    const Json member = encode_view(some_member());
    EXPECT_FALSE(member.contains("code_hash"));
    EXPECT_FALSE(member.contains("code_request"));
    EXPECT_EQ(member["code_pending"], false) << "it was used";
    const Json delegation = encode_view(some_delegation());
    EXPECT_FALSE(delegation.contains("key"));
    EXPECT_FALSE(delegation.contains("chain"));
    EXPECT_EQ(delegation["signed"], true);
}

TEST(Wishes, HaveDefaultsAndLimits) {
    const auto read = [](const char* text) { return *parse(text); };
    EXPECT_EQ(decode_new_token(read("{}"))->lifetime, std::chrono::hours{24});
    EXPECT_EQ(decode_new_token(read(R"({"organisation":"beta","lifetime_s":60})"))->organisation, "beta");
    for (const char* bad : {R"({"organisation":""})", R"({"organisation":"Beta"})", R"({"lifetime_s":2592001})",
                            R"({"lifetime_s":-1})", R"({"zone":"b"})"})
        EXPECT_FALSE(decode_new_token(read(bad))) << bad;
    EXPECT_TRUE(decode_new_user(read(R"({"name":"ana"})"))->groups.empty());
    for (const char* bad : {"{}", R"({"name":"Ana"})", R"({"name":"ana","groups":"chem"})"})
        EXPECT_FALSE(decode_new_user(read(bad))) << bad;
    EXPECT_EQ(decode_new_block(read(R"({"subject":"gamma"})"))->reason, "");
    EXPECT_FALSE(decode_new_block(read(R"({"reason":"none"})")));
    EXPECT_EQ(decode_new_delegation(read("{}"), {})->application, "");
    EXPECT_EQ(decode_new_delegation(read(R"({"application":"01j9z3v7q0abcdefghjkmnpqrt"})"), {})->application,
              "01J9Z3V7Q0ABCDEFGHJKMNPQRT")
        << "ids are compared as texts later: one form";
    EXPECT_EQ(*decode_proxy_chain(read(R"({"chain":"x"})")), "x");
    EXPECT_EQ(decode_proxy_chain(read("{}")).error().pointer, "/chain");
}

/// `some_part_record` with the launch of a part on a thousand machines, whose names are as long as names can be.
TEST(PartRecords, OfManyMachinesCanBeReadBack) {
    PartRecord record = some_part_record();
    record.machines.assign(1'000, MachineName(std::string(64, 'm')));
    const Result<PartRecord> read = decode_part_record(*parse(dump(encode(record))));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, record);
}

/// A reason may come from a peer, or hold what a peer said; a record that cannot be read back locks a zone out of its
/// store.
TEST(Reasons, OfAnyLengthAndBytesCanBeReadBack) {
    for (const std::string& reason :
         {std::string(100'000, 'x'), std::string(4096, '\xff'), std::string(4095, 'x') + "ä"}) {
        PartRecord record = some_part_record();
        record.status.reason = reason;
        EXPECT_TRUE(decode_part_record(*parse(dump(encode(record)))));
        ApplicationStatus status = some_application_status();
        status.plan->zones[0].reason = reason;
        EXPECT_TRUE(decode_application_status(*parse(dump(encode(status)))));
        Peer peer = some_peer();
        peer.reason = reason;
        EXPECT_TRUE(decode_peer(*parse(dump(encode(peer)))));
    }
}

TEST(PeeringRecordCodec, AHistoryHasANumberForEachKindOfEvent) {
    const PeeringRecord record{.organisation = "beta", .fingerprint = "sha256:1", .bundle = "ONE"};
    for (const char* list : {"weight", "count"}) {
        Json json = encode(record);
        json["history"][list].erase(0);
        EXPECT_EQ(decode_peering_record(json).error().pointer, "/history/weight") << list;
    }
}

TEST(CapacityCodec, FiguresThatContradictEachOtherAreRefused) {
    Json json = encode(some_capacity());
    json["speed_sum"] = 0;
    EXPECT_EQ(decode_capacity(json).error().pointer, "/speed_sum");
}

}  // namespace
}  // namespace zbs::codec
