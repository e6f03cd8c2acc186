#include "services/common/adapters/system/absolute_path.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace zbs::system {

std::string absolute_path(const std::string& path, const std::string& folder) {
    if (path.empty()) return {};
    const std::string whole = path.starts_with('/') ? path : folder + "/" + path;
    std::string made;
    for (std::size_t at = 0; at < whole.size();) {
        const std::size_t end = std::min(whole.find('/', at), whole.size());
        const std::string_view step = std::string_view(whole).substr(at, end - at);
        if (!step.empty() && step != ".") made.append("/").append(step);
        at = end + 1;
    }
    // "file/." is as little a file as "file/".
    if (whole.ends_with('/') || whole.ends_with("/.")) made += '/';
    return made;
}

std::string absolute_path(const std::string& path) {
    if (path.starts_with('/')) return absolute_path(path, {});
    std::error_code fault;
    const std::string folder = std::filesystem::current_path(fault).string();
    return fault ? std::string{} : absolute_path(path, folder);
}

}  // namespace zbs::system
