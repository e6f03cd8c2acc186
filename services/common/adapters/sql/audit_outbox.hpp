#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::sql {

/// Records on their way to a log that lies elsewhere: they become durable with the writes that they allow, in one
/// commit and so with one sync of the disk, and reach the log within a second, or when it is opened the next time.
class AuditOutbox {
  public:
    virtual ~AuditOutbox() = default;
    virtual Result<void> add(const AuditRecord& record) = 0;
    virtual Result<void> forget(std::uint64_t up_to) = 0;       ///< numbers up to this
    virtual Result<std::vector<AuditRecord>> load() const = 0;  ///< by number
    /// How far the log goes. The note is never ahead of the log: a log without the noted head has lost entries.
    virtual Result<void> record(const AuditHead& head) = 0;
    virtual Result<std::optional<AuditHead>> noted() const = 0;
};

/// AuditOutbox in a table of the service's own database. Over a database that was opened to be read it only loads.
std::unique_ptr<AuditOutbox> make_outbox(std::shared_ptr<Database> database);

}  // namespace zbs::sql
