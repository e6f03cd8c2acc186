#pragma once
#include <span>
#include <string>
#include <vector>

#include "services/common/ports/storage/audit.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"

namespace zbs {

/// When a changed setting takes effect.
enum class TakesEffect {
    kAfterReload,   ///< at the next SIGHUP
    kAfterRestart,  ///< the running zone keeps the old value
};

struct Setting {
    const char* key;  ///< as in the file; the name alone of a table
    TakesEffect takes_effect;
    /// True if two configurations have the same value of it, including the contents of files that it names.
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
