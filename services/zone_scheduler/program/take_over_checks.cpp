#include "services/zone_scheduler/program/take_over_checks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "services/common/adapters/postgresql/zone_store.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/zone_scheduler/program/slurm.hpp"
#include "services/zone_scheduler/program/storage.hpp"

namespace zbs::zone_program {
namespace {

Error bad_folder(const StateFolder& state, const std::string& what) {
    return {ErrorCode::kConflict, what + "; all zone schedulers of one database share one 'state' folder", state.path};
}

/// Rights alone do not tell of a disk that is full, or a share that other rules hold for.
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

}  // namespace

Result<void> TakeOverChecks::ask_database() {
    if (!folder_id_.empty()) return {};
    const postgresql::Address address = database_address(settings_);
    const Result<std::int64_t> version = postgresql::examine_zone_database(address);
    // None yet, or another scheduler just makes it.
    if (version ? *version == 0 : version.error().code == ErrorCode::kNotFound) return {};
    if (!version) return version.error();
    Result<std::string> id = postgresql::state_folder_of(address);
    if (!id) return id.error();
    folder_id_ = *std::move(id);
    return {};
}

Result<void> TakeOverChecks::of_folder() {
    if (auto asked = ask_database(); !asked) return asked;
    if (auto without = check_no_own_database(state_); !without) return without;
    if (access(state_.path.c_str(), R_OK | W_OK | X_OK) != 0)
        return bad_folder(state_, std::string("it cannot be used: ") + std::strerror(errno));
    if (folder_id_.empty()) return {};
    const auto mark = process::read_file(state_.database_mark());
    if (!mark && access(state_.database_mark().c_str(), F_OK) == 0)
        return bad_folder(state_, "its mark (folder_id) cannot be read: give it to the user that the zone runs as");
    if (!mark) {
        return bad_folder(state_,
                          "it lacks the mark of the folder that goes with the database (folder_id): is the shared file "
                          "system mounted on this host?");
    }
    if (*mark != folder_id_)
        return bad_folder(state_,
                          "the state folder is not the one that goes with the database: correct 'state', or 'schema' "
                          "of [database]");
    return {};
}

Result<void> TakeOverChecks::at_start() {
    if (auto good = of_folder(); !good) return good;
    if (auto written = try_to_write(state_); !written) return written;
    if (const auto executor = open_executor(settings_, state_); !executor) return executor.error();
    return check_slurm_commands(settings_);
}

}  // namespace zbs::zone_program
