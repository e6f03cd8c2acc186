#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/audit.hpp"

// A record of the audit log as a row. The log and the outbox have tables of the same columns: number, at_us, who,
// action, object, decision, request_id, detail, hash.
namespace zbs::sql {

/// `entry` as it is stored: every text through `printable_text`.
AuditEntry stored_form(const AuditEntry& entry);

/// SHA-256 over the hash before (64 digits), the number and the time (8 bytes each, big-endian), and every text with
/// its length before it (8 bytes), so that no two entries have the same bytes. Lower-case hexadecimal.
/// Errors: kInternal where OpenSSL gives none.
Result<std::string> chain_hash(const std::string& before, std::uint64_t number, const AuditEntry& entry);

/// How a log begins: its first entry says so.
struct AuditBeginning {
    std::string who;  ///< URI of the service
    Time at{};
};
/// The entry with which a log begins.
Result<AuditRecord> beginning_record(const AuditBeginning& beginning);

/// Steps along a whole log, from entry 1 on, and finds where the chain is broken.
class ChainCheck {
  public:
    /// `expected`: a head noted earlier, of this length or shorter.
    explicit ChainCheck(std::optional<AuditHead> expected) : expected_(std::move(expected)) {}
    /// The next record as it is stored. kConflict naming the first entry that was changed, removed, inserted or moved.
    Result<void> step(const AuditRecord& record);
    /// Behind the last. kConflict also for a log without its beginning, or shorter than expected.
    Result<AuditSummary> finish() const;

  private:
    AuditHead head_;
    AuditSummary found_;
    std::optional<AuditHead> expected_;
};

/// "ENTRIES:HASH", as `zbs-zone audit verify` prints and takes it.
std::string to_string(const AuditHead& head);
Result<AuditHead> parse_audit_head(std::string_view text);

/// `insert` is an INSERT with a place for each column. Errors: the database's; kConflict where the table refuses it.
Result<void> insert_audit_row(Database& database, std::string_view insert, const AuditRecord& record);

/// The row on which a query of all columns stands.
AuditRecord audit_record_of(const Query& row);

/// Records on their way to a log that lies elsewhere, in a table of the service's own database: they become durable
/// with the writes that they allow, in one commit and so with one sync of the disk, and reach the log within a second,
/// or when it is opened the next time. Over a database that was opened to be read it only loads.
class AuditOutbox {
  public:
    explicit AuditOutbox(std::shared_ptr<Database> database) : database_(std::move(database)) {}
    Result<void> add(const AuditRecord& record);
    Result<void> forget(std::uint64_t up_to);       ///< numbers up to this
    Result<std::vector<AuditRecord>> load() const;  ///< by number
    /// How far the log goes. The note is never ahead of the log: a log without the noted head has lost entries.
    Result<void> record(const AuditHead& head);
    Result<std::optional<AuditHead>> noted() const;

  private:
    std::shared_ptr<Database> database_;
};

}  // namespace zbs::sql
