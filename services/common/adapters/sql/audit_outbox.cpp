#include "services/common/adapters/sql/audit_outbox.hpp"

#include <utility>

#include "services/common/adapters/sql/audit_chain.hpp"
#include "services/common/adapters/sql/statements.hpp"

namespace zbs::sql {
namespace {

constexpr const char* kHead = "audit_head";  ///< kind of the record that has it

class SqlAuditOutbox : public AuditOutbox {
  public:
    explicit SqlAuditOutbox(std::shared_ptr<Database> database) : database_(std::move(database)) {}

    Result<void> add(const AuditRecord& record) override {
        return insert_audit_row(*database_, "INSERT INTO audit_outbox VALUES(?,?,?,?,?,?,?,?,?)", record);
    }

    Result<void> forget(std::uint64_t up_to) override {
        Query query(*database_, "DELETE FROM audit_outbox WHERE number<=?");
        query.bind(static_cast<std::int64_t>(up_to));
        return carry_out(query);
    }

    Result<void> record(const AuditHead& head) override {
        Query query(*database_,
                    "INSERT INTO record VALUES(?,'',?) ON CONFLICT(kind, key) DO UPDATE SET value=excluded.value");
        query.bind(kHead).bind(to_string(head));
        return carry_out(query);
    }

    Result<std::optional<AuditHead>> noted() const override {
        Query query(*database_, "SELECT value FROM record WHERE kind=? AND key=''");
        query.bind(kHead);
        const Result<bool> row = query.step();
        if (!row) return row.error();
        if (!*row) return std::optional<AuditHead>{};
        const Result<AuditHead> head = parse_audit_head(query.text(0));
        if (!head) return head.error();
        return std::optional(*head);
    }

    Result<std::vector<AuditRecord>> load() const override {
        Query query(*database_,
                    "SELECT number, at_us, who, action, object, decision, request_id, detail, hash FROM "
                    "audit_outbox ORDER BY number");
        return rows_of(query, [](const Query& row) { return Result<AuditRecord>(audit_record_of(row)); });
    }

  private:
    std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<AuditOutbox> make_outbox(std::shared_ptr<Database> database) {
    return std::make_unique<SqlAuditOutbox>(std::move(database));
}

}  // namespace zbs::sql
