#include <filesystem>
#include <iostream>

#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

Result<ZoneSettings> load_settings(const std::string& config_path) {
    const std::string folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
    if (config_path.empty()) return invalid("which zone? give --config FILE or set ZBS_ZONE_CONFIG");
    Result<ZoneSettings> settings = read_zone_settings(config_path, folder);
    if (!settings) return settings.error();
    settings->state_folder = std::filesystem::absolute(settings->state_folder).lexically_normal().string();
    return settings;
}

bool StateFolder::has_identity() const {
    std::error_code fault;
    return std::filesystem::exists(identity(), fault);
}

int fail(const Error& error) {
    std::cerr << "zbs-zone: " << (error.pointer.empty() ? "" : error.pointer + ": ") << error.message << "\n";
    return 1;
}

}  // namespace zbs::zone_program
