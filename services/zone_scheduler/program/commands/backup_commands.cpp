// zbs-zone's commands `backup` and `restore`.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/job_folder.hpp"
#include "services/common/adapters/process/start/supervisor_record.hpp"
#include "services/common/adapters/sqlite/backup_codec.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/storage.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

using command_line::Output;

constexpr Duration kStepGrace = std::chrono::seconds{2};
constexpr std::chrono::seconds kStepWait{15};

/// These two make and take files of SQLite.
Result<void> check_own_database(const ZoneSettings& settings) {
    if (!settings.database) return {};
    return invalid("the database is in PostgreSQL, which has its own backups: pg_dump -Fc -n '" +
                   postgresql::sql_name(settings.database->schema) +  // without its quotes a '.' is more than itself
                   "' URL and, for a zone that is stopped, 'pg_restore'; then 'zbs-zone restore --database-restored', "
                   "before the zone starts; see docs/operator.md");
}

Result<void> back_up(const std::string& config_path, const Output& output, const std::string& file) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    if (auto own = check_own_database(*settings); !own) return own;
    const StateFolder state{settings->state_folder};
    const auto made =
        sqlite::write_backup(sqlite::zone_backups(), zone_files(*settings, state), file, system::wall_clock());
    if (!made) return made.error();
    output.print_document(codec::encode_backup(sqlite::document_of(*made), file),
                          file + ": " + sqlite::to_string(*made) + "\n");
    return {};
}

/// Steps that the backup does not know end, since nobody would learn of their end, and their folders go
/// aside: a job that comes again under its old id must not find the output of the run that was forgotten.
Result<int> put_aside_unknown(const ZoneSettings& settings, const StateFolder& state,
                              const std::function<bool(const StepId&)>& knows) {
    const auto executor = open_executor(settings, state);
    if (!executor) return executor.error();
    std::vector<StepId> unknown;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(state.steps(), fault)) {
        const StepId step(entry.path().filename().string());
        if (entry.is_directory() && process::is_plain_name(step) && !knows(step)) unknown.push_back(step);
    }
    const auto runs = [&](const StepId& step) {
        return (*executor)->status(step).state == StepStatus::State::kRunning;
    };
    for (const StepId& step : unknown)
        if (runs(step)) (*executor)->stop(step, kStepGrace);
    const auto end = std::chrono::steady_clock::now() + kStepWait;
    const std::string aside =
        state.path + "/steps-before-restore-" + std::to_string(to_microseconds(system::wall_clock()) / 1'000'000);
    if (!unknown.empty() && mkdir(aside.c_str(), 0700) != 0)
        return Error{ErrorCode::kUnavailable, "cannot make the folder", aside};
    for (const StepId& step : unknown) {
        while (runs(step) || process::is_supervised(state.steps() + "/" + step)) {
            if (std::chrono::steady_clock::now() > end)
                return Error{ErrorCode::kUnavailable,
                             "step " + step + " does not end" + process::where_supervised(state.steps() + "/" + step) +
                                 "; end it and restore again",
                             {}};
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
        }
        std::filesystem::rename(state.steps() + "/" + step, aside + "/" + step, fault);
        if (fault) return Error{ErrorCode::kUnavailable, "cannot be moved: " + fault.message(), step};
    }
    return static_cast<int>(unknown.size());
}

std::string aside_text(const StateFolder& state, int aside) {
    if (aside == 0) return {};
    return std::to_string(aside) + " steps that the backup does not know were put aside beside " + state.steps() + "\n";
}

/// What has to change in a database that PostgreSQL's own tools have put back.
Result<void> go_on_from_restored(const std::string& config_path, const Output& output) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    if (!settings->database)
        return invalid("--database-restored is for a database in PostgreSQL; give the FILE of 'zbs-zone backup'");
    const StateFolder state{settings->state_folder};
    if (auto own = process::check_owner(state.path); !own) return own;
    int aside = 0;
    const auto token = postgresql::go_on_from_restored(
        database_address(*settings), system::wall_clock(), [&](const postgresql::KnowsStep& knows) -> Result<void> {
            const Result<int> moved = put_aside_unknown(*settings, state, knows);
            if (!moved) return moved.error();
            aside = *moved;
            return {};
        });
    if (!token) return token.error();
    output.print_document(codec::encode_restored_zone(*token, aside),
                          aside_text(state, aside) + "tokens go on at " + std::to_string(*token) + "\n");
    return {};
}

Result<void> restore(const std::string& config_path, const Output& output, const std::string& file) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    if (auto own = check_own_database(*settings); !own) return own;
    const StateFolder state{settings->state_folder};
    if (auto own = process::check_owner(state.path); !own) return own;
    std::error_code fault;
    std::filesystem::create_directories(state.path, fault);
    chmod(state.path.c_str(), 0700);
    const auto lock = process::FolderLock::take(state.path);
    if (!lock) return Error{lock.error().code, lock.error().message + "; stop the zone first", {}};
    const sqlite::ServiceFiles files = zone_files(*settings, state);
    if (const auto good = sqlite::check_backup(sqlite::zone_backups(), file, files.who); !good) return good.error();
    const auto knows = sqlite::known_steps(file);
    if (!knows) return knows.error();
    const Result<int> aside = put_aside_unknown(*settings, state, *knows);
    if (!aside) return aside.error();
    const auto done = sqlite::restore_zone(file, files, system::wall_clock());
    if (!done) return done.error();
    output.print_document(
        codec::encode_restored_zone(done->first_token, *aside, sqlite::document_of(done->files)),
        sqlite::to_string(done->files, "tokens go on at " + std::to_string(done->first_token) + "\n") +
            aside_text(state, *aside));
    return {};
}

}  // namespace

void add_backup_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    CLI::App* backup = cli.add_subcommand(
        "backup",
        "database and audit log into one new file, also while the zone runs; checked before it gets its "
        "name\n\nExample: zbs-zone backup /backup/zone-2026-01-31.db --config /etc/zbs/zone.toml");
    const auto file = std::make_shared<std::string>();
    backup->add_option("FILE", *file, "must not exist; made with mode 0600: it holds all that the zone knows")
        ->required();
    const OperatorCommand shared{&config_path, &exit_code};
    const auto made = command_line::add_outcome(*backup);
    backup->callback(
        [shared, made, file] { shared.run(*made, [&] { return back_up(*shared.service, *made, *file); }); });
    CLI::App* again = cli.add_subcommand(
        "restore",
        "a backup in place of the database of a zone that is not running; what was there is kept "
        "beside\n\nExample: zbs-zone restore /backup/zone-2026-01-31.db --config /etc/zbs/zone.toml");
    const auto in_postgresql = std::make_shared<bool>(false);
    CLI::Option* const from = again->add_option("FILE", *file, "made by 'zbs-zone backup' of this zone");
    again
        ->add_flag("--database-restored", *in_postgresql,
                   "instead of a file: 'pg_restore' has put the database back; counters go on behind any that can have "
                   "been given since")
        ->excludes(from);
    const auto restored = command_line::add_outcome(*again);
    again->callback([shared, restored, file, in_postgresql] {
        if (!*in_postgresql && file->empty()) throw CLI::RequiredError("FILE");
        shared.run(*restored, [&] {
            return *in_postgresql ? go_on_from_restored(*shared.service, *restored)
                                  : restore(*shared.service, *restored, *file);
        });
    });
}

}  // namespace zbs::zone_program
