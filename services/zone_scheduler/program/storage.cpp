#include "services/zone_scheduler/program/storage.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/system/thread_runner.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"

namespace zbs::zone_program {

sqlite::ServiceFiles zone_files(const ZoneSettings& settings, const StateFolder& state) {
    return {state.database(), state.audit(), to_uri(settings.zone.self())};
}

namespace {

/// Nodes of Slurm have no supervisor that would show a job its folder.
bool needs_passable(const ZoneSettings& settings) { return settings.slurm && settings.zone.staging.nodes_share_state; }

/// What is in the state folder is nobody else's, also where others may pass it.
void close_files(const StateFolder& state) {
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(state.path, fault)) {
        if (entry.is_symlink(fault) || entry.path() == state.steps()) continue;
        std::filesystem::permissions(entry.path(),
                                     std::filesystem::perms::group_all | std::filesystem::perms::others_all,
                                     std::filesystem::perm_options::remove, fault);
    }
}

}  // namespace

Result<std::unique_ptr<process::StepExecutor>> open_executor(const ZoneSettings& settings, const StateFolder& state) {
    std::vector<std::string> hidden = {state.path};
    hidden.insert(hidden.end(), settings.hidden_paths.begin(), settings.hidden_paths.end());
    return process::make_step_executor({.folder = state.steps(),
                                        .supervisor = settings.step_supervisor,
                                        .hidden_paths = std::move(hidden),
                                        .passable = needs_passable(settings),
                                        .default_account = settings.default_account,
                                        .allow_root_jobs = !settings.zone.run_as_accounts,
                                        .minimum_uid = static_cast<uid_t>(settings.minimum_uid),
                                        .require_isolation = settings.require_isolation,
                                        .shared_memory = settings.shared_memory});
}

void make_state_folder(const ZoneSettings& settings, const StateFolder& state) {
    std::error_code fault;
    std::filesystem::create_directories(state.path, fault);
    chmod(state.path.c_str(), needs_passable(settings) ? 0711 : 0700);
}

postgresql::Address database_address(const ZoneSettings& settings) {
    return {settings.database->url, settings.database->schema, "zbs-zone " + settings.zone.zone.name};
}

namespace {

/// A changed log does not stop the zone: its jobs go on, and the operator finds the warning in the zone's log.
void report_audit_chain(const Result<AuditSummary>& verified, Log& log) {
    if (verified) return;
    log.warn("audit_log_changed",
             {{"reason", verified.error().message}, {"remedy", "keep a copy, then run 'zbs-zone audit verify'"}});
}

/// What is not the database's: who starts jobs, and their files.
Result<void> open_rest(Storage& storage, const ZoneSettings& settings, const StateFolder& state, Log& log) {
    auto executor = open_executor(settings, state);
    if (!executor) return executor.error();
    storage.executor = *std::move(executor);
    auto depot = files::open_file_depot(state.files());
    if (!depot) return depot.error();
    storage.depot = *std::move(depot);
    close_files(state);
    log.info("jobs", {{"protection", storage.executor->protection().text}});
    return {};
}

}  // namespace

Result<std::string> folder_id(const StateFolder& state) {
    const std::string path = state.database_mark();
    if (access(path.c_str(), F_OK) == 0) {  // one that is there is never replaced
        if (auto known = process::read_file(path); known && known->size() > 10) return *std::move(known);
        return Error{ErrorCode::kUnavailable, "the mark of the state folder cannot be read, or is no mark", path};
    }
    if (errno != ENOENT)
        return Error{ErrorCode::kUnavailable,
                     std::string("cannot look for the mark of the state folder: ") + std::strerror(errno), path};
    std::string id = openssl::RandomSecrets{}.fresh();
    if (!process::write_file(path, id))
        return Error{ErrorCode::kUnavailable, "cannot write the mark of the state folder", path};
    return id;
}

Result<Storage> open_storage(const ZoneSettings& settings, const StateFolder& state, Log& log) {
    Storage storage;
    std::error_code fault;
    auto lock = process::FolderLock::take(state.path);
    if (!lock) return lock.error();
    storage.lock = *std::move(lock);
    if (std::filesystem::exists(state.database_mark(), fault)) {
        return Error{
            ErrorCode::kConflict,
            "the database of this state folder is in PostgreSQL, or its move there was cut short: set 'url' of "
            "[database], and run 'zbs-zone database move' where zone.db is still here; or, to start empty, use "
            "another 'state' folder",
            state.database_mark()};
    }
    storage.runner = std::make_unique<system::ThreadRunner>(0);
    const sqlite::ServiceFiles files = zone_files(settings, state);
    if (sqlite::is_half_restored(files)) return sqlite::half_restored(sqlite::zone_backups());
    if (auto kept = sqlite::check_database_kept(sqlite::zone_backups(), files, {state.steps()}); !kept)
        return kept.error();
    auto database = sqlite::open_zone_database(state.database(), sqlite::Durability::kBatches, storage.runner.get());
    if (!database) return database.error();
    storage.database = *std::move(database);
    const Result<std::optional<AuditHead>> noted = storage.database.outbox->noted();
    if (!noted) return noted.error();
    auto audit =
        sqlite::open_audit_log(state.audit(), {files.who, system::wall_clock()}, storage.database.outbox.get());
    if (!audit) return audit.error();
    storage.audit = *std::move(audit);
    const Result<AuditSummary> verified = sqlite::verify_audit_log(state.audit(), *noted);
    report_audit_chain(verified, log);
    // The zone notes the new head next, so the log itself has to keep the finding.
    if (!verified && sqlite::verify_audit_log(state.audit())) {
        if (auto kept = storage.audit->append({.at = system::wall_clock(),
                                               .who = files.who,
                                               .action = std::string(kAuditLost),
                                               .decision = "recorded",
                                               .detail = verified.error().message},
                                              AuditUrgency::kNow);
            !kept)
            return kept.error();
    }
    if (auto rest = open_rest(storage, settings, state, log); !rest) return rest.error();
    return storage;
}

Result<void> check_no_own_database(const StateFolder& state) {
    std::error_code fault;
    if (!std::filesystem::exists(state.database(), fault)) return {};
    return Error{ErrorCode::kConflict,
                 "this state folder has a database of its own, and [database] names another: what is in the file "
                 "would be forgotten; move it with 'zbs-zone database move', or use a new 'state' folder",
                 state.database()};
}

Result<Storage> open_shared_storage(const ZoneSettings& settings, const StateFolder& state, Log& log,
                                    const WriteLease& write_lease) {
    Storage storage;
    if (auto without = check_no_own_database(state); !without) return without.error();
    storage.runner = std::make_unique<system::ThreadRunner>(0);
    auto database =
        postgresql::open_zone_database(database_address(settings), sql::Durability::kBatches, storage.runner.get());
    if (!database) return database.error();
    database->database->use_fence({write_lease.epoch, [&lease = write_lease.lease] { return lease.holds(); }});
    storage.turn = write_lease.epoch;
    storage.database = std::move(database->stores);
    const Result<std::string> id = folder_id(state);
    if (!id) return id.error();
    if (auto claimed = postgresql::claim_state_folder(*database->database, *id); !claimed) return claimed.error();
    auto audit =
        postgresql::open_audit_log(database->database, {zone_files(settings, state).who, system::wall_clock()});
    if (!audit) return audit.error();
    storage.audit = *std::move(audit);
    report_audit_chain(postgresql::verify_audit_log(database_address(settings)), log);
    if (auto rest = open_rest(storage, settings, state, log); !rest) return rest.error();
    return storage;
}

}  // namespace zbs::zone_program
