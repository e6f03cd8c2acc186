#pragma once
#include <span>
#include <string>
#include <vector>

#include "services/common/ports/storage/audit.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"

namespace zbs {

/// When a setting that was changed in the file counts.
enum class Counts {
    kAfterReload,   ///< from the next SIGHUP on
    kAfterRestart,  ///< the running zone keeps the old one
};

struct Setting {
    const char* key;  ///< as in the file; the name alone of a table
    Counts counts;
    /// Whether two files say the same of it, and the files that they name hold the same.
    bool (*same)(const ZoneSettings&, const ZoneSettings&);
};

/// All settings of the configuration file.
std::span<const Setting> settings_table();

/// Keys in `read` that the zone which runs with `running` takes only when it starts again.
std::vector<std::string> keys_for_restart(const ZoneSettings& running, const ZoneSettings& read);
/// Keys in `read` that the zone which runs with `running` takes at once.
std::vector<std::string> keys_for_reload(const ZoneSettings& running, const ZoneSettings& read);
/// What the audit log keeps of a reload at that moment: who may signal the process is the operator of its host.
AuditEntry reload_entry(const std::string& config_path, const ZoneSettings& running, const ZoneSettings& read, Time at);

}  // namespace zbs
