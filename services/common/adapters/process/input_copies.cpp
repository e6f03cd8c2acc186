#include "services/common/adapters/process/input_copies.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/process/job_folder.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/step_input.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs::process {
namespace {

constexpr std::size_t kCopyPiece = std::size_t{1} << 24;
/// What is not whole yet; no name of an input, which is not hidden. One copy at a time is made in a folder.
constexpr const char* kBegunCopy = ".copying";

/// Of this file, from where it stands, by reading and writing: between file systems that cannot copy themselves.
int copy_by_hand(int from, int to, std::uint64_t& copied, const std::atomic<bool>& cut) {
    std::vector<char> bytes(std::size_t{1} << 20);
    while (!cut) {
        const ssize_t got = read(from, bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? errno : 0;
        for (ssize_t done = 0; done < got;) {
            const ssize_t now = write(to, bytes.data() + done, static_cast<std::size_t>(got - done));
            if (now < 0 && errno == EINTR) continue;
            if (now < 0) return errno;
            done += now;
            copied += static_cast<std::uint64_t>(now);
        }
    }
    return ECANCELED;
}

/// 0, or what went wrong. That a copy is whole is checked: `copy_file_range` may copy less than it was asked to, and on
/// some file systems nothing, without a fault.
int copy_bytes(int from, int to, const std::atomic<bool>& cut) {
    struct stat info {};
    if (fstat(from, &info) != 0) return errno;
    if (ioctl(to, FICLONE, from) == 0) return 0;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::uint64_t copied = 0;
    while (copied < size) {
        if (cut) return ECANCELED;
        const ssize_t put = copy_file_range(from, nullptr, to, nullptr, kCopyPiece, 0);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno != EXDEV && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) return errno;
        if (put <= 0) break;
        copied += static_cast<std::uint64_t>(put);
    }
    if (copied < size) {
        if (const int fault = copy_by_hand(from, to, copied, cut); fault != 0) return fault;
    }
    return copied == size ? 0 : EIO;
}

Error cannot_copy(const StepSpec::Input& input, int number) {
    const bool full = number == ENOSPC || number == EDQUOT;
    return {full ? ErrorCode::kRejected : ErrorCode::kUnavailable,
            "file " + input.name + " cannot be laid into the folder of the job: " + std::strerror(number),
            {}};
}

/// Of a start that was cut short: then the job has not begun, and what has its name is whole.
bool is_whole(const std::string& path, int from) {
    struct stat copy {
    }, source{};
    return lstat(path.c_str(), &copy) == 0 && S_ISREG(copy.st_mode) && copy.st_nlink == 1 &&
           fstat(from, &source) == 0 && copy.st_size == source.st_size;
}

/// The folders that `name` lies in; 0, or the fault.
int make_folders(const std::string& name, const std::string& folder, const CopyOptions& options) {
    for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
        const std::string path = folder + "/" + name.substr(0, end);
        struct stat info {};
        if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno;
        if (lstat(path.c_str(), &info) != 0) return errno;
        if (!S_ISDIR(info.st_mode)) return ENOTDIR;
        if (options.owner && lchown(path.c_str(), options.owner->uid, options.owner->gid) != 0) return errno;
    }
    return 0;
}

Result<void> copy_input(const StepSpec::Input& input, int from, const std::string& folder, const CopyOptions& options) {
    if (!file_name_fault(input.name).empty()) return invalid("'" + input.name + "' is no name of a file");
    const std::string path = folder + "/" + input.name, begun = folder + "/" + kBegunCopy;
    if (const int fault = make_folders(input.name, folder, options); fault != 0) return cannot_copy(input, fault);
    if (is_whole(path, from)) return {};
    unlink(begun.c_str());  // of a start that was cut short
    static const std::atomic<bool> never{false};
    const int to = open(begun.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int number = to < 0 ? errno : 0;
    if (number == 0) number = copy_bytes(from, to, options.cut == nullptr ? never : *options.cut);
    if (number == 0 && options.owner && fchown(to, options.owner->uid, options.owner->gid) != 0) number = errno;
    if (number == 0 && fchmod(to, input.executable ? 0700 : 0600) != 0) number = errno;
    if (number == 0 && options.durable && fsync(to) != 0) number = errno;
    if (to >= 0 && close(to) != 0 && number == 0) number = errno;
    if (number == 0 && rename(begun.c_str(), path.c_str()) != 0) number = errno;
    if (number == 0) return {};
    unlink(begun.c_str());
    return cannot_copy(input, number);
}

std::uint64_t bytes_of(const std::vector<StepSpec::Input>& inputs) {
    std::uint64_t sum = 0;
    for (const StepSpec::Input& input : inputs) {
        struct stat info {};
        if (stat(input.path.c_str(), &info) == 0) sum += static_cast<std::uint64_t>(info.st_size);
    }
    return sum;
}

constexpr std::string_view kWaitingFormat = "zbs-waiting-step-1";
constexpr std::size_t kMaxWaitingBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxWaitingTexts = 1 << 20;  ///< of one kind, in what is read

std::string waiting_folder(const std::string& control) { return control + "/waiting"; }
std::string waiting_file(const std::string& control) { return waiting_folder(control) + "/step"; }

/// Texts one behind the other, each after its length: 8 bytes in this host's order.
class TextWriter {
  public:
    void add(std::string_view text) {
        const std::uint64_t size = text.size();
        out_.append(reinterpret_cast<const char*>(&size), sizeof size);
        out_ += text;
    }
    void add_number(std::int64_t number) { add(std::to_string(number)); }
    void add_all(const auto& texts) {
        add_number(static_cast<std::int64_t>(texts.size()));
        for (const std::string_view text : texts) add(text);
    }
    std::string take() { return std::move(out_); }

  private:
    std::string out_;
};

class TextReader {
  public:
    explicit TextReader(std::string_view text) : rest_(text) {}
    std::string text() {
        std::uint64_t size = 0;
        if (rest_.size() < sizeof size) return fail();
        std::memcpy(&size, rest_.data(), sizeof size);
        rest_.remove_prefix(sizeof size);
        if (size > rest_.size()) return fail();
        std::string text(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return text;
    }
    std::int64_t number() {
        const std::int64_t number = parse_number<std::int64_t>(text()).value_or(-1);
        if (number < 0) fail();
        return number;
    }
    std::size_t count() {
        const std::int64_t count = number();
        if (count > static_cast<std::int64_t>(kMaxWaitingTexts)) fail();
        return good_ ? static_cast<std::size_t>(count) : 0;
    }
    std::vector<std::string> all() {
        std::vector<std::string> texts;
        for (std::size_t left = count(); left > 0 && good_; --left) texts.push_back(text());
        return texts;
    }
    bool good() const { return good_; }
    bool is_at_end() const { return good_ && rest_.empty(); }
    std::string fail() {
        good_ = false;
        return {};
    }

  private:
    std::string_view rest_;
    bool good_ = true;
};

void remove_all_in(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
    if (entries == nullptr) return;
    while (const dirent* entry = readdir(entries.get())) unlinkat(dirfd(entries.get()), entry->d_name, 0);
}

}  // namespace

/// The inputs, open: who makes room meanwhile takes their names only.
class InputCopies::Sources {
  public:
    static Result<std::shared_ptr<Sources>> open(const std::vector<StepSpec::Input>& inputs) {
        auto sources = std::make_shared<Sources>();
        for (const StepSpec::Input& input : inputs) {
            sources->files_.push_back(::open(input.path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
            if (sources->files_.back() < 0) return cannot_copy(input, errno);
        }
        return sources;
    }
    Sources() = default;
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;
    ~Sources() {
        for (const int file : files_)
            if (file >= 0) close(file);
    }
    Result<void> copy(const std::vector<StepSpec::Input>& inputs, const std::string& folder,
                      const CopyOptions& options) const {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (auto copied = copy_input(inputs[i], files_[i], folder, options); !copied) return copied;
        return {};
    }

  private:
    std::vector<int> files_;
};

Result<void> copy_inputs(const std::vector<StepSpec::Input>& inputs, const std::string& folder,
                         const CopyOptions& options) {
    const auto sources = InputCopies::Sources::open(inputs);
    return sources ? (*sources)->copy(inputs, folder, options) : sources.error();
}

InputCopies::~InputCopies() {
    for (const auto& [step_id, waiting] : waiting_) *waiting.cut = true;  // the futures wait for their threads
}

bool InputCopies::has_to_wait(const StepSpec& spec) const {
    for (const StepId& step_id : spec.shares)
        if (waiting_.contains(step_id)) return true;
    return bytes_of(spec.inputs) >= kWorthAThread;
}

void InputCopies::begin(const StepSpec& spec, const std::string& folder, const std::optional<Account>& owner) {
    Waiting waiting{.spec = spec, .cut = std::make_shared<std::atomic<bool>>(false), .copies = {}};
    for (const StepId& step_id : spec.shares) {
        const auto at = waiting_.find(step_id);
        if (at != waiting_.end())
            waiting.copies.insert(waiting.copies.end(), at->second.copies.begin(), at->second.copies.end());
    }
    const auto sources = Sources::open(spec.inputs);
    const auto copy = [inputs = spec.inputs, sources, folder, owner, cut = waiting.cut]() -> Result<void> {
        return sources ? (*sources)->copy(inputs, folder, {.owner = owner, .cut = cut.get(), .durable = true})
                       : sources.error();
    };
    try {
        waiting.copies.push_back(std::async(std::launch::async, copy).share());
    } catch (const std::system_error&) {  // no thread to be had: everybody waits
        std::promise<Result<void>> done;
        done.set_value(copy());
        waiting.copies.push_back(done.get_future().share());
    }
    waiting_.insert_or_assign(spec.step_id, std::move(waiting));
}

void InputCopies::cut(const StepId& step_id) {
    if (const auto at = waiting_.find(step_id); at != waiting_.end()) *at->second.cut = true;
}

std::optional<InputCopies::Done> InputCopies::take(const StepId& step_id) {
    const auto at = waiting_.find(step_id);
    if (at == waiting_.end()) return std::nullopt;
    // The folder of a step is its account's from its launch on: who shares it goes after it.
    for (const StepId& shared : at->second.spec.shares)
        if (shared != step_id && waiting_.contains(shared)) return std::nullopt;
    Result<void> copied;
    for (const Copy& copy : at->second.copies) {
        if (copy.wait_for(std::chrono::seconds{0}) != std::future_status::ready) return std::nullopt;
        if (copied && !copy.get()) copied = copy.get();
    }
    Done done{std::move(at->second.spec), std::move(copied)};
    waiting_.erase(at);
    return done;
}

std::string encode_waiting(const StepSpec& spec) {
    TextWriter out;
    out.add(kWaitingFormat);
    out.add(spec.step_id);
    out.add_all(spec.argv);
    out.add(encode(StepInput{spec.environment, spec.files}));
    out.add(spec.directory);
    out.add_number(static_cast<std::int64_t>(spec.inputs.size()));
    for (const StepSpec::Input& input : spec.inputs) {
        out.add(input.name);
        out.add(input.path);
        out.add_number(input.executable ? 1 : 0);
        out.add(input.digest);
        out.add_number(static_cast<std::int64_t>(input.size));
    }
    out.add(spec.account);
    out.add_all(spec.shares);
    out.add_number(spec.walltime / std::chrono::microseconds{1});
    out.add_number(static_cast<std::int64_t>(spec.folder_bytes));
    out.add_number(spec.grace / std::chrono::microseconds{1});
    out.add_number(spec.is_launcher ? 1 : 0);
    out.add_all(spec.on_stop);
    return out.take();
}

std::optional<StepSpec> decode_waiting(std::string_view text) {
    TextReader in(text);
    if (in.text() != kWaitingFormat) return std::nullopt;
    StepSpec spec{.step_id = StepId(in.text()), .argv = in.all()};
    std::optional<StepInput> input = decode_step_input(in.text());
    if (!input || !in.good()) return std::nullopt;
    spec.environment = std::move(input->environment);
    spec.files = std::move(input->files);
    spec.directory = in.text();
    for (std::size_t left = in.count(); left > 0 && in.good(); --left) {
        StepSpec::Input& file = spec.inputs.emplace_back();
        file.name = in.text();
        file.path = in.text();
        file.executable = in.number() != 0;
        file.digest = in.text();
        file.size = static_cast<std::uint64_t>(in.number());
    }
    spec.account = AccountName(in.text());
    spec.shares = to_names<StepId>(in.all());
    spec.walltime = std::chrono::microseconds{in.number()};
    spec.folder_bytes = static_cast<std::uint64_t>(in.number());
    spec.grace = std::chrono::microseconds{in.number()};
    spec.is_launcher = in.number() != 0;
    spec.on_stop = in.all();
    if (!in.is_at_end() || !is_plain_name(spec.step_id) || spec.argv.empty()) return std::nullopt;
    for (const StepId& shared : spec.shares)
        if (!is_plain_name(shared)) return std::nullopt;
    return spec;
}

Result<void> keep_waiting(const std::string& control, StepSpec& spec) {
    mkdir(waiting_folder(control).c_str(), 0700);
    StepSpec kept = spec;
    for (std::size_t i = 0; i < kept.inputs.size(); ++i) {
        const std::string link = waiting_folder(control) + "/" + std::to_string(i);
        unlink(link.c_str());  // of a start that was cut short
        if (::link(kept.inputs[i].path.c_str(), link.c_str()) == 0) kept.inputs[i].path = link;
    }
    if (write_file(waiting_file(control), encode_waiting(kept))) {
        spec = std::move(kept);
        return {};
    }
    const std::string why = std::strerror(errno);
    forget_waiting(control);
    return Error{ErrorCode::kUnavailable,
                 "cannot write " + waiting_file(control) + " for a step that waits for its inputs: " + why +
                     "; is the disk full?",
                 {}};
}

std::optional<StepSpec> find_waiting(const std::string& control) {
    const std::optional<std::string> text = read_file(waiting_file(control), kMaxWaitingBytes);
    return text ? decode_waiting(*text) : std::nullopt;
}

void forget_waiting(const std::string& control) {
    unlink(waiting_file(control).c_str());  // first: without it nothing waits
    remove_all_in(waiting_folder(control));
    rmdir(waiting_folder(control).c_str());
}

}  // namespace zbs::process
