#include "services/common/adapters/process/step_executor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::process {
namespace {

constexpr int kStartTimeoutMs = 5'000;

bool is_plain_name(const std::string& name) {
    return !name.empty() && name.size() <= 128 && name[0] != '.' && name.find('/') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

class StepExecutor : public Executor {
  public:
    explicit StepExecutor(StepExecutorOptions options) : options_(std::move(options)) {}

    std::string folder(const std::string& operation) override {
        ZBS_EXPECTS(is_plain_name(operation));
        const std::string path = options_.folder + "/" + operation;
        mkdir(path.c_str(), 0700);
        return path;
    }

    Result<void> start(const StepSpec& spec) override {
        ZBS_EXPECTS(!spec.argv.empty());
        const StepStatus before = status(spec.operation);
        if (before.state != StepStatus::State::kUnknown) return {};  // a repeat starts nothing twice
        const std::string path = folder(spec.operation);

        for (const auto& [name, text] : spec.files) {
            if (!is_plain_name(name) || !write_file(path + "/" + name, text))
                return system_error("cannot write " + path + "/" + name);
        }

        int ready[2];
        if (pipe2(ready, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
        std::vector<std::string> arguments = {
            options_.supervisor,
            "--operation",
            spec.operation,
            "--folder",
            path,
            "--walltime-s",
            std::to_string(std::chrono::ceil<std::chrono::seconds>(spec.walltime).count())};
        if (!spec.directory.empty()) {
            arguments.push_back("--directory");
            arguments.push_back(spec.directory);
        }
        arguments.push_back("--");
        arguments.insert(arguments.end(), spec.argv.begin(), spec.argv.end());
        std::vector<std::string> environment;
        for (const auto& [name, value] : spec.environment) environment.push_back(name + "=" + value);
        const auto pointers = [](std::vector<std::string>& texts) {
            std::vector<char*> out;
            for (std::string& text : texts) out.push_back(text.data());
            out.push_back(nullptr);
            return out;
        };

        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, (path + "/supervisor.log").c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                         0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        posix_spawn_file_actions_adddup2(&actions, ready[1], 3);
        posix_spawn_file_actions_addclosefrom_np(&actions,
                                                 4);  // sockets of this service are none of the job's business
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        pid_t pid = 0;
        const int fault = posix_spawn(&pid, options_.supervisor.c_str(), &actions, &attributes,
                                      pointers(arguments).data(), pointers(environment).data());
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        close(ready[1]);
        if (fault != 0) {
            close(ready[0]);
            errno = fault;
            return system_error("cannot start " + options_.supervisor);
        }
        const std::string answer = read_answer(ready[0]);
        close(ready[0]);
        if (answer == "ok") return {};
        return Error{
            ErrorCode::kUnavailable, answer.empty() ? "the supervisor of the step did not answer" : answer, {}};
    }

    StepStatus status(const std::string& operation) override {
        ZBS_EXPECTS(is_plain_name(operation));
        const std::string path = options_.folder + "/" + operation;
        if (const auto ended = read_exit(path)) return *ended;
        const auto supervisor = read_supervisor(path);
        if (!supervisor) return {};
        if (is_alive(*supervisor)) return {StepStatus::State::kRunning, 0, {}};
        if (const auto ended = read_exit(path)) return *ended;  // it ended between the two looks
        const std::vector<ProcessRef> left = find_marked(step_variable(operation), 0);
        for (const ProcessRef& process : left) send_signal(process, SIGKILL);
        // It has ended once nothing of it is alive; the next look will tell.
        if (!left.empty()) return {StepStatus::State::kRunning, 0, {}};
        write_file(path + "/exit", "137 the step's supervisor was killed\n");
        return {StepStatus::State::kExited, 137, "the step's supervisor was killed"};
    }

    void stop(const std::string& operation, Duration grace) override {
        const std::string path = options_.folder + "/" + operation;
        write_file(path + "/stop", std::to_string(grace / std::chrono::milliseconds{1}) + "\n");
        if (const auto supervisor = read_supervisor(path)) send_signal(*supervisor, SIGTERM);
    }

    Result<std::string> read(const std::string& operation, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override {
        if (!is_plain_name(operation) || !is_plain_name(file)) return invalid("no name of a file");
        const std::string path = options_.folder + "/" + operation + "/" + file;
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0) return Error{ErrorCode::kNotFound, "no file " + file, {}};
        std::string text(limit, '\0');
        std::size_t filled = 0;
        while (filled < limit) {
            const ssize_t got = pread(fd, text.data() + filled, limit - filled, static_cast<off_t>(offset + filled));
            if (got <= 0) break;
            filled += static_cast<std::size_t>(got);
        }
        close(fd);
        text.resize(filled);
        return text;
    }

    std::vector<File> list(const std::string& operation, const std::string& prefix) override {
        std::vector<File> files;
        if (!is_plain_name(operation)) return files;
        DIR* folder = opendir((options_.folder + "/" + operation).c_str());
        if (folder == nullptr) return files;
        while (const dirent* entry = readdir(folder)) {
            struct stat info {};
            if (!std::string_view(entry->d_name).starts_with(prefix) || entry->d_name[0] == '.') continue;
            if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
                continue;
            files.push_back({entry->d_name, static_cast<std::uint64_t>(info.st_size)});
        }
        closedir(folder);
        std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.name < b.name; });
        return files;
    }

  private:
    static Error system_error(const std::string& what) {
        return {ErrorCode::kUnavailable, what + ": " + std::strerror(errno), {}};
    }

    /// "ok", or the supervisor's own words; ends at end of file or after kStartTimeoutMs.
    static std::string read_answer(int fd) {
        std::string answer;
        pollfd waiting{fd, POLLIN, 0};
        while (poll(&waiting, 1, kStartTimeoutMs) > 0) {
            char chunk[512];
            const ssize_t got = ::read(fd, chunk, sizeof chunk);
            if (got <= 0) break;
            answer.append(chunk, static_cast<std::size_t>(got));
        }
        return answer;
    }

    static std::optional<StepStatus> read_exit(const std::string& path) {
        const auto text = read_file(path + "/exit");
        if (!text || text->empty()) return std::nullopt;
        StepStatus status{StepStatus::State::kExited, 0, {}};
        std::size_t space = text->find(' ');
        status.exit_code = std::atoi(text->c_str());
        if (space != std::string::npos) status.reason = text->substr(space + 1, text->find('\n') - space - 1);
        return status;
    }

    static std::optional<ProcessRef> read_supervisor(const std::string& path) {
        const auto text = read_file(path + "/supervisor");
        ProcessRef process;
        unsigned long long start = 0;
        if (!text || std::sscanf(text->c_str(), "%d %llu", &process.pid, &start) != 2) return std::nullopt;
        process.start_time = start;
        return process;
    }

    StepExecutorOptions options_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_step_executor(StepExecutorOptions options) {
    if (mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return Error{
            ErrorCode::kUnavailable, "cannot make the folder " + options.folder + ": " + std::strerror(errno), {}};
    }
    if (access(options.supervisor.c_str(), X_OK) != 0) {
        return Error{ErrorCode::kUnavailable,
                     "the program " + options.supervisor + " cannot be run: " + std::strerror(errno),
                     {}};
    }
    signal(SIGCHLD, SIG_IGN);  // supervisors are watched by number and start time; nobody waits for them
    return std::unique_ptr<Executor>(new StepExecutor(std::move(options)));
}

}  // namespace zbs::process
