#include "services/common/adapters/sqlite/zone_backup.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/adapters/sql/zone_store.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"

namespace zbs::sqlite {
namespace {

constexpr int kTokenSecondBits = 20;

/// No counter below `least`; the time last believed is kept with them, and is none. Gives that of tokens.
Result<std::int64_t> raise_counters(Database& database, std::int64_t least) {
    Database::Query lift(database, "UPDATE counter SET value=max(value, ?) WHERE name<>'believed_us'");
    lift.bind(least);
    if (const Result<bool> step = lift.step(); !step) return step.error();
    return number_of(database, "SELECT value FROM counter WHERE name='token'");
}

/// The greatest counter of a database that may be damaged; 0 where it cannot be read.
std::int64_t greatest_counter(const std::string& path) {
    if (::access(path.c_str(), R_OK) != 0) return 0;
    const Result<std::unique_ptr<Database>> old = Database::open_read_only(path);
    if (!old) return 0;
    const Result<std::int64_t> most = number_of(**old, "SELECT max(value) FROM counter WHERE name<>'believed_us'");
    return most ? *most : 0;
}

}  // namespace

const BackupKind& zone_backups() {
    static const BackupKind kind{
        .service = "zone",
        .program = "zbs-zone",
        .schema = zone_schema(),
        .content = {{.what = "applications", .sql = "SELECT count(*) FROM application"},
                    {.what = "parts", .sql = "SELECT count(*) FROM part"}},
        .rows_of_every_database =
            "SELECT min((SELECT count(*) FROM record), (SELECT count(*) FROM counter WHERE name='token'))",
        .has_outbox = true};
    return kind;
}

Result<RestoredZone> restore_zone(const std::string& file, const ServiceFiles& to, Time now) {
    RestoredZone zone;
    Result<RestoredFiles> files =
        restore_backup(zone_backups(), file, to, now, [&](Database& database, const SinceBackup&) {
            const std::int64_t seconds = to_microseconds(now) / 1'000'000;
            const Result<std::int64_t> token =
                raise_counters(database, std::max(seconds << kTokenSecondBits, greatest_counter(to.database) + 1));
            if (!token) return Result<std::string>(token.error());
            zone.first_token = static_cast<std::uint64_t>(*token) + 1;
            return Result<std::string>("tokens go on at " + std::to_string(zone.first_token));
        });
    if (!files) return files.error();
    zone.files = *std::move(files);
    return zone;
}

Result<std::function<bool(const StepId&)>> known_steps(const std::string& path) {
    const Result<std::unique_ptr<Database>> opened = Database::open_read_only(path);
    if (!opened) return opened.error();
    return sql::known_steps(**opened);
}

}  // namespace zbs::sqlite
