#include "services/common/adapters/sqlite/registry_store.hpp"

#include "services/common/adapters/sql/audit_chain.hpp"
#include "services/common/adapters/sql/record_table.hpp"
#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/site_codec.hpp"

namespace zbs::sqlite {
namespace {

class SqliteRegistryStore : public RegistryStore {
  public:
    explicit SqliteRegistryStore(const std::shared_ptr<Database>& database)
        : zones_(database, "zone", codec::encode, codec::decode_enrolled_zone),
          rights_(database, "enrolment right", codec::encode, codec::decode_enrolment_right),
          organisations_(database, "organisation", codec::encode, codec::decode_trusted_organisation) {}

    RecordTable<EnrolledZone>& zones() override { return zones_; }
    RecordTable<EnrolmentRight>& rights() override { return rights_; }
    RecordTable<TrustedOrganisation>& organisations() override { return organisations_; }

  private:
    sql::SqlRecordTable<EnrolledZone> zones_;
    sql::SqlRecordTable<EnrolmentRight> rights_;
    sql::SqlRecordTable<TrustedOrganisation> organisations_;
};

constexpr const char* kOpenTokens =
    "SELECT count(*) FROM record WHERE kind='enrolment right' AND json_extract(value, '$.used_by')=''";

/// A zone's record says how long its entry counts from the start of the registry on: not at all. The entry itself
/// stays, as the one that a newer one has to follow.
constexpr const char* kShowNoEntry = "UPDATE record SET value=json_set(value, '$.lease_s', 0) WHERE kind='zone'";

/// True where there was something to remove.
Result<bool> remove_again(Database& database, const RemovedFromRegistry& removed) {
    bool found = false;
    for (const auto& [sql, name] :
         {std::pair{"DELETE FROM record WHERE kind='zone' AND key=? RETURNING key", &removed.zone.str()},
          std::pair{"DELETE FROM record WHERE kind='zone' AND json_extract(value, '$.organisation')=? RETURNING key",
                    &removed.organisation.str()},
          std::pair{"DELETE FROM record WHERE kind='organisation' AND key=? RETURNING key",
                    &removed.organisation.str()}}) {
        if (name->empty()) continue;
        Database::Query query(database, sql);
        query.bind(*name);
        const Result<void> read = sql::for_each_row(query, [&found](const Database::Query&) {
            found = true;
            return Result<void>{};
        });
        if (!read) return read.error();
    }
    return found;
}

/// Removes what the log in place says was removed since the backup. Gives what was there.
Result<std::vector<RemovedFromRegistry>> repeat_removals(Database& database, const SinceBackup& since,
                                                         const RemovalOf& removal_of) {
    std::vector<RemovedFromRegistry> repeated;
    if (since.log.empty()) return repeated;
    const Result<std::unique_ptr<Database>> log = Database::open_read_only(since.log);
    if (!log) return log.error();
    Database::Query query(**log, "SELECT * FROM audit WHERE number>? ORDER BY number");
    query.bind(static_cast<std::int64_t>(since.backup.entries));
    for (;;) {
        const Result<bool> row = query.step();
        if (!row) return row.error();
        if (!*row) return repeated;
        const std::optional<RemovedFromRegistry> removed = removal_of(audit_record_of(query).entry);
        if (!removed) continue;
        const Result<bool> found = remove_again(database, *removed);
        if (!found) return found.error();
        if (*found) repeated.push_back(*removed);
    }
}

}  // namespace

const std::vector<std::string>& registry_schema() {
    static const std::vector<std::string> steps = {kRecordSchema};
    return steps;
}

Result<std::unique_ptr<RegistryStore>> open_registry_store(const std::string& path) {
    Result<std::unique_ptr<Database>> database =
        Database::open(path, registry_schema(), " ('zbs-registry restore FILE --state DIR')");
    if (!database) return database.error();
    return std::unique_ptr<RegistryStore>(std::make_unique<SqliteRegistryStore>(*std::move(database)));
}

const BackupKind& registry_backups() {
    static const BackupKind kind{
        .service = "registry",
        .program = "zbs-registry",
        .schema = registry_schema(),
        .content = {{.what = "zones", .sql = "SELECT count(*) FROM record WHERE kind='zone'"},
                    {.what = "organisations", .sql = "SELECT count(*) FROM record WHERE kind='organisation'"},
                    {.what = "open tokens", .sql = kOpenTokens}},
        .rows_of_every_database = "SELECT count(*) FROM record"};
    return kind;
}

Result<RestoredRegistry> restore_registry(const std::string& file, const ServiceFiles& to, Time now,
                                          const RemovalOf& removal_of) {
    RestoredRegistry registry;
    const auto make_safe = [&](Database& database, const SinceBackup& since) -> Result<std::string> {
        const Result<std::int64_t> tokens = number_of(database, kOpenTokens);
        if (!tokens) return tokens.error();
        registry.tokens = static_cast<std::uint64_t>(*tokens);
        if (auto done = run_statements(database, {"DELETE FROM record WHERE kind='enrolment right'", kShowNoEntry});
            !done)
            return done.error();
        Result<std::vector<RemovedFromRegistry>> removed = repeat_removals(database, since, removal_of);
        if (!removed) return removed.error();
        registry.removed = *std::move(removed);
        return "tokens closed: " + std::to_string(registry.tokens) +
               ", removed again: " + std::to_string(registry.removed.size());
    };
    Result<RestoredFiles> files = restore_backup(registry_backups(), file, to, now, make_safe);
    if (!files) return files.error();
    registry.files = *std::move(files);
    return registry;
}

}  // namespace zbs::sqlite
