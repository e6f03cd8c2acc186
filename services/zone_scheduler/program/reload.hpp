#pragma once
#include <string>

#include "services/zone_scheduler/program/edge.hpp"

namespace zbs::zone_program {

/// What SIGHUP does: settings that can change while the zone runs (`settings_table`) and its certificate are read anew;
/// the log names those of the others that were changed, the audit log those that were taken (`reload_entry`). A file
/// with a fault, or an audit log that takes no entry, changes nothing; the log has it. `running` are the settings in
/// force. From any thread.
void reload(const std::string& config_path, ServiceHost& host, ZoneCore& zone, Edge& edge, ZoneSettings& running,
            Log& log);

}  // namespace zbs::zone_program
