#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/codec/records/record_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/node_messages.hpp"

// Any bytes: no crash, no fault of a sanitizer; what is read is written and read back the same, for JSON itself and for
// every message; every refusal has a message. With libFuzzer this is the whole program; without, a replay over messages
// that are changed as texts and as values.

namespace {
using namespace zbs;
using codec::Json;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "json_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t accepted = 0;

template <class Decode, class Encode>
void check(const Json& json, Decode decode, Encode write) {
    const auto value = decode(json);
    if (!value) {
        require(!value.error().message.empty(), "a refusal without message");
        return;
    }
    ++accepted;
    const Json written = write(*value);
    const Result<Json> parsed = codec::parse(codec::dump(written));
    require(parsed.has_value(), "what is written is not JSON");
    const auto again = decode(*parsed);
    require(again.has_value(), "what is written cannot be read");
    require(codec::dump(write(*again)) == codec::dump(written), "a value changes on the way");
}
template <class Decode>
void check(const Json& json, Decode decode) {
    check(json, decode, [](const auto& value) { return codec::encode(value); });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<Json> json = codec::parse(text);
    if (!json) {
        require(!json.error().message.empty(), "a refusal without message");
        return 0;
    }
    const Result<Json> again = codec::parse(codec::dump(*json));
    require(again.has_value() && *again == *json, "JSON changes on the way");
    check(*json, [](const Json& j) { return codec::decode_model(j); });
    check(*json, [](const Json& j) { return codec::decode_task_graph(j, ""); });
    check(*json, codec::decode_resources);
    check(*json, codec::decode_capacity_request);
    check(*json, codec::decode_capacity);
    check(*json, codec::decode_part_request);
    check(*json, [](const Json& j) { return codec::decode_part_status(j); });
    check(*json, codec::decode_commit, codec::encode_commit);
    check(*json, codec::decode_launch_request);
    check(*json, codec::decode_application_request);
    check(*json, [](const Json& j) { return codec::decode_application_plan(j); });
    check(*json, [](const codec::Json& status) { return codec::decode_application_status(status); });
    check(*json, [](const Json& j) { return codec::decode_zone_entry(j); });
    check(*json, [](const Json& j) { return codec::decode_signed_text(j); });
    check(*json, codec::decode_zone_page);
    check(*json, codec::decode_entry_offer);
    check(*json, codec::decode_zone_lease);
    check(*json, codec::decode_enrolled_zone);
    check(*json, codec::decode_enrolment_right);
    check(*json, codec::decode_member);
    check(*json, codec::decode_block);
    check(*json, codec::decode_trusted_organisation);
    check(*json, codec::decode_trust_statement);
    check(*json, codec::decode_enrolment_request);
    check(*json, codec::decode_enrolment_answer);
    check(*json, codec::decode_delegation);
    check(*json, codec::decode_peering_request);
    check(*json, codec::decode_peering_answer);
    check(*json, codec::decode_peer);
    check(*json, codec::decode_part_record);
    check(*json, codec::decode_application_summary);
    check(*json, codec::decode_profile_rows);
    check(*json, [](const Json& j) { return codec::decode_profile_import(j, {}); });
    check(*json, codec::decode_peering_record);
    check(*json, codec::decode_peering_change);
    check(*json, codec::decode_pool_lease);
    check(*json, codec::decode_audit_page);
    check(*json, codec::decode_node_status);
    check(*json, codec::decode_node_registration);
    check(*json, codec::decode_node_lease);
    check(*json, codec::decode_probe_request);
    check(*json, codec::decode_probe_report);
    check(*json, codec::decode_step_spec);
    check(*json, codec::decode_step_stop, codec::encode_step_stop);
    check(*json, codec::decode_step_page);
    check(*json, codec::decode_step_files);
    check(*json, codec::decode_step_removal);
    check(*json, codec::decode_slice_column);
    check(*json, codec::decode_share_table);
    return 0;
}

#ifndef ZBS_LIBFUZZER
namespace {
std::vector<Json> samples() {
    using namespace zbs::test;
    const Result<ResourceGraph> resources = ResourceGraph::make(
        {Zone{.name = "a", .machines = {{"m", 2, 1.5}}}, Zone{.name = "b", .machines = {{"m", 1, 1}}}},
        {{0, 1, {0.1, 1e6}}});
    return {codec::encode(some_model()),
            codec::encode(*resources),
            codec::encode(some_capacity_request()),
            codec::encode(some_capacity()),
            codec::encode(some_part_request()),
            codec::encode(some_part_status()),
            codec::encode_commit(7),
            codec::encode(some_launch()),
            codec::encode(some_application_request()),
            codec::encode(some_plan()),
            codec::encode(some_application_status()),
            codec::encode(some_entry()),
            codec::encode(some_delegated_part_request()),
            codec::encode(ZonePage{{some_signed_text()}, "beta-one"}),
            codec::encode(codec::EntryOffer{"code", some_signed_text()}),
            codec::encode(ZoneLease{"a", std::chrono::seconds{40}}),
            codec::encode(some_enrolled_zone()),
            codec::encode(some_enrolment_right()),
            codec::encode(some_member()),
            codec::encode(some_block()),
            codec::encode(some_trusted_organisation()),
            codec::encode(some_trust_statement()),
            codec::encode(some_enrolment_request()),
            codec::encode(some_enrolment_answer()),
            codec::encode(some_delegation()),
            codec::encode(PeeringRequest{"a", "b", "http://c", 1}),
            codec::encode(PeeringAnswer{"a", "b", PeeringState::kAccepted, ""}),
            codec::encode(some_peer()),
            codec::encode(some_part_record()),
            codec::encode(summary_of(some_application())),
            codec::encode(std::vector{some_profile_row()}),
            codec::encode(some_profile_import()),
            codec::encode(PeeringRecord{.organisation = "a", .zones = {{"z", "https://z", {}}}}),
            codec::encode(PeeringChange{.verb = PeeringVerb::kAccept,
                                        .rights = {.processors = 3, .hours = std::vector<DayWindow>{{1, 2}}}}),
            codec::encode(PoolLease{"acc", {CallerKind::kUser, "a", "b"}, {}, true}),
            codec::encode(some_node_status()),
            codec::encode(some_node_registration()),
            codec::encode(NodeLease{"a", std::chrono::seconds{40}}),
            codec::encode(some_step_spec()),
            codec::encode_step_stop(Duration{1'500'000}),
            codec::encode(StepPage{7, {some_running_step(), some_exited_step()}}),
            codec::encode(std::vector<StepFile>{{"stdout", 1}}),
            codec::encode(StepRemoval{3, true}),
            codec::encode(some_slice_column()),
            codec::encode(some_column_of_shares()),
            codec::encode(some_share_table()),
            codec::encode(
                codec::AuditPage{{{3, {.who = "spiffe://a/user/b", .detail = "why"}, std::string(64, 'a')}}, {3}, 3})};
}

/// Another value in a random place.
void mutate_value(Json& json, Rng& rng) {
    Json* at = &json;
    while (at->is_structured() && !at->empty() && rng.below(4) > 0) {
        auto it = at->begin();
        std::advance(it, static_cast<std::ptrdiff_t>(rng.below(at->size())));
        at = &*it;
    }
    static const std::vector<Json> values = {nullptr,
                                             true,
                                             0,
                                             1,
                                             -1,
                                             7,
                                             255,
                                             256,
                                             1'000'000,
                                             1e30,
                                             -0.5,
                                             0.5,
                                             1e300,
                                             INT64_MAX,
                                             UINT64_MAX,
                                             "",
                                             "a",
                                             "held",
                                             std::string(70, 'x'),
                                             "/",
                                             "01J9Z3V7Q0ABCDEFGHJKMNPQRS",
                                             "spiffe://a/zone/b",
                                             Json::array(),
                                             Json::object(),
                                             Json::array({0, 1, 2, 3})};
    *at = values[rng.below(values.size())];
}

void mutate_text(std::string& text, Rng& rng) {
    static const std::vector<std::string> pieces = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    ":",
                                                    "\"",
                                                    "\\",
                                                    "\\u0000",
                                                    "\\ud800",
                                                    "null",
                                                    "1e999",
                                                    "-",
                                                    ".",
                                                    "18446744073709551616",
                                                    std::string(1, '\0'),
                                                    "\xff",
                                                    "\xc3\xa4",
                                                    "[[[[[[[[[[[[[[[[[",
                                                    "\"a\":1,",
                                                    "//",
                                                    " "};
    fuzz::mutate(text, rng, pieces, 3, 8);
}
}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<Json> messages = samples();
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        Json json = messages[rng.below(messages.size())];
        for (std::uint64_t n = rng.below(3); n > 0; --n) mutate_value(json, rng);
        std::string text = codec::dump(json);
        mutate_text(text, rng);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 20, "hardly anything was read: the inputs are no use");
    std::printf("json_fuzz: %llu inputs, all answered; %llu messages read\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted));
    return 0;
}
#endif
