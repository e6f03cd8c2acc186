#pragma once
#include <memory>

#include "services/common/adapters/sql/database.hpp"
#include "services/common/codec/json.hpp"
#include "services/common/ports/record_table.hpp"

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
        return finish(query);
    }
    Result<void> remove(const std::string& key) override {
        Query query(*database_, "DELETE FROM record WHERE kind=? AND key=?");
        query.bind(kind_).bind(key);
        return finish(query);
    }
    Result<std::vector<Record>> load() override {
        Query query(*database_, "SELECT key, value FROM record WHERE kind=? ORDER BY key");
        query.bind(kind_);
        std::vector<Record> all;
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return all;
            const Result<Json> json = codec::parse(query.text(1));
            if (!json) return unreadable(query.text(0), json.error());
            Result<Record> record = decode_(*json);
            if (!record) return unreadable(query.text(0), record.error());
            all.push_back(*std::move(record));
        }
    }

  private:
    static Result<void> finish(Query& query) {
        const Result<bool> step = query.step();
        if (!step) return step.error();
        return {};
    }
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
