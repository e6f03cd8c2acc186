#include "client/cli/applications/application_follow.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>

#include "client/api/event_waiter.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

std::atomic<int> interrupts{0}, handled{0};
std::atomic<std::int64_t> interrupted_at{0};  ///< steady milliseconds, of the last one that counted

/// A shell, a batch system or a wrapper often passes on a signal that the terminal sent to this command too: what comes
/// within a second counts once.
void on_interrupt(int) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t at = static_cast<std::int64_t>(now.tv_sec) * 1'000 + now.tv_nsec / 1'000'000;
    if (interrupts > 0 && at - interrupted_at < 1'000) return;
    interrupted_at = at;
    ++interrupts;
}

/// Whether somebody wrote to our standard input, a pipe or a file.
bool has_input() {
    int bytes = 0;
    return isatty(0) == 0 && ioctl(0, FIONREAD, &bytes) == 0 && bytes > 0;
}

/// Whether both lead to one terminal, file or pipe.
bool is_same(std::FILE* a, std::FILE* b) {
    struct stat one {
    }, other{};
    return a == b || (fstat(fileno(a), &one) == 0 && fstat(fileno(b), &other) == 0 && one.st_dev == other.st_dev &&
                      one.st_ino == other.st_ino);
}

/// Reasons of waiting change without an event.
constexpr std::chrono::seconds kCheckAgain{2};

/// Until there may be something new of an application in this state: output, which no event announces, or a change.
/// True where the change should be examined.
bool wait_to_follow(client::EventWaiter& events, const client::Polling& polling, const std::string& state) {
    const auto interrupted = [before = interrupts.load()] { return interrupts != before; };
    if (state != "running" && !is_ended(state)) return events.wait(kCheckAgain, interrupted) || interrupted();
    return events.wait(polling.next_pause(), interrupted) || interrupted();
}

}  // namespace

LogFollower::~LogFollower() {
    for (const auto& [key, rest] : partial_) {
        if (!rest.empty()) emit_line(key.substr(0, key.find('/')), rest, stream_of(key.substr(key.find('/') + 1)));
    }
}

Result<bool> LogFollower::copy() {
    const Result<Json> answer = zone_.get("/v1/applications/" + id_ + "/logs");
    if (!answer) return answer.error();
    const client::LogIndexView index = client::decode_log_index(*answer);
    for (const auto& [rank, stream, bytes] : index.files) {
        if (!only_rank_.empty() && rank != only_rank_) continue;
        rank_known_ = true;
        std::uint64_t& at = offsets_[rank + "/" + stream];
        while (fault_of(stream_of(stream)) == 0 && at < bytes) {
            const Result<client::ZoneClient::LogChunk> chunk = zone_.log(id_, rank, stream, at);
            if (!chunk) return chunk.error();
            if (chunk->bytes.empty()) break;
            emit(rank, stream, chunk->bytes);
            at = chunk->next_offset;
        }
    }
    flush(streams_.out);
    flush(streams_.err);
    if (!only_rank_.empty() && !rank_known_) {
        // One without output is in no index, as one that does not exist: the zone knows which.
        const Result<client::ZoneClient::LogChunk> nothing = zone_.log(id_, only_rank_, "stdout", 0);
        if (!nothing) return nothing.error();
        rank_known_ = true;
    }
    return index.complete;
}

void LogFollower::emit(const std::string& rank, const std::string& stream, const std::string& bytes) {
    std::FILE* const out = stream_of(stream);
    if (!label_) {
        return put(bytes, out);
    }
    std::string& rest = partial_[rank + "/" + stream];
    std::size_t begin = 0, from = rest.size();  // what was there before holds no line end
    rest += bytes;
    for (std::size_t end; (end = rest.find('\n', from)) != std::string::npos; begin = from = end + 1) {
        emit_line(rank, std::string_view(rest).substr(begin, end - begin), out);
    }
    rest.erase(0, begin);
}

void LogFollower::emit_line(const std::string& rank, std::string_view line, std::FILE* out) {
    put("[" + rank + "] ", out);
    put(line, out);
    put("\n", out);
}

void LogFollower::put(std::string_view bytes, std::FILE* out) {
    begin();
    if (fault_of(out) != 0) return;
    errno = 0;
    if (std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size()) fault_of(out) = errno != 0 ? errno : EIO;
    if (!label_ && !bytes.empty() && is_same(out, stderr)) is_line_open_ = bytes.back() != '\n';
}

void LogFollower::end_line() {
    if (std::exchange(is_line_open_, false)) std::cerr << "\n";
}

void LogFollower::flush(std::FILE* out) {
    if (fault_of(out) != 0) return;
    errno = 0;
    if (std::fflush(out) != 0) fault_of(out) = errno != 0 ? errno : EIO;
}

DelegationKeeper::DelegationKeeper(client::ZoneClient& zone, std::string id, Duration walltime)
    : zone_(zone), id_(std::move(id)), lifetime_(client::delegation_lifetime(walltime)) {}

Result<void> DelegationKeeper::sign() {
    signed_at_ = std::chrono::steady_clock::now();
    Result<void> handed = client::delegate(zone_, id_, id_, lifetime_);
    // An application that was submitted under this id before may have ended between the two calls of this, and took
    // what the first had begun along.
    if (!handed && handed.error().code == ErrorCode::kNotFound) handed = client::delegate(zone_, id_, id_, lifetime_);
    return handed;
}

void DelegationKeeper::look(const std::string& state) {
    if (state != "accepted" && state != "planned") return;
    if (std::chrono::steady_clock::now() - signed_at_ < lifetime_ / 2) return;
    if (auto renewed = sign(); !renewed)
        std::cerr << "zbs: the delegation could not be renewed: " << printable(http::text_with_place(renewed.error()))
                  << "\n";
}

std::string way_back(const std::vector<std::string>& ids) {
    if (ids.size() != 1) return "zbs: applications go on without this command; 'zbs list' shows them";
    return "zbs: " + ids[0] + " goes on without this command; 'zbs wait " + ids[0] + "' and 'zbs logs -f " + ids[0] +
           "' return to it";
}

void fail_to_follow(Context& context, const Error& error, const std::string& id) {
    context.fail(error);
    if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout) std::cerr << way_back({id}) << "\n";
}

namespace {

/// What the user of a followed application is shown beside its output, each thing once.
class Notices {
  public:
    Notices(LogFollower& logs, const std::string& id, bool quiet) : logs_(logs), id_(id), quiet_(quiet) {}
    void report_input() {
        if (!input_reported_ && has_input()) {
            input_reported_ = true;
            logs_.end_line();
            std::cerr << "zbs: standard input is not forwarded to the program\n";
        }
    }
    /// Its plan, once it runs, and the reason for which it waits.
    void report_state(const ApplicationView& view) {
        const std::string &state = view.state, &reason = view.reason;
        if (!plan_shown_ && !view.plan.is_null() && (state == "running" || is_ended(state))) {
            logs_.end_line();
            if (const auto plan = codec::decode_application_plan(view.plan))
                describe_plan(std::cerr, *plan, view.planned);
            if (const std::string grace = grace_text(view); !grace.empty())
                std::cerr << "zbs: time to save after SIGTERM (--grace): " << grace << "\n";
            plan_shown_ = true;
        }
        if (!quiet_ && !reason.empty() && !is_ended(state) && state + reason != said_) {
            said_ = state + reason;
            logs_.end_line();
            std::cerr << "zbs: " << printable(reason) << "\n";
        }
    }
    void report_lost_output() {
        if (const int fault = logs_.write_fault(); fault != 0 && fault != EPIPE && !loss_reported_) {
            loss_reported_ = true;
            logs_.end_line();
            std::cerr << "zbs: the output cannot be written: " << std::strerror(fault) << "; " << id_
                      << " goes on, and 'zbs logs " << id_ << "' has all of it\n";
        }
    }
    bool has_lost_output() const { return loss_reported_; }

  private:
    LogFollower& logs_;
    const std::string& id_;
    const bool quiet_;
    bool plan_shown_ = quiet_, input_reported_ = quiet_, loss_reported_ = false;
    std::string said_;
};

/// True when the command is to leave: the cancel failed, or it was the second interrupt.
bool leaves_on_interrupt(Context& context, client::ZoneClient& zone, const std::string& id, LogFollower& logs) {
    if (interrupts > 0 && handled == 0) {
        handled = 1;
        logs.end_line();
        std::cerr << "zbs: cancelling " << id << " (once more to leave without waiting)\n";
        if (auto answer = zone.cancel(id); !answer) {
            context.fail(answer.error());
            std::cerr << "zbs: the zone may not have received the cancel; 'zbs cancel " << id << "' repeats it\n";
            return true;
        }
    }
    if (interrupts > 1) {
        logs.end_line();
        std::cerr << "zbs: left " << id << ", which is being cancelled; 'zbs wait " << id << "' takes it up again\n";
        context.exit_code = kFailed;
        return true;
    }
    return false;
}

}  // namespace

std::optional<ApplicationView> follow(Context& context, client::ZoneClient& zone, const std::string& id,
                                      const FollowOptions& options, const OutputStreams& streams,
                                      DelegationKeeper* delegation) {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    LogFollower logs(zone, id, {}, false, streams);
    Notices notices(logs, id, options.quiet);
    const auto is_interrupted = [] { return interrupts > handled; };
    outlast_absence(zone, id, is_interrupted);
    client::EventWaiter events(zone, id);
    const client::Polling polling;
    ApplicationView view;
    for (bool look = true;; look = wait_to_follow(events, polling, view.state)) {
        if (leaves_on_interrupt(context, zone, id, logs)) return {};
        notices.report_input();
        if (look) {
            Result<Json> now = zone.show(id);
            if (!now && is_interrupted()) continue;
            if (!now) {
                logs.end_line();
                fail_to_follow(context, now.error(), id);
                return {};
            }
            view = client::decode_application_view(*now);
        }
        const std::string& state = view.state;
        if (delegation != nullptr) delegation->look(state);
        notices.report_state(view);
        if (state == "running" || view.started) logs.begin();
        const Result<bool> complete = logs.copy();
        if (!complete && is_interrupted()) continue;
        if (!complete) {
            logs.end_line();
            fail_to_follow(context, complete.error(), id);
            return {};
        }
        notices.report_lost_output();
        if (is_ended(state) && *complete) {
            context.exit_code = code_of_end(view);
            if (state != "completed" || options.has_results) logs.end_line();
            // Of our own standard output `main` reports it.
            if (notices.has_lost_output() && logs.writes_files() && context.exit_code == kOk)
                context.exit_code = kUnreachable;
            if (state != "completed")
                std::cerr << "zbs: " << id << " " << state << ": " << printable(view.reason) << "\n";
            return view;
        }
    }
}

}  // namespace zbs::cli
