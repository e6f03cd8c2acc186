#include "services/zone_scheduler/program/preload_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

namespace zbs::zone_program {

namespace fs = std::filesystem;

Result<std::string> preload_path(const std::string& library) {
    if (library.find_first_of(" :") == std::string::npos) return library;
    const auto cannot = [](const std::string& what, const std::string& path) {
        return Error{ErrorCode::kUnavailable,
                     "[mpi] 'profiler' needs a path without blanks and colons for LD_PRELOAD; cannot " + what + " " +
                         path + ": " + std::strerror(errno) + "; install the library elsewhere",
                     {}};
    };
    const std::string folder = "/tmp/zbs-preload-" + std::to_string(geteuid());
    struct stat found {};
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return cannot("make", folder);
    // The folder must be ours alone: what it names is loaded into jobs.
    if (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
        (found.st_mode & 022) != 0) {
        errno = EPERM;
        return cannot("use", folder);
    }
    if (chmod(folder.c_str(), 0755) != 0) return cannot("open", folder);
    const std::string place = folder + "/" + std::to_string(std::hash<std::string>{}(library));
    if (mkdir(place.c_str(), 0755) != 0 && errno != EEXIST) return cannot("make", place);
    if (chmod(place.c_str(), 0755) != 0) return cannot("open", place);
    const std::string link = place + "/" + fs::path(library).filename().string();
    std::error_code fault;
    if (fs::read_symlink(link, fault) == library) return link;
    const std::string fresh = link + "." + std::to_string(getpid());
    unlink(fresh.c_str());
    if (symlink(library.c_str(), fresh.c_str()) != 0 || rename(fresh.c_str(), link.c_str()) != 0)
        return cannot("make", link);
    return link;
}

}  // namespace zbs::zone_program
