#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// Who did what to what, and what became of it. Texts are kept as `printable_text` of at most
/// `limits::kMaxAuditTextBytes`.
struct AuditEntry {
    Time at{};
    std::string who;         ///< URI of the caller
    std::string action;      ///< operationId
    std::string object;      ///< id or name
    std::string decision;    ///< "allow", "denied", ...
    std::string request_id;  ///< sent to the caller, to quote
    std::string detail;      ///< why
    bool operator==(const AuditEntry&) const = default;
};

/// An entry in its place.
struct AuditRecord {
    std::uint64_t number = 0;  ///< from 1, without gaps
    AuditEntry entry;
    std::string hash;  ///< chain up to and with this entry, 64 hexadecimal digits
    bool operator==(const AuditRecord&) const = default;
};

/// How far a log goes. Kept outside of the log it proves later that nothing was cut off its end.
struct AuditHead {
    std::uint64_t entries = 0;
    std::string hash = std::string(64, '0');  ///< of the last entry
    bool operator==(const AuditHead&) const = default;
};

/// What a whole log says of itself.
struct AuditSummary {
    AuditHead head;
    Time first{};  ///< of entry 1
    Time last{};   ///< of the head
    /// Number of the latest entry that records a loss of entries (`kAuditLost`); 0: none.
    std::uint64_t latest_loss = 0;
    bool operator==(const AuditSummary&) const = default;
};

/// `AuditEntry::action` of the entry with which a log begins. No call has this name.
inline constexpr std::string_view kAuditBegins = "beginAudit";
/// Of the entry that a service adds when it finds that the log has lost entries. No call has this name.
inline constexpr std::string_view kAuditLost = "loseAuditEntries";

enum class AuditUrgency {
    kSoon,        ///< written with the next flush
    kWithWrites,  ///< durable with the next commit of the service's journal, where the log `rides_on_journal`; else
                  ///< kSoon
    kNow,         ///< durable when `append` returns: decisions that change something
};

/// Append-only record of decisions. Belongs to one thread. A failed call has changed nothing: refuse what cannot be
/// recorded.
class AuditLog {
  public:
    virtual ~AuditLog() = default;

    /// Keeps a bounded number of entries back; the last of them writes them all.
    virtual Result<void> append(const AuditEntry& entry, AuditUrgency urgency) = 0;
    /// Makes durable what was kept back. Call it every 50 ms or so; free when there is nothing.
    virtual Result<void> flush() = 0;
    /// Entries `from`, `from` + 1, ... (numbers start at 1), at most `limit` and 1,000. Flushes first.
    virtual Result<std::vector<AuditRecord>> read(std::uint64_t from, std::size_t limit) = 0;
    /// Whether entries of `kWithWrites` are durable with the journal's commit, before the log itself has them.
    virtual bool rides_on_journal() const = 0;
    /// Of what is durable.
    virtual AuditHead head() const = 0;
};

}  // namespace zbs
