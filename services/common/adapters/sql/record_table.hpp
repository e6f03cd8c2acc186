#pragma once
#include <memory>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/adapters/sql/statements.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/ports/storage/site_store.hpp"

namespace zbs::sql {

/// All records of one kind, in the common table.
template <class Record>
class SqlRecordTable : public RecordTable<Record> {
  public:
    using Json = codec::Json;
    using Decode = Result<Record> (*)(const Json&);
    using Encode = Json (*)(const Record&);
    SqlRecordTable(std::shared_ptr<Database> database, const char* kind, Encode encode, Decode decode)
        : database_(std::move(database)), kind_(kind), encode_(encode), decode_(decode) {}

    Result<void> save(const Record& record) override {
        Query query(*database_,
                    "INSERT INTO record(kind, key, value) VALUES(?,?,?) ON CONFLICT(kind, key) DO UPDATE SET "
                    "value=excluded.value");
        query.bind(kind_).bind(key_of(record)).bind(codec::dump(encode_(record)));
        return carry_out(query);
    }
    Result<void> remove(const std::string& key) override {
        Query query(*database_, "DELETE FROM record WHERE kind=? AND key=?");
        query.bind(kind_).bind(key);
        return carry_out(query);
    }
    Result<std::vector<Record>> load() override {
        Query query(*database_, "SELECT key, value FROM record WHERE kind=? ORDER BY key");
        query.bind(kind_);
        return rows_of(query, [this](const Query& row) -> Result<Record> {
            const Result<Json> json = codec::parse(row.text(1));
            if (!json) return unreadable(row.text(0), json.error());
            Result<Record> record = decode_(*json);
            if (!record) return unreadable(row.text(0), record.error());
            return record;
        });
    }

  private:
    Error unreadable(const std::string& key, const Error& error) const {
        return {ErrorCode::kInternal,
                std::string("the database holds a ") + kind_ + " ('" + key +
                    "') that this version cannot read: " + error.message + "; restore the database from a backup",
                error.pointer};
    }

    std::shared_ptr<Database> database_;
    const char* kind_;
    Encode encode_;
    Decode decode_;
};

}  // namespace zbs::sql
