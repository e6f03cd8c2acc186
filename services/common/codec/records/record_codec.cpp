#include "services/common/codec/records/record_codec.hpp"

#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/staging_codec.hpp"

namespace zbs::codec {
namespace {

std::vector<std::int32_t> read_numbers(JsonReader& in, const char* key, std::uint64_t max, const char* complaint) {
    const Json& items = in.array(key, limits::kMaxRanks);
    std::vector<std::int32_t> numbers;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        if (items[i].is_number_unsigned() && items[i].get<std::uint64_t>() <= max)
            numbers.push_back(items[i].get<std::int32_t>());
        else
            in.fail(std::string(key) + "/" + std::to_string(i), complaint);
    }
    return numbers;
}
std::vector<std::int32_t> read_processors(JsonReader& in, const char* key) {
    return read_numbers(in, key, 10'000'000, "must be a processor's number");
}
std::vector<int> read_proxies(JsonReader& in, const char* key) {
    return read_numbers(in, key, limits::kMaxRanks, "must be a proxy's number");
}

Result<PartRequest> decode_request(const Json& json, const std::string& pointer) {
    Result<PartRequest> request = decode_part_request(json);
    if (!request) return invalid(request.error().message, pointer + request.error().pointer);
    return request;
}

/// Written once the part has ended.
struct EndedRow {
    void write(Json& json, const PartRecord& record) const {
        if (is_final(record.status.state)) json["ended_us"] = to_microseconds(record.ended);
    }
    void read(JsonReader& in, PartRecord& record) const {
        record.ended = time_from_microseconds(in.integer_or("ended_us", 0, 0, INT64_MAX));
    }
};

// One field a line.
// clang-format off
constexpr auto kPartRecord = fields<PartRecord>(
    identity("home_caller", &PartRecord::home_caller),
    nested("request", &PartRecord::request, Functions{encode, decode_request}),
    nested("status", &PartRecord::status, Functions{encode, decode_part_status}),
    text("operation", &PartRecord::operation, 64),
    Field{"processors", &PartRecord::processors, kAsIs, read_processors},
    Field{"proxies", &PartRecord::proxies, kAsIs, read_proxies},
    optional(texts("machines", &PartRecord::machines, limits::kMaxRanks, 64 * limits::kMaxRanks)),
    boolean("profile", &PartRecord::profile),
    text("verdict", &PartRecord::verdict),
    text("account", &PartRecord::account, 32),
    time("starts_at_us", &PartRecord::starts_at),
    EndedRow{},
    nested("staging", &PartRecord::staging, Functions{encode, decode_staging}),
    nested("results", &PartRecord::results, Functions{encode, decode_staged_results}),
    optional(text("partition", &PartRecord::partition, 64)));
// clang-format on

constexpr std::size_t kMaxStateBytes = 32;

// One field a line.
// clang-format off
constexpr auto kStateEvent = fields<StateEvent>(
    integer("id", &StateEvent::id, 1, INT64_MAX),
    time("at_us", &StateEvent::at),
    id("application", &StateEvent::application),
    text("state", &StateEvent::state, kMaxStateBytes),
    cut_text("reason", &StateEvent::reason),
    identity("owner", &StateEvent::owner),
    id("part", &StateEvent::part));
// clang-format on

}  // namespace

Json encode(const PartRecord& record) { return kPartRecord.encode(record); }
Result<PartRecord> decode_part_record(const Json& json) { return kPartRecord.decode(json); }

Json encode_outline(const ApplicationStatus& status) {
    Json outline = encode(summary_of({{}, {}, status}));
    for (const char* of_request : {"id", "owner", "ranks", "program", "submitted_us"}) outline.erase(of_request);
    return outline;
}

Result<ApplicationSummary> decode_stored_summary(StoredSummary stored) {
    if (!stored.outline.is_object()) return invalid("not JSON");
    Json json = std::move(stored.outline);
    json["id"] = stored.id;
    json["owner"] = stored.owner;
    json["ranks"] = stored.ranks;
    json["program"] = stored.program;
    if (!stored.name.empty()) json["name"] = stored.name;
    json["submitted_us"] = stored.submitted_us;
    return decode_application_summary(json);
}

Json encode(const StateEvent& event) { return kStateEvent.encode(event); }
Result<StateEvent> decode_state_event(const Json& json) { return kStateEvent.decode(json); }

std::string event_text(const StateEvent& event) {
    return "id: " + std::to_string(event.id) + "\nevent: " + (event.part ? "part" : "application") +
           "\ndata: " + dump(encode(event)) + "\n\n";
}

}  // namespace zbs::codec
