#include "services/zone_scheduler/program/take_over_checks.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "services/zone_scheduler/program/slurm.hpp"
#include "services/zone_scheduler/program/storage.hpp"

namespace zbs::zone_program {
namespace {

Error bad_folder(const StateFolder& state, const std::string& what) {
    return {ErrorCode::kConflict, what + "; all zone schedulers of one database share one 'state' folder", state.path};
}

/// Rights alone do not show a disk that is full, or a share that other rules hold for.
Result<void> try_to_write(const StateFolder& state) {
    std::string path = state.path + "/check-XXXXXX";
    const int file = mkstemp(path.data());
    const bool written = file >= 0 && write(file, "x", 1) == 1 && fsync(file) == 0;
    const int fault = errno;
    if (file >= 0) {
        close(file);
        unlink(path.c_str());
    }
    if (written) return {};
    return bad_folder(state, std::string("nothing can be written there: ") + std::strerror(fault));
}

Result<void> check_access(const StateFolder& state) {
    if (access(state.path.c_str(), R_OK | W_OK | X_OK) == 0) return {};
    return bad_folder(state, std::string("it cannot be used: ") + std::strerror(errno));
}

Result<std::string> read_mark(const StateFolder& state) {
    if (auto mark = process::read_file(state.database_mark())) return *std::move(mark);
    if (access(state.database_mark().c_str(), F_OK) == 0)
        return bad_folder(state, "its mark (folder_id) cannot be read: give it to the user that the zone runs as");
    return bad_folder(state,
                      "it lacks the mark of the folder that goes with the database (folder_id): is the shared file "
                      "system mounted on this host?");
}

}  // namespace

Result<void> check_shared_folder(const StateFolder& state) {
    if (auto good = check_access(state); !good) return good;
    const Result<std::string> mark = read_mark(state);
    return mark ? Result<void>{} : Result<void>(mark.error());
}

Result<std::string> TakeOverChecks::ask_database() const {
    const postgresql::Address address = database_address(settings_);
    Result<std::string> id = postgresql::state_folder_of(address);
    if (id) return id;
    // Without tables it has no zone yet, or another scheduler just makes them.
    if (id.error().code == ErrorCode::kNotFound) return std::string{};
    const Result<std::int64_t> version = postgresql::examine_zone_database(address);
    return version && *version == 0 ? std::string{} : id;
}

Result<void> TakeOverChecks::of_folder() const {
    const Result<std::string> folder_id = ask_database();
    if (!folder_id) return folder_id.error();
    if (auto without = check_no_own_database(state_); !without) return without;
    if (auto good = check_access(state_); !good) return good;
    if (folder_id->empty()) return {};
    const Result<std::string> mark = read_mark(state_);
    if (!mark) return mark.error();
    if (*mark != *folder_id)
        return bad_folder(state_,
                          "the state folder is not the one that goes with the database: correct 'state', or 'schema' "
                          "of [database]");
    return {};
}

Result<void> TakeOverChecks::while_standing_by() const {
    if (auto good = of_folder(); !good) return good;
    if (access(settings_.step_supervisor.c_str(), X_OK) != 0)
        return Error{ErrorCode::kUnavailable,
                     "the program " + settings_.step_supervisor + " cannot be run: " + std::strerror(errno) +
                         "; install it, or name it in 'step_supervisor' and start this one again",
                     {}};
    return check_slurm_commands(settings_);
}

Result<void> TakeOverChecks::at_start() const {
    if (auto good = of_folder(); !good) return good;
    if (auto written = try_to_write(state_); !written) return written;
    if (const auto executor = open_executor(settings_, state_); !executor) return executor.error();
    return check_slurm_commands(settings_);
}

}  // namespace zbs::zone_program
