#include "services/common/adapters/sql/audit_chain.hpp"

#include <openssl/evp.h>

#include <array>
#include <charconv>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::sql {
namespace {

void add_number(std::string& bytes, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
}
void add_text(std::string& bytes, const std::string& text) {
    add_number(bytes, text.size());
    bytes += text;
}

Error broken(std::uint64_t number, const std::string& what) {
    return {ErrorCode::kConflict,
            "entry " + std::to_string(number) + " of the audit log " + what +
                "; trust nothing from it on, keep the file, and compare it with a backup",
            {}};
}

constexpr const char* kHead = "audit_head";  ///< kind of the record that has it

}  // namespace

AuditEntry stored_form(const AuditEntry& entry) {
    const auto stored = [](const std::string& text) { return printable_text(text, limits::kMaxAuditTextBytes); };
    return {entry.at,
            stored(entry.who),
            stored(entry.action),
            stored(entry.object),
            stored(entry.decision),
            stored(entry.request_id),
            stored(entry.detail)};
}

Result<std::string> chain_hash(const std::string& before, std::uint64_t number, const AuditEntry& entry) {
    std::string bytes;
    add_text(bytes, before);
    add_number(bytes, number);
    add_number(bytes, static_cast<std::uint64_t>(to_microseconds(entry.at)));
    for (const std::string* text :
         {&entry.who, &entry.action, &entry.object, &entry.decision, &entry.request_id, &entry.detail})
        add_text(bytes, *text);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
        return Error{ErrorCode::kInternal, "this computer's OpenSSL has no SHA-256; nothing can be audited", {}};
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
        text += kDigits[digest[i] >> 4];
        text += kDigits[digest[i] & 15];
    }
    return text;
}

Result<AuditRecord> beginning_record(const AuditBeginning& beginning) {
    AuditRecord record{1,
                       stored_form({beginning.at, beginning.who, std::string(kAuditBegins), "", "recorded", "",
                                    "the audit log begins"}),
                       {}};
    Result<std::string> hash = chain_hash(AuditHead{}.hash, record.number, record.entry);
    if (!hash) return hash.error();
    record.hash = *std::move(hash);
    return record;
}

std::string to_string(const AuditHead& head) { return std::to_string(head.entries) + ":" + head.hash; }

Result<AuditHead> parse_audit_head(std::string_view text) {
    AuditHead head;
    const std::size_t colon = text.find(':');
    const auto read = std::from_chars(text.data(), text.data() + std::min(colon, text.size()), head.entries);
    const std::string_view hash = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    const bool good = read.ec == std::errc{} && read.ptr == text.data() + colon && hash.size() == 64 &&
                      hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (!good) {
        return invalid("'" + printable_text(text, 100) +
                       "' is no head of an audit log; give it as 'zbs-zone audit verify' printed it: ENTRIES:HASH");
    }
    head.hash = hash;
    return head;
}

Result<void> ChainCheck::step(const AuditRecord& record) {
    const std::uint64_t number = head_.entries + 1;
    // A number below the first comes only from who edits the file, and may be negative.
    if (static_cast<std::int64_t>(record.number) < static_cast<std::int64_t>(number))
        return broken(number, "has one before it that was put in");
    if (record.number > number) return broken(number, "was removed");
    const Result<std::string> hash = chain_hash(head_.hash, number, record.entry);
    if (!hash) return hash.error();
    if (*hash != record.hash) return broken(number, "was changed, moved or put in");
    head_ = {number, record.hash};
    if (number == 1) found_.first = record.entry.at;
    found_.last = record.entry.at;
    if (record.entry.action == kAuditLost) found_.latest_loss = number;
    if (number == 1 && record.entry.action != kAuditBegins) return broken(1, "is not the one with which a log begins");
    if (expected_ && expected_->entries == number && expected_->hash != record.hash)
        return broken(number, "is not the one noted: the log up to it was written anew");
    return {};
}

Result<AuditSummary> ChainCheck::finish() const {
    if (expected_ && expected_->entries > head_.entries)
        return broken(head_.entries + 1, "is missing: " + std::to_string(expected_->entries) +
                                             " entries were noted, so the end was cut off");
    if (head_.entries == 0) return broken(1, "is missing: a log begins with the entry of its own making");
    return AuditSummary{head_, found_.first, found_.last, found_.latest_loss};
}

Result<void> insert_audit_row(Database& database, std::string_view insert, const AuditRecord& record) {
    Query query(database, insert);
    query.bind(static_cast<std::int64_t>(record.number)).bind(to_microseconds(record.entry.at));
    query.bind(record.entry.who).bind(record.entry.action).bind(record.entry.object).bind(record.entry.decision);
    query.bind(record.entry.request_id).bind(record.entry.detail).bind(record.hash);
    return carry_out(query);
}

AuditRecord audit_record_of(const Query& row) {
    return {static_cast<std::uint64_t>(row.integer(0)),
            {time_from_microseconds(row.integer(1)), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6),
             row.text(7)},
            row.text(8)};
}

Result<void> AuditOutbox::add(const AuditRecord& record) {
    return insert_audit_row(*database_, "INSERT INTO audit_outbox VALUES(?,?,?,?,?,?,?,?,?)", record);
}

Result<void> AuditOutbox::forget(std::uint64_t up_to) {
    Query query(*database_, "DELETE FROM audit_outbox WHERE number<=?");
    query.bind(static_cast<std::int64_t>(up_to));
    return carry_out(query);
}

Result<void> AuditOutbox::record(const AuditHead& head) {
    Query query(*database_,
                "INSERT INTO record VALUES(?,'',?) ON CONFLICT(kind, key) DO UPDATE SET value=excluded.value");
    query.bind(kHead).bind(to_string(head));
    return carry_out(query);
}

Result<std::optional<AuditHead>> AuditOutbox::noted() const {
    Query query(*database_, "SELECT value FROM record WHERE kind=? AND key=''");
    query.bind(kHead);
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return std::optional<AuditHead>{};
    const Result<AuditHead> head = parse_audit_head(query.text(0));
    if (!head) return head.error();
    return std::optional(*head);
}

Result<std::vector<AuditRecord>> AuditOutbox::load() const {
    Query query(*database_,
                "SELECT number, at_us, who, action, object, decision, request_id, detail, hash FROM "
                "audit_outbox ORDER BY number");
    return rows_of(query, [](const Query& row) { return Result<AuditRecord>(audit_record_of(row)); });
}

}  // namespace zbs::sql
