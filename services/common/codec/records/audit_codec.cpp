#include "services/common/codec/records/audit_codec.hpp"

#include "services/common/codec/json/fields.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kHashDigits = 64;

/// `printable_text` may turn each byte into an escape of some more.
constexpr std::size_t kMaxField = 4 * limits::kMaxAuditTextBytes;

Time read_any_time(JsonReader& in, const char* key) {
    return time_from_microseconds(in.integer(key, INT64_MIN, INT64_MAX));
}

// One field a line.
// clang-format off
constexpr auto kAuditEntry = fields<AuditEntry>(
    Field{"at_us", &AuditEntry::at, to_microseconds, read_any_time},
    text("who", &AuditEntry::who, kMaxField),
    text("action", &AuditEntry::action, kMaxField),
    text("object", &AuditEntry::object, kMaxField),
    text("decision", &AuditEntry::decision, kMaxField),
    text("request_id", &AuditEntry::request_id, kMaxField),
    text("detail", &AuditEntry::detail, kMaxField));

constexpr auto kAuditRecord = fields<AuditRecord>(
    integer("number", &AuditRecord::number, 1, INT64_MAX),
    Inlined{&AuditRecord::entry, kAuditEntry},
    text("hash", &AuditRecord::hash, kHashDigits));

constexpr auto kAuditHead = fields<AuditHead>(
    count("entries", &AuditHead::entries),
    text("hash", &AuditHead::hash, kHashDigits));

constexpr auto kAuditPage = fields<AuditPage>(
    list("records", &AuditPage::records, limits::kMaxAuditRows, kAuditRecord),
    nested("head", &AuditPage::head, kAuditHead),
    optional(integer("next", &AuditPage::next, 1, INT64_MAX)));
// clang-format on

}  // namespace

Json encode(const AuditRecord& record) { return kAuditRecord.encode(record); }
Json encode(const AuditPage& page) { return kAuditPage.encode(page); }
Result<AuditPage> decode_audit_page(const Json& json) { return kAuditPage.decode(json); }

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
