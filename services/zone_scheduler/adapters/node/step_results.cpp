#include "services/zone_scheduler/adapters/node/step_results.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "algorithms/base/expects.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs::node {
namespace {

namespace fs = std::filesystem;

// Results with one of these names are left out.
constexpr const char* kEndFile = ".end";
constexpr const char* kNewEndFile = ".end-new";
constexpr const char* kLeftOutFile =
    ".left-out";  ///< a line each: name in percent code, bytes, whether a folder, reason

bool is_word(const std::string& name) {
    return !name.empty() && name.size() <= 255 && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
}

/// Also in folders of the step's. None of ours.
bool is_file(const std::string& name) {
    return file_name_fault(name).empty() && name != kEndFile && name != kNewEndFile && name != kLeftOutFile;
}

constexpr const char* kSiteFault = " site-fault";  ///< behind the code
constexpr off_t kMaxUnwritten = 16 << 20;          ///< bytes

/// Has the disk write a file that grows by and by: its end would keep everybody waiting for all of it.
void write_out(const std::string& path, std::size_t added) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    const off_t end = ::lseek(fd, 0, SEEK_END), begin = end - static_cast<off_t>(added);
    static_cast<void>(::sync_file_range(fd, begin, static_cast<off_t>(added), SYNC_FILE_RANGE_WRITE));
    if (begin > 2 * kMaxUnwritten)
        static_cast<void>(::sync_file_range(fd, begin - 2 * kMaxUnwritten, kMaxUnwritten, SYNC_FILE_RANGE_WAIT_BEFORE));
    ::close(fd);
}

Error no_file(const std::string& file) { return {ErrorCode::kNotFound, "no file " + file, {}}; }

Error cannot_write(const std::string& path) {
    return {ErrorCode::kUnavailable, "cannot write " + path + "; is the disk full?", {}};
}

}  // namespace

bool StepResults::make_durable(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool done = fd >= 0 && ::fsync(fd) == 0;
    if (fd >= 0) ::close(fd);
    return done;
}

bool StepResults::has_space(std::uint64_t bytes) const {
    std::error_code fault;
    fs::create_directories(folder_, fault);
    const fs::space_info disk = fs::space(folder_, fault);
    if (fault) return false;
    const std::uint64_t kept = std::max<std::uint64_t>(reserve_.bytes, disk.capacity / 100 * reserve_.percent);
    return disk.available >= kept && disk.available - kept >= bytes;
}

Result<void> StepResults::append(const StepId& step_id, const std::string& file, std::string_view bytes) {
    if (!is_word(step_id) || !is_file(file)) return no_file(file);
    std::error_code fault;
    const std::string name = path(step_id) + "/" + file;
    fs::create_directories(fs::path(name).parent_path(), fault);
    std::ofstream out(name, std::ios::binary | std::ios::app);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) return cannot_write(path(step_id));
    if (!bytes.empty()) write_out(name, bytes.size());
    return {};
}

Result<void> StepResults::keep(const StepId& step_id, const std::string& file, bool executable) {
    if (!is_word(step_id) || !is_file(file)) return no_file(file);
    const std::string name = path(step_id) + "/" + file;
    std::error_code fault;
    if (executable) fs::permissions(name, fs::perms::owner_exec, fs::perm_options::add, fault);
    if (fault || !durable_(name)) return cannot_write(name);
    for (fs::path folder = fs::path(name).parent_path(); folder != path(step_id); folder = folder.parent_path())
        if (!durable_(folder.string())) return cannot_write(folder.string());
    return {};
}

Result<void> StepResults::finish(const StepId& step_id, const StepStatus& end) {
    ZBS_EXPECTS(end.state == StepStatus::State::kExited);
    if (!is_word(step_id)) return no_file(step_id);
    std::error_code fault;
    fs::create_directories(path(step_id), fault);
    const std::string name = path(step_id) + "/" + kEndFile;
    const std::string fresh = path(step_id) + "/" + kNewEndFile;
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << end.exit_code << (end.is_site_fault ? kSiteFault : "") << "\n" << end.reason;
    out.close();
    if (!out || !durable_(fresh)) return cannot_write(name);
    fs::rename(fresh, name, fault);
    if (fault || !durable_(path(step_id)) || !durable_(folder_)) return cannot_write(name);
    return {};
}

Result<void> StepResults::leave_out(const StepId& step_id, const StepFiles::File& file) {
    if (!is_word(step_id) || file.name.empty()) return no_file(file.name);
    std::string reason = file.fault.substr(0, 400);
    std::ranges::replace(reason, '\n', ' ');
    std::error_code fault;
    fs::create_directories(path(step_id), fault);
    std::ofstream out(path(step_id) + "/" + kLeftOutFile, std::ios::binary | std::ios::app);
    out << http::encode_percent(file.name) << " " << file.bytes << " " << file.is_folder << " " << reason << "\n";
    out.flush();
    if (!out) return cannot_write(path(step_id));
    return {};
}

void StepResults::drop(const StepId& step_id, const std::string& file) {
    std::error_code fault;
    if (is_word(step_id) && is_file(file)) fs::remove(path(step_id) + "/" + file, fault);
}

void StepResults::clear(const StepId& step_id) {
    std::error_code fault;
    if (is_word(step_id)) fs::remove_all(path(step_id), fault);
}

bool StepResults::has(const StepId& step_id) const {
    std::error_code fault;
    return is_word(step_id) && fs::is_directory(path(step_id), fault);
}

std::optional<StepStatus> StepResults::end_of(const StepId& step_id) const {
    if (!is_word(step_id)) return std::nullopt;
    std::ifstream in(path(step_id) + "/" + kEndFile, std::ios::binary);
    StepStatus end{.state = StepStatus::State::kExited};
    std::string word;
    if (!(in >> end.exit_code) || !std::getline(in, word) || in.eof()) return std::nullopt;
    end.is_site_fault = word == kSiteFault;
    if (!word.empty() && !end.is_site_fault) return std::nullopt;
    std::ostringstream rest;
    rest << in.rdbuf();
    end.reason = rest.str();
    return end;
}

Result<std::string> StepResults::read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                                      std::size_t limit) const {
    if (!is_word(step_id) || !is_file(file)) return no_file(file);
    const std::string name = path(step_id) + "/" + file;
    std::error_code fault;
    const std::uintmax_t size = fs::file_size(name, fault);
    std::ifstream in(name, std::ios::binary);
    if (fault || !in) return no_file(file);
    if (offset >= size) return std::string{};
    std::string text(static_cast<std::size_t>(std::min<std::uintmax_t>(limit, size - offset)), '\0');
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::vector<StepFiles::File> StepResults::list(const StepId& step_id, const std::string& prefix) const {
    std::vector<StepFiles::File> files;
    if (!is_word(step_id)) return files;
    std::error_code fault;
    const std::string top = path(step_id) + "/";
    for (fs::recursive_directory_iterator at(path(step_id), fault), end; !fault && at != end; at.increment(fault)) {
        const std::string name = at->path().string().substr(top.size());
        std::error_code missing;
        if (!is_file(name) || !name.starts_with(prefix) || !at->is_regular_file(missing)) continue;
        const std::uintmax_t bytes = at->file_size(missing);
        const fs::perms mode = missing ? fs::perms::none : at->status(missing).permissions();
        if (!missing)
            files.push_back(
                {.name = name, .bytes = bytes, .executable = (mode & fs::perms::owner_exec) != fs::perms::none});
    }
    std::ifstream left_out(path(step_id) + "/" + kLeftOutFile, std::ios::binary);
    std::string code;
    for (StepFiles::File file;
         left_out >> code >> file.bytes >> file.is_folder && std::getline(left_out >> std::ws, file.fault);) {
        const Result<std::string> name = http::decode_percent(code);
        file.name = name ? *name : "*";
        if (file.name.starts_with(prefix)) files.push_back(file);
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return files;
}

Result<StepFiles::Removal> StepResults::remove(const StepId& step_id, std::size_t at_most) {
    StepFiles::Removal removal{0, true};
    if (!has(step_id)) return removal;
    std::error_code fault;
    std::vector<fs::path> files;  // a folder behind all that is in it
    for (fs::recursive_directory_iterator at(path(step_id), fault), end; !fault && at != end; at.increment(fault))
        files.push_back(at->path());
    std::ranges::reverse(files);
    for (const fs::path& file : files) {
        if (removal.files >= at_most) {
            removal.complete = false;
            return removal;
        }
        if (!fs::remove(file, fault) || fault) return cannot_write(file.string());
        ++removal.files;
    }
    if (!fs::remove(path(step_id), fault) || fault) return cannot_write(path(step_id));
    ++removal.files;
    return removal;
}

}  // namespace zbs::node
