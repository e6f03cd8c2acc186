#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/ports/audit.hpp"

namespace zbs::sqlite {

/// Records on their way to the log: they become durable with the writes that they allow, in one commit and so with one
/// sync of the disk, and reach the log's own file within a second, or when it is opened the next time.
class AuditOutbox {
  public:
    virtual ~AuditOutbox() = default;
    virtual Result<void> add(const AuditRecord& record) = 0;
    virtual Result<void> forget(std::uint64_t up_to) = 0;       ///< numbers up to this
    virtual Result<std::vector<AuditRecord>> load() const = 0;  ///< by number
};

/// AuditLog in its own SQLite file. Triggers refuse every change but appending, and each entry's hash covers all before
/// it, so whoever edits the file behind the triggers' back is found by `verify_audit_log`.
///
/// The first entry of a new log says that it begins, when, and whose it is; a log of an earlier version, which has
/// none, gets it behind what is there. Errors: kConflict for a log that had one and has lost it: it was emptied.
struct AuditBeginning {
    std::string who;  ///< URI of the service
    Time at{};
};
///
/// What waits in `outbox` (which has to outlive the log) is taken over first: as it is where it goes on from the log's
/// end, else, because the log is another one now, as new entries behind it.
Result<std::unique_ptr<AuditLog>> open_audit_log(const std::string& path, const AuditBeginning& beginning,
                                                 AuditOutbox* outbox = nullptr);

/// The steps that make the log's database, oldest first.
const std::vector<std::string>& audit_schema();

/// Reads the whole log without changing it, also while a service writes to it, and checks every link of the chain.
/// Errors: kConflict naming the first entry that was changed, removed, inserted or moved, and for a log without its
/// beginning; kUnavailable where the file cannot be read. Entries cut off the end, and a chain computed anew from some
/// entry on, show only against `expected`: a head noted earlier, of this length or shorter.
Result<AuditSummary> verify_audit_log(const std::string& path, const std::optional<AuditHead>& expected = std::nullopt);

/// "ENTRIES:HASH", as `zbs-zone audit verify` prints and takes it.
std::string to_string(const AuditHead& head);
Result<AuditHead> parse_audit_head(std::string_view text);

}  // namespace zbs::sqlite
