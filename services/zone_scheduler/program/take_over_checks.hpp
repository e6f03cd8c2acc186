#pragma once
#include <string>

#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// Whether this host could take over the zone whose database the settings name: better known before the active
/// scheduler is lost. Errors say what is missing, and the remedy.
class TakeOverChecks {
  public:
    /// Both must outlive it; the settings have a database.
    TakeOverChecks(const ZoneSettings& settings, const StateFolder& state) : settings_(settings), state_(state) {}

    /// All of it, before a scheduler stands by: the state folder, written to; a database that this program knows;
    /// who starts jobs here, as the settings ask; Slurm's commands. Costs a connection to the database.
    Result<void> at_start();
    /// What can go while it stands by: whether the state folder is there, can be written, and is the one that goes with
    /// the database. Changes nothing. Asks the database only until that knows a folder.
    Result<void> of_folder();

  private:
    Result<void> ask_database();

    const ZoneSettings& settings_;
    const StateFolder& state_;
    std::string folder_id_;  ///< as the database has it; empty where it has none yet
};

}  // namespace zbs::zone_program
