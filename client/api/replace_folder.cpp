#include "client/api/replace_folder.hpp"

#include <filesystem>

namespace zbs::client {
namespace fs = std::filesystem;

Result<void> replace_folder(const std::string& fresh, const std::string& folder) {
    const std::string old = folder + ".old";
    std::error_code fault, ignored;
    const bool there = fs::exists(folder, ignored);
    if (there) {
        fs::remove_all(old, ignored);  // else the rename fails and says why
        fs::rename(folder, old, fault);
    }
    if (!fault) {
        fs::rename(fresh, folder, fault);
        if (fault && there) fs::rename(old, folder, ignored);
    }
    if (fault) return Error{ErrorCode::kUnavailable, "cannot put the new files in place: " + fault.message(), folder};
    fs::remove_all(old, fault);
    if (fault) {
        return Error{ErrorCode::kUnavailable,
                     "the new files are in place, but the earlier ones are still here (" + fault.message() +
                         "); remove this folder",
                     old};
    }
    return {};
}

}  // namespace zbs::client
