#include "client/cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::cli {
namespace {

namespace fs = std::filesystem;

/// 0, or the errno of the fault.
int write_and_close(int descriptor, std::string_view text) {
    const int fault = write_all(descriptor, text) ? 0 : errno;
    return close(descriptor) != 0 && fault == 0 ? errno : fault;
}

/// The number of our own descriptor that `path` stands for.
std::optional<int> descriptor_of(const fs::path& path) {
    std::error_code fault;
    const std::string folder = fs::canonical(path.parent_path(), fault).string();
    if (fault || (folder != "/proc/" + std::to_string(getpid()) + "/fd")) return {};
    const auto number = parse_number<unsigned>(path.filename().string());
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

int write_to_descriptor(int descriptor, std::string_view text) {
    if (descriptor == STDOUT_FILENO) {  // behind what was said before
        std::cout.flush();
        std::fflush(stdout);
    }
    const int fault = write_all(descriptor, text) ? 0 : errno;
    return fault == EPIPE && descriptor == STDOUT_FILENO ? 0 : fault;
}

int write_in_place(const std::string& path, std::string_view text) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    return descriptor < 0 ? errno : write_and_close(descriptor, text);
}

/// Where `before` is something, its mode and owner are kept.
int write_beside(const fs::path& target, const struct stat* before, std::string_view text) {
    fs::path draft;
    int descriptor = -1;
    for (int i = 0; descriptor < 0 && i < 100; ++i) {
        draft = target.parent_path() / (".zbs-" + std::to_string(getpid()) + "-" + std::to_string(i) + ".new");
        descriptor = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) return errno;
    }
    if (descriptor < 0) return errno;
    if (before != nullptr) {
        // Only root can give a file away. Without its group nobody else gets more than the file gave to all.
        const bool is_owned = fchown(descriptor, before->st_uid, before->st_gid) == 0;
        const bool is_of_group = is_owned || fchown(descriptor, static_cast<uid_t>(-1), before->st_gid) == 0;
        fchmod(descriptor, before->st_mode & (is_of_group ? 0777U : 0707U));
    }
    int fault = write_and_close(descriptor, text);
    if (fault == 0 && std::rename(draft.c_str(), target.c_str()) != 0) fault = errno;
    if (fault != 0) unlink(draft.c_str());
    return fault;
}

int write_to(const std::string& path, std::string_view text) {
    fs::path target = path;
    for (int links = 0;; ++links) {
        if (const auto own = descriptor_of(target)) return write_to_descriptor(*own, text);
        std::error_code fault;
        if (!fs::is_symlink(fs::symlink_status(target, fault))) break;
        if (links == 40) return ELOOP;
        const fs::path next = fs::read_symlink(target, fault);
        if (fault) return fault.value();
        target = target.parent_path() / next;
    }
    struct stat before {};
    if (stat(target.c_str(), &before) != 0) return errno == ENOENT ? write_beside(target, nullptr, text) : errno;
    if (!S_ISREG(before.st_mode)) return write_in_place(target, text);
    if (faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) return errno;           // not of the real user
    if (before.st_uid != geteuid() && geteuid() != 0) return write_in_place(target, text);  // stays its owner's
    const int fault = write_beside(target, &before, text);
    const bool has_no_beside =
        fault == EACCES || fault == EPERM || fault == EBUSY || fault == EROFS;  // also where mounted
    return has_no_beside ? write_in_place(target, text) : fault;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
    std::error_code fault;
    if (fs::is_character_file(a, fault)) return false;
    if (fs::equivalent(a, b, fault) && !fault) return true;
    // A file that does not exist yet, perhaps behind a link.
    const auto place = [&fault](fs::path path) {
        for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(path, fault)); ++links)
            path = path.parent_path() / fs::read_symlink(path, fault);
        return fs::weakly_canonical(fs::absolute(path, fault), fault);
    };
    return place(a) == place(b);
}

}  // namespace

Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
    const auto path_of = [](const NamedFile& file) { return file.path == "-" ? "/dev/stdout" : file.path; };
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].path.empty()) continue;
        for (std::size_t j = 0; j < i; ++j)
            if (!outputs[j].path.empty() && is_same_file(path_of(outputs[i]), path_of(outputs[j])))
                return invalid("would write the same file as " + outputs[j].option, outputs[i].option);
        for (const NamedFile& input : inputs)
            if (!input.path.empty() && input.path != "-" && is_same_file(path_of(outputs[i]), input.path))
                return invalid("would overwrite the file of " + input.option, outputs[i].option);
    }
    return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
    const int fault = path == "-" ? write_to_descriptor(STDOUT_FILENO, text) : write_to(path, text);
    if (fault == 0) return {};
    return Error{ErrorCode::kInternal, std::string("cannot be written: ") + std::strerror(fault),
                 path == "-" ? "standard output" : path};
}

}  // namespace zbs::cli
