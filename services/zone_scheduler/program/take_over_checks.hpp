#pragma once
#include <string>
#include <utility>

#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// Whether the state folder is there, can be written, and has the mark of one that goes with a database. Hangs where
/// its file system does.
Result<void> check_shared_folder(const StateFolder& state);

/// Whether this host could take over the zone whose database the settings name: better known before the active
/// scheduler is lost. Errors say what is missing, and the remedy.
class TakeOverChecks {
  public:
    /// The settings have a database; it keeps a copy, so that a look that hangs needs nothing of anybody.
    TakeOverChecks(ZoneSettings settings, StateFolder state)
        : settings_(std::move(settings)), state_(std::move(state)) {}

    /// All of it, before a scheduler stands by: the state folder, written to; a database that this program knows;
    /// who starts jobs here, as the settings ask; Slurm's commands. Costs a connection to the database.
    Result<void> at_start() const;
    /// What can go while it stands by: whether the state folder is there, can be written, and is the one that goes with
    /// the database; whether that is of no newer program; zbs-step and Slurm's commands. Changes nothing. Costs a
    /// connection to the database, and one call of Slurm's commands where there is Slurm.
    Result<void> while_standing_by() const;

  private:
    Result<void> of_folder() const;
    /// The id of the folder that goes with the database; empty where it has none yet.
    Result<std::string> ask_database() const;

    const ZoneSettings settings_;
    const StateFolder state_;
};

}  // namespace zbs::zone_program
