// zbs-zone's commands `backup` and `restore`.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/job_folder.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/zone_scheduler/program/storage.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

constexpr Duration kStepGrace = std::chrono::seconds{2};
constexpr std::chrono::seconds kStepWait{15};

Result<void> back_up(const std::string& config_path, const std::string& file) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    const StateFolder state{settings->state_folder};
    const auto made =
        sqlite::write_backup(sqlite::zone_backups(), zone_files(*settings, state), file, system::wall_clock());
    if (!made) return made.error();
    std::cout << file << ": " << sqlite::to_string(*made) << "\n";
    return {};
}

/// Steps that the backup does not know end, since nobody would learn of their end, and their folders go
/// aside: a job that comes again under its old id must not find the output of the run that was forgotten.
Result<int> put_aside_unknown(const ZoneSettings& settings, const StateFolder& state, const std::string& backup) {
    const auto knows = sqlite::known_steps(backup);
    if (!knows) return knows.error();
    const auto executor = open_executor(settings, state);
    if (!executor) return executor.error();
    std::vector<std::string> unknown;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(state.steps(), fault)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_directory() && process::is_plain_name(name) && !(*knows)(name)) unknown.push_back(name);
    }
    const auto runs = [&](const std::string& step) {
        return (*executor)->status(step).state == StepStatus::State::kRunning;
    };
    for (const std::string& step : unknown)
        if (runs(step)) (*executor)->stop(step, kStepGrace);
    const auto end = std::chrono::steady_clock::now() + kStepWait;
    const std::string aside =
        state.path + "/steps-before-restore-" + std::to_string(to_microseconds(system::wall_clock()) / 1'000'000);
    if (!unknown.empty() && mkdir(aside.c_str(), 0700) != 0)
        return Error{ErrorCode::kUnavailable, "cannot make the folder", aside};
    for (const std::string& step : unknown) {
        while (runs(step)) {
            if (std::chrono::steady_clock::now() > end)
                return Error{ErrorCode::kUnavailable, "step " + step + " does not end; end it and restore again", {}};
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
        }
        std::filesystem::rename(state.steps() + "/" + step, aside + "/" + step, fault);
        if (fault) return Error{ErrorCode::kUnavailable, "cannot be moved: " + fault.message(), step};
    }
    return static_cast<int>(unknown.size());
}

Result<void> restore(const std::string& config_path, const std::string& file) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    const StateFolder state{settings->state_folder};
    std::error_code fault;
    std::filesystem::create_directories(state.path, fault);
    chmod(state.path.c_str(), 0700);
    const auto lock = process::FolderLock::take(state.path);
    if (!lock) return Error{lock.error().code, lock.error().message + "; stop the zone first", {}};
    const sqlite::ServiceFiles files = zone_files(*settings, state);
    if (const auto good = sqlite::check_backup(sqlite::zone_backups(), file, files.who); !good) return good.error();
    const Result<int> aside = put_aside_unknown(*settings, state, file);
    if (!aside) return aside.error();
    const auto done = sqlite::restore_zone(file, files, system::wall_clock());
    if (!done) return done.error();
    std::cout << sqlite::to_string(done->files, "tokens go on at " + std::to_string(done->first_token) + "\n");
    if (*aside > 0)
        std::cout << *aside << " steps that the backup does not know were put aside beside " << state.steps() << "\n";
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
    backup->callback([&config_path, &exit_code, file] {
        if (auto done = back_up(config_path, *file); !done) exit_code = fail(done.error());
    });
    CLI::App* again = cli.add_subcommand(
        "restore",
        "a backup in place of the database of a zone that is not running; what was there is kept "
        "beside\n\nExample: zbs-zone restore /backup/zone-2026-01-31.db --config /etc/zbs/zone.toml");
    again->add_option("FILE", *file, "made by 'zbs-zone backup' of this zone")->required();
    again->callback([&config_path, &exit_code, file] {
        if (auto done = restore(config_path, *file); !done) exit_code = fail(done.error());
    });
}

}  // namespace zbs::zone_program
