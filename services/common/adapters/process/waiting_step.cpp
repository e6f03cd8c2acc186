#include "services/common/adapters/process/waiting_step.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/process/job_folder.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/step_input.hpp"

namespace zbs::process {
namespace {

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
