#include "services/common/codec/records/audit_codec.hpp"

#include <ctime>

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

std::string utc_text(Time at) {
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
    std::tm parts{};
    char text[32] = "-";
    if (gmtime_r(&seconds, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::string audit_summary_text(const AuditSummary& summary, const std::string& head, bool against_head) {
    std::string text = "good: " + std::to_string(summary.head.entries) + " entries, " + utc_text(summary.first) +
                       " to " + utc_text(summary.last) + "; head " + head + "\n";
    if (summary.latest_loss > 0)
        text += "but entry " + std::to_string(summary.latest_loss) +
                " records that entries were lost before it; 'audit list' shows its detail\n";
    text += against_head ? "nothing was cut off its end since the given head\n"
                         : "that its end was cut off would only show against a head noted earlier: --head\n";
    return text;
}

Json audit_summary(const AuditSummary& summary, const std::string& head, bool against_head) {
    return {{"entries", summary.head.entries},          {"first_us", to_microseconds(summary.first)},
            {"last_us", to_microseconds(summary.last)}, {"head", head},
            {"latest_loss", summary.latest_loss},       {"end_checked", against_head}};
}

}  // namespace zbs::codec
