#include "services/zone_scheduler/adapters/node/input_transfer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/zone_scheduler/adapters/node/agent_turns.hpp"

namespace zbs::node {
namespace {

constexpr std::size_t kInputPiece = 512 * 1024;
constexpr int kTurnPieces = 16;  ///< then another file for the same machine has its turn
constexpr Duration kAskAgain = std::chrono::milliseconds{500};
constexpr Duration kLongestPause = std::chrono::seconds{8};
constexpr Duration kSilence = std::chrono::minutes{1};  ///< without a piece that is taken: then it is given up
constexpr int kMinTries = 5;                            ///< before that
/// Shorter than an agent keeps a file that was asked for (`InputStore::kKept`).
constexpr Duration kBelieved = std::chrono::seconds{30};
constexpr int kMaxInputSetbacks = 3;

Error no_agent() { return {ErrorCode::kUnavailable, "its agent has not registered", {}}; }

}  // namespace

Result<bool> InputTransfer::stage_inputs(const MachineFiles::Need& need) {
    Line& line = lines_[need.machine];
    const Duration now = clock_.steady_now();
    std::erase_if(line.here, [&](const auto& item) { return item.second <= now; });
    if (const auto at = line.faults.find(need.who); at != line.faults.end()) {
        Error fault = std::move(at->second);
        line.faults.erase(at);
        return fault;
    }
    bool all = true;
    for (const StepSpec::Input& input : need.inputs) {
        const Content content{input.digest, input.size};
        if (line.here.contains(content)) continue;
        all = false;
        const auto [at, is_new] = line.transfers.try_emplace(content);
        at->second.wishes.insert_or_assign(need.who, input);
        if (!is_new) continue;
        at->second.pause = kAskAgain;
        line.order.push_back(content);
    }
    if (!line.busy) go_on(need.machine);
    return all;
}

void InputTransfer::take_back(const std::string& who) {
    for (auto& [machine, line] : lines_) {
        line.faults.erase(who);
        std::vector<Content> unwanted;
        for (auto& [content, transfer] : line.transfers)
            if (transfer.wishes.erase(who) > 0 && transfer.wishes.empty()) unwanted.push_back(content);
        for (const Content& content : unwanted) erase(line, content);
    }
}

void InputTransfer::forget(const MachineName& machine) { lines_[machine].here.clear(); }

void InputTransfer::erase(Line& line, const Content& content) {
    line.transfers.erase(content);
    std::erase(line.order, content);
}

InputTransfer::Transfer* InputTransfer::find(const MachineName& machine, const Content& content) {
    Line& line = lines_[machine];
    const auto at = line.transfers.find(content);
    return at == line.transfers.end() ? nullptr : &at->second;
}

/// The next one that may be tried now. Whatever was under way has ended.
void InputTransfer::go_on(const MachineName& machine) {
    Line& line = lines_[machine];
    line.busy = false;
    if (line.order.empty()) return;
    const Duration now = clock_.steady_now();
    const auto due = [&](const Content& content) { return line.transfers.at(content).not_before; };
    const auto next = std::ranges::find_if(line.order, [&](const Content& content) { return due(content) <= now; });
    if (next == line.order.end()) return rest(machine, due(*std::ranges::min_element(line.order, {}, due)));
    line.busy = true;
    const Content content = *next;
    Transfer& transfer = line.transfers.at(content);
    if (!transfer.until) transfer.until = now + kSilence;
    if (transfer.have) return send(machine, content);
    ask(machine, content);
}

void InputTransfer::rest(const MachineName& machine, Duration until) {
    if (std::exchange(lines_[machine].rests, true)) return;
    clock_.after(until - clock_.steady_now(), [this, machine] {
        Line& line = lines_[machine];
        line.rests = false;
        if (!line.busy) go_on(machine);
    });
}

void InputTransfer::ask(const MachineName& machine, const Content& content) {
    http::NodeClient* const client = client_of_(machine);
    if (client == nullptr) return retry(machine, content, no_agent());
    client->find_input(content.digest, [this, machine, content](const Result<FilePresence>& answer) {
        Transfer* const transfer = find(machine, content);
        if (transfer == nullptr) return go_on(machine);
        if (!answer) return retry(machine, content, answer.error());
        if (answer->complete) return end(machine, content, std::nullopt);
        transfer->have = answer->have;
        send(machine, content);
    });
}

void InputTransfer::send(const MachineName& machine, const Content& content) {
    const Transfer& transfer = *find(machine, content);
    if (*transfer.have > content.size)
        return end(machine, content,
                   Error{ErrorCode::kRejected,
                         "its agent says that it has " + std::to_string(*transfer.have) + " bytes of " +
                             std::to_string(content.size) + "; empty the folder 'files' in its state folder",
                         {}});
    // An agent that has all, but does not call it complete, is made to look at the checksum once more.
    const std::uint64_t from = std::min(*transfer.have, content.size > 0 ? content.size - 1 : 0);
    const std::uint64_t limit = std::min<std::uint64_t>(kInputPiece, content.size - from);
    const std::string who = transfer.wishes.begin()->first;
    read_({.path = transfer.wishes.begin()->second.path, .offset = from, .limit = static_cast<std::size_t>(limit)},
          [this, machine, content, who, from, limit](Result<std::string> bytes) {
              if (find(machine, content) == nullptr) return go_on(machine);
              if (bytes && bytes->size() == limit) return put(machine, content, from, *std::move(bytes));
              fail(machine, content, who,
                   {ErrorCode::kRejected, "it is not at the zone any more; submit the job again", {}});
              go_on(machine);
          });
}

void InputTransfer::put(const MachineName& machine, const Content& content, std::uint64_t from, std::string bytes) {
    http::NodeClient* const client = client_of_(machine);
    if (client == nullptr) return retry(machine, content, no_agent());
    const std::uint64_t end_of_piece = from + bytes.size();
    find(machine, content)->sent += bytes.size();
    client->put_input(content.digest, {.token = 0, .size = content.size, .offset = from, .bytes = std::move(bytes)},
                      [this, machine, content, end_of_piece](const Result<FilePresence>& answer) {
                          take(machine, content, end_of_piece, answer);
                      });
}

void InputTransfer::take(const MachineName& machine, const Content& content, std::uint64_t end_of_piece,
                         const Result<FilePresence>& answer) {
    Transfer* const transfer = find(machine, content);
    if (transfer == nullptr) return go_on(machine);
    if (!answer) return retry(machine, content, answer.error());
    if (answer->complete && answer->have == content.size) return end(machine, content, std::nullopt);
    const bool taken = answer->have >= end_of_piece && !answer->complete && end_of_piece < content.size;
    if (!taken) return retry(machine, content, {ErrorCode::kConflict, "its agent does not take what is sent", {}});
    transfer->have = answer->have;
    transfer->until = clock_.steady_now() + kSilence;
    transfer->pause = kAskAgain;
    transfer->failures = 0;
    if (++transfer->pieces >= kTurnPieces) {
        transfer->pieces = 0;
        Line& line = lines_[machine];
        std::erase(line.order, content);
        line.order.push_back(content);
    }
    go_on(machine);
}

/// Silence, a gap, a wrong checksum and a full agent are no end: what it has is asked anew, after others had their
/// turn.
void InputTransfer::retry(const MachineName& machine, const Content& content, const Error& error) {
    Line& line = lines_[machine];
    Transfer& transfer = line.transfers.at(content);
    const Duration now = clock_.steady_now();
    const bool may_pass =
        is_passing(error) || (error.code == ErrorCode::kConflict && ++transfer.setbacks < kMaxInputSetbacks);
    if (!may_pass || (++transfer.failures >= kMinTries && now >= *transfer.until)) return end(machine, content, error);
    transfer.have.reset();
    transfer.pieces = 0;
    transfer.not_before = now + transfer.pause;
    transfer.pause = std::min(2 * transfer.pause, kLongestPause);
    std::erase(line.order, content);
    line.order.push_back(content);
    clock_.after(Duration{0}, [this, machine] { go_on(machine); });
}

void InputTransfer::end(const MachineName& machine, const Content& content, const std::optional<Error>& fault) {
    Line& line = lines_[machine];
    const Transfer& done = line.transfers.at(content);
    if (fault) {
        const std::map<std::string, StepSpec::Input> wishes = done.wishes;
        for (const auto& [who, input] : wishes) fail(machine, content, who, *fault);
        return go_on(machine);
    }
    if (done.sent > 0)
        log_.info(
            "input_sent",
            {{"machine", machine}, {"file", done.wishes.begin()->second.name}, {"bytes", std::to_string(done.sent)}});
    line.here[content] = clock_.steady_now() + kBelieved;
    erase(line, content);
    go_on(machine);
}

/// One of those who need it cannot have it.
void InputTransfer::fail(const MachineName& machine, const Content& content, const std::string& who,
                         const Error& error) {
    Line& line = lines_[machine];
    Transfer& transfer = line.transfers.at(content);
    const auto wish = transfer.wishes.find(who);
    if (wish == transfer.wishes.end()) return;  // taken back meanwhile
    const Error failure{
        error.code == ErrorCode::kTooLarge ? error.code : ErrorCode::kRejected,
        "file " + wish->second.name + " could not be brought to machine " + machine + ": " + error.message,
        {}};
    log_.warn("input_not_sent", {{"machine", machine}, {"for", who}, {"reason", failure.message}});
    line.faults.insert_or_assign(who, failure);
    transfer.wishes.erase(wish);
    if (transfer.wishes.empty()) erase(line, content);
}

Result<std::string> read_piece(const FilePiece& piece) {
    const Descriptor file(::open(piece.path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    std::optional<std::string> bytes = file ? read_at(file.get(), piece.offset, piece.limit) : std::nullopt;
    if (bytes) return *std::move(bytes);
    return Error{ErrorCode::kUnavailable, "cannot read " + piece.path + ": " + std::strerror(errno), {}};
}

PieceReader::PieceReader(Post post) : post_(std::move(post)), thread_([this] { work(); }) {}

PieceReader::~PieceReader() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void PieceReader::read(FilePiece piece, std::function<void(Result<std::string>)> answer) {
    {
        const std::lock_guard lock(mutex_);
        wanted_.emplace_back(std::move(piece), std::move(answer));
    }
    changed_.notify_all();
}

void PieceReader::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_ending_ || !wanted_.empty(); });
        if (is_ending_) return;
        Wanted wanted = std::move(wanted_.front());
        wanted_.pop_front();
        lock.unlock();
        Result<std::string> bytes = read_piece(wanted.first);
        post_([answer = std::move(wanted.second), bytes = std::move(bytes)]() mutable { answer(std::move(bytes)); });
        lock.lock();
    }
}

}  // namespace zbs::node
