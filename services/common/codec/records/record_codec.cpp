#include "services/common/codec/records/record_codec.hpp"

#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/staging_codec.hpp"

namespace zbs::codec {

Json encode(const PartRecord& record) {
    Json json = {{"home_caller", to_uri(record.home_caller)},
                 {"request", encode(record.request)},
                 {"status", encode(record.status)},
                 {"operation", record.operation},
                 {"processors", record.processors},
                 {"proxies", record.proxies},
                 {"profile", record.profile},
                 {"account", record.account}};
    if (record.verdict) json["verdict"] = *record.verdict;
    if (!record.machines.empty()) json["machines"] = record.machines;
    if (record.starts_at) json["starts_at_us"] = to_microseconds(*record.starts_at);
    if (is_final(record.status.state)) json["ended_us"] = to_microseconds(record.ended);
    if (record.staging) json["staging"] = encode(*record.staging);
    if (record.results) json["results"] = encode(*record.results);
    return json;
}

Result<PartRecord> decode_part_record(const Json& json) {
    JsonReader in(json);
    PartRecord record;
    record.home_caller = read_identity(in, "home_caller");
    Result<PartRequest> request = decode_part_request(in.object("request"));
    if (!request) return request.error();
    record.request = *std::move(request);
    Result<PartStatus> status = decode_part_status(in.object("status"));
    if (!status) return status.error();
    record.status = *std::move(status);
    record.operation = in.text("operation", 64);
    const Json& processors = in.array("processors", limits::kMaxRanks);
    for (std::size_t i = 0; i < processors.size(); ++i) {
        if (!processors[i].is_number_unsigned() || processors[i].get<std::uint64_t>() > 10'000'000) {
            in.fail("processors/" + std::to_string(i), "must be a processor's number");
            break;
        }
        record.processors.push_back(processors[i].get<std::int32_t>());
    }
    const Json& proxies = in.array("proxies", limits::kMaxRanks);
    for (std::size_t i = 0; i < proxies.size(); ++i) {
        if (!proxies[i].is_number_unsigned() || proxies[i].get<std::uint64_t>() > limits::kMaxRanks) {
            in.fail("proxies/" + std::to_string(i), "must be a proxy's number");
            break;
        }
        record.proxies.push_back(proxies[i].get<int>());
    }
    if (in.has("machines")) record.machines = in.texts("machines", limits::kMaxRanks, 64);
    record.profile = in.boolean("profile");
    if (in.has("verdict")) record.verdict = in.text_or("verdict", "", 4096);
    record.account = in.text("account", 32);
    if (in.has("starts_at_us")) record.starts_at = time_from_microseconds(in.integer("starts_at_us", 0, INT64_MAX));
    record.ended = time_from_microseconds(in.integer_or("ended_us", 0, 0, INT64_MAX));
    if (in.has("staging")) {
        Result<Staging> staging = decode_staging(in.object("staging"), in.pointer_of("staging"));
        if (!in.ok()) return in.error();
        if (!staging) return staging.error();
        record.staging = *std::move(staging);
    }
    if (in.has("results")) {
        Result<StagedResults> results = decode_staged_results(in.object("results"), in.pointer_of("results"));
        if (!in.ok()) return in.error();
        if (!results) return results.error();
        record.results = *std::move(results);
    }
    return in.finish(std::move(record));
}

}  // namespace zbs::codec
