// zbs-zone database move: a zone's database from its own file into PostgreSQL.

#include <CLI/CLI.hpp>
#include <filesystem>

#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_move.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/storage.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

using Copied = std::vector<sql::CopiedTable>;

/// Brings the files to this program's version, as a start of the zone would, with all records of the audit log in it;
/// and looks whether that is whole.
Result<void> make_files_ready(const ZoneSettings& settings, const StateFolder& state) {
    const sqlite::ServiceFiles files = zone_files(settings, state);
    if (sqlite::is_half_restored(files)) return sqlite::half_restored(sqlite::zone_backups());
    if (auto kept = sqlite::check_database_kept(sqlite::zone_backups(), files, {state.steps()}); !kept)
        return kept.error();
    const auto zone = sqlite::open_zone_database(state.database());
    if (!zone) return zone.error();
    const auto log = sqlite::open_audit_log(state.audit(), {files.who, system::wall_clock()}, zone->outbox.get());
    if (!log) return log.error();
    const auto verified = sqlite::verify_audit_log(state.audit());
    return verified ? Result<void>{} : Result<void>(verified.error());
}

Result<Copied> copy_files(const ZoneSettings& settings, const StateFolder& state, const std::string& folder) {
    if (auto ready = make_files_ready(settings, state); !ready) return ready.error();
    const auto zone = sqlite::Database::open_read_only(state.database());
    if (!zone) return zone.error();
    const auto audit = sqlite::Database::open_read_only(state.audit());
    if (!audit) return audit.error();
    const DatabaseSettings& database = *settings.database;
    return postgresql::take_in_zone(database_address(settings), **zone, **audit,
                                    {.folder_id = folder,
                                     .lease = {.node = "'zbs-zone database move' on " + database.node,
                                               .url = {},
                                               .length = DatabaseSettings::kLease,
                                               .renew_every = DatabaseSettings::kRenewEvery}});
}

/// What was moved is kept, under a name that no zone opens.
Result<void> put_files_aside(const StateFolder& state) {
    for (const std::string& path : {state.audit(), state.database()}) {  // while the last is there it can be repeated
        for (const char* suffix : {"-wal", "-shm", ""}) {
            std::error_code fault;
            if (!std::filesystem::exists(path + suffix, fault)) continue;
            std::filesystem::rename(path + suffix, path + ".moved" + suffix, fault);
            if (fault) return Error{ErrorCode::kUnavailable, "cannot be moved aside: " + fault.message(), path};
        }
    }
    return {};
}

/// The state folder that goes with the database; empty where it has none yet.
Result<std::string> known_there(const ZoneSettings& settings) {
    Result<std::string> known = postgresql::state_folder_of(database_address(settings));
    if (!known && known.error().code == ErrorCode::kNotFound) return std::string{};
    return known;
}

Result<Copied> of_another_folder(const ZoneSettings& settings) {
    return Error{ErrorCode::kConflict,
                 "schema '" + database_address(settings).schema +
                     "' of the database belongs to another state folder; name another 'schema' in [database]",
                 {}};
}

Result<Copied> move_into_postgresql(const ZoneSettings& settings, const StateFolder& state) {
    std::error_code fault;
    if (!std::filesystem::exists(state.database(), fault))
        return Error{ErrorCode::kNotFound,
                     std::filesystem::exists(state.database_mark(), fault)
                         ? "the database of this state folder is in PostgreSQL already"
                         : "this state folder has no database that could be moved",
                     state.database()};
    const auto known = known_there(settings);
    if (!known) return known.error();
    const Result<std::string> id = folder_id(state);  // from here on no zone starts on the file
    if (!id) return id.error();
    if (*known == *id) return Copied{};  // cut short after all was there
    Result<Copied> copied = known->empty() ? copy_files(settings, state, *id) : of_another_folder(settings);
    if (copied) return copied;
    // Its answer may have been lost, so the database says what has become of it. Where that says nothing either the
    // mark stays: the file might be out of date.
    const auto after = known_there(settings);
    if (after && *after == *id) return Copied{};
    if (after) std::filesystem::remove(state.database_mark(), fault);
    return copied;
}

Result<void> move_database(const std::string& config_path, const command_line::Output& output) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    if (!settings->database)
        return invalid("the settings name no database to move to: set 'url' of [database]; see docs/operator.md",
                       config_path);
    const StateFolder state{settings->state_folder};
    if (auto own = process::check_owner(state.path); !own) return own;
    const auto lock = process::FolderLock::take(state.path);
    if (!lock) return Error{lock.error().code, lock.error().message + "; stop the zone first", {}};
    const Result<Copied> copied = move_into_postgresql(*settings, state);
    if (!copied) return copied.error();
    if (auto aside = put_files_aside(state); !aside) return aside;
    std::string text;
    std::vector<std::pair<std::string, std::int64_t>> tables;
    for (const sql::CopiedTable& table : *copied) {
        text += table.table + "\t" + std::to_string(table.rows) + "\n";
        tables.emplace_back(table.table, table.rows);
    }
    const std::string kept = state.database() + ".moved";
    output.print_document(codec::encode_moved(tables, kept),
                          text + "the database is in PostgreSQL; the files were put aside as " + kept + "\n");
    return {};
}

}  // namespace

void add_database_command(CLI::App& cli, std::string& config_path, int& exit_code) {
    CLI::App* const database = cli.add_subcommand("database", "where a zone's database is");
    database->require_subcommand(1);
    CLI::App* const move = database->add_subcommand(
        "move",
        "from the file in the state folder into the PostgreSQL of [database], with the audit log, all or "
        "nothing; for a zone that is stopped. The files are kept, as FILE.moved\n\nExample: zbs-zone "
        "database move --config /etc/zbs/zone.toml");
    const auto output = command_line::add_outcome(*move);
    const OperatorCommand shared{&config_path, &exit_code};
    move->callback([shared, output] { shared.run(*output, [&] { return move_database(*shared.service, *output); }); });
}

}  // namespace zbs::zone_program
