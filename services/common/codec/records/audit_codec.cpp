#include "services/common/codec/records/audit_codec.hpp"

#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kHashDigits = 64;

/// `printable_text` may turn each byte into an escape of some more.
constexpr std::size_t kMaxField = 4 * limits::kMaxAuditTextBytes;

Result<AuditRecord> decode_record(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    AuditRecord record;
    record.number = static_cast<std::uint64_t>(in.integer("number", 1, INT64_MAX));
    record.entry = {time_from_microseconds(in.integer("at_us", INT64_MIN, INT64_MAX)),
                    in.text("who", kMaxField),
                    in.text("action", kMaxField),
                    in.text("object", kMaxField),
                    in.text("decision", kMaxField),
                    in.text("request_id", kMaxField),
                    in.text("detail", kMaxField)};
    record.hash = in.text("hash", kHashDigits);
    return in.finish(std::move(record));
}

Result<AuditHead> decode_head(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    AuditHead head{static_cast<std::uint64_t>(in.integer("entries", 0, INT64_MAX)), in.text("hash", kHashDigits)};
    return in.finish(std::move(head));
}

}  // namespace

Json encode(const AuditRecord& record) {
    const AuditEntry& entry = record.entry;
    return {{"number", record.number},
            {"at_us", to_microseconds(entry.at)},
            {"who", entry.who},
            {"action", entry.action},
            {"object", entry.object},
            {"decision", entry.decision},
            {"request_id", entry.request_id},
            {"detail", entry.detail},
            {"hash", record.hash}};
}

Json encode(const AuditPage& page) {
    Json records = Json::array();
    for (const AuditRecord& record : page.records) records.push_back(encode(record));
    Json json = {{"records", std::move(records)}, {"head", {{"entries", page.head.entries}, {"hash", page.head.hash}}}};
    if (page.next > 0) json["next"] = page.next;
    return json;
}

Result<AuditPage> decode_audit_page(const Json& json) {
    JsonReader in(json);
    AuditPage page;
    const Json& records = in.array("records", limits::kMaxAuditRows);
    for (std::size_t i = 0; i < records.size() && in.ok(); ++i) {
        Result<AuditRecord> record = decode_record(records[i], in.pointer_of("records/" + std::to_string(i)));
        if (!record) return record.error();
        page.records.push_back(*std::move(record));
    }
    Result<AuditHead> head = decode_head(in.object("head"), in.pointer_of("head"));
    if (in.has("next")) page.next = static_cast<std::uint64_t>(in.integer("next", 1, INT64_MAX));
    if (!in.ok()) return in.error();
    if (!head) return head.error();
    page.head = *std::move(head);
    return in.finish(std::move(page));
}

std::string audited_fields(const Json& body) {
    constexpr const char* kFields[] = {"action", "name",        "subject", "organisation", "zone",
                                       "user",   "fingerprint", "home",    "application",  "reason"};
    if (!body.is_object()) return {};
    std::string kept;
    for (const char* field : kFields) {
        const auto at = body.find(field);
        if (at == body.end() || !at->is_string()) continue;
        kept += (kept.empty() ? "" : ", ") + std::string(field) + " " + at->get<std::string>();
    }
    return kept;
}

}  // namespace zbs::codec
