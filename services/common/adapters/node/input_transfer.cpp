#include "services/common/adapters/node/input_transfer.hpp"

#include <algorithm>
#include <fstream>

namespace zbs::node {
namespace {

constexpr std::size_t kInputPiece = 512 * 1024;
constexpr Duration kAskAgain = std::chrono::milliseconds{500};
constexpr Duration kSilence = std::chrono::minutes{1};  ///< without a piece that is taken: then it is given up
/// Shorter than an agent keeps a file that was asked for (`InputStore::kKept`).
constexpr Duration kBelieved = std::chrono::seconds{30};
constexpr int kMostInputSetbacks = 3;

/// Bytes [offset, offset + kInputPiece), fewer at the end; none where it cannot be read.
std::optional<std::string> read_input(const std::string& path, std::uint64_t offset) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes(kInputPiece, '\0');
    if (!in.seekg(static_cast<std::streamoff>(offset))) return std::nullopt;
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (in.bad()) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

}  // namespace

Result<bool> InputTransfer::bring(const std::string& machine, const std::vector<StepSpec::Input>& inputs) {
    Line& line = lines_[machine];
    const Duration now = clock_.steady_now();
    std::erase_if(line.outcomes, [&](const auto& item) { return item.second.until <= now; });
    bool all = true;
    for (const StepSpec::Input& input : inputs) {
        if (const auto at = line.outcomes.find(input.digest); at != line.outcomes.end()) {
            if (!at->second.fault) continue;
            const Error fault = *at->second.fault;
            line.outcomes.erase(at);
            return fault;
        }
        all = false;
        const bool known = std::ranges::any_of(
            line.waiting, [&](const Transfer& transfer) { return transfer.input.digest == input.digest; });
        if (!known) line.waiting.push_back({.input = input});
    }
    if (!line.busy) begin_next(machine);
    return all;
}

void InputTransfer::forget(const std::string& machine) { lines_[machine].outcomes.clear(); }

void InputTransfer::begin_next(const std::string& machine) {
    Line& line = lines_[machine];
    line.busy = !line.waiting.empty();
    if (!line.busy) return;
    line.waiting.front().until = clock_.steady_now() + kSilence;
    ask(machine);
}

void InputTransfer::ask(const std::string& machine) {
    http::NodeClient* const client = client_of_(machine);
    if (client == nullptr) return retry(machine, {ErrorCode::kUnavailable, "its agent has not registered", {}});
    client->find_input(lines_[machine].waiting.front().input.digest,
                       [this, machine](const Result<FilePresence>& answer) {
                           if (!answer) return retry(machine, answer.error());
                           if (answer->complete) return end(machine, std::nullopt);
                           send(machine, answer->have);
                       });
}

void InputTransfer::send(const std::string& machine, std::uint64_t offset) {
    Transfer& transfer = lines_[machine].waiting.front();
    const StepSpec::Input& input = transfer.input;
    if (offset > input.size)
        return end(machine, Error{ErrorCode::kRejected,
                                  "its agent says that it has " + std::to_string(offset) + " bytes of " +
                                      std::to_string(input.size) + "; empty the folder 'files' in its state folder",
                                  {}});
    // An agent that has all, but does not call it complete, is made to look at the checksum once more.
    const std::uint64_t from = std::min(offset, input.size > 0 ? input.size - 1 : 0);
    std::optional<std::string> bytes = read_input(input.path, from);
    if (!bytes || (bytes->empty() && from < input.size))
        return end(machine, Error{ErrorCode::kRejected, "it is not at the zone any more; submit the job again", {}});
    bytes->resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes->size(), input.size - from)));
    const std::uint64_t end_of_piece = from + bytes->size();
    http::NodeClient* const client = client_of_(machine);
    if (client == nullptr) return retry(machine, {ErrorCode::kUnavailable, "its agent has not registered", {}});
    transfer.sent += bytes->size();
    client->put_input(
        input.digest, {.token = 0, .size = input.size, .offset = from, .bytes = *std::move(bytes)},
        [this, machine, end_of_piece](const Result<FilePresence>& answer) { take(machine, end_of_piece, answer); });
}

void InputTransfer::take(const std::string& machine, std::uint64_t end_of_piece, const Result<FilePresence>& answer) {
    if (!answer) return retry(machine, answer.error());
    Transfer& transfer = lines_[machine].waiting.front();
    if (answer->complete && answer->have == transfer.input.size) return end(machine, std::nullopt);
    const bool taken = answer->have >= end_of_piece && !answer->complete && end_of_piece < transfer.input.size;
    if (!taken) return retry(machine, {ErrorCode::kConflict, "its agent does not take what is sent", {}});
    transfer.until = clock_.steady_now() + kSilence;
    send(machine, answer->have);
}

/// Silence, a gap and a wrong checksum are no end: what the agent has is asked anew.
void InputTransfer::retry(const std::string& machine, const Error& error) {
    Transfer& transfer = lines_[machine].waiting.front();
    const bool may_pass =
        is_passing(error) || (error.code == ErrorCode::kConflict && ++transfer.setbacks < kMostInputSetbacks);
    if (!may_pass || clock_.steady_now() >= transfer.until) return end(machine, error);
    clock_.after(kAskAgain, [this, machine] { ask(machine); });
}

void InputTransfer::end(const std::string& machine, std::optional<Error> fault) {
    Line& line = lines_[machine];
    const Transfer done = std::move(line.waiting.front());
    line.waiting.pop_front();
    if (fault) {
        fault = Error{fault->code == ErrorCode::kTooLarge ? fault->code : ErrorCode::kRejected,
                      "file " + done.input.name + " could not be brought to machine " + machine + ": " + fault->message,
                      {}};
        log_.warn("input_not_sent", {{"machine", machine}, {"reason", fault->message}});
    } else if (done.sent > 0) {
        log_.info("input_sent",
                  {{"machine", machine}, {"file", done.input.name}, {"bytes", std::to_string(done.sent)}});
    }
    line.outcomes[done.input.digest] = {clock_.steady_now() + kBelieved, std::move(fault)};
    begin_next(machine);
}

}  // namespace zbs::node
