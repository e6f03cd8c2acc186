#include "services/common/adapters/sql/database.hpp"

#include <utility>

namespace zbs::sql {

Query::Query(Database& database, std::string_view sql) {
    auto at = database.idle_.find(sql);
    if (at == database.idle_.end()) at = database.idle_.emplace(sql, Database::Idle{}).first;
    idle_ = &at->second;
    if (idle_->empty()) {
        statement_ = database.prepare(sql);
        return;
    }
    statement_ = std::move(idle_->back());
    idle_->pop_back();
}

Query::~Query() {
    if (statement_->reset()) idle_->push_back(std::move(statement_));
}

Error lost_batch() { return {ErrorCode::kUnavailable, "the database has lost what was written just before", {}}; }

}  // namespace zbs::sql
