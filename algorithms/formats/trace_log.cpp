#include "algorithms/formats/trace_log.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/text.hpp"

namespace zbs::formats {
namespace {

constexpr double kMaxSeconds = 1e12, kMaxBytes = 1e18;
constexpr std::size_t kMaxProgram = 4096;

class Reader {
  public:
    Reader(std::string_view text, const std::string& source, const TraceLimits& limits)
        : text_(text), source_(source), limits_(limits) {}

    Result<Trace> read() {
        if (auto ok = header(); !ok) return ok.error();
        while (next_line()) {
            if (auto ok = record(); !ok) return ok.error();
        }
        const auto missing = std::ranges::find(has_line_, false);
        if (missing != has_line_.end()) {
            const std::string rank = std::to_string(missing - has_line_.begin());
            return fault("ends without a line 'rank " + rank + "'; it is cut off, or rank " + rank +
                         " has no events: add the line");
        }
        if (!text_.ends_with('\n')) builder_->set_incomplete();  // in the middle of a number, perhaps
        return std::move(*builder_).finish();
    }

  private:
    /// The next line that is neither blank nor a comment.
    bool next_line() {
        while (at_ < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', at_), text_.size());
            rest_ = text_.substr(at_, end - at_);
            at_ = end + 1;
            ++line_;
            if (rest_.ends_with('\r')) rest_.remove_suffix(1);
            skip_spaces();
            if (!rest_.empty() && rest_.front() != '#') return true;
        }
        return false;
    }
    void skip_spaces() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    }
    /// The next word of the line; empty at its end.
    std::string_view word() {
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '\t') ++end;
        const std::string_view found = rest_.substr(0, end);
        rest_.remove_prefix(end);
        skip_spaces();
        return found;
    }
    Error fault(const std::string& message) const { return invalid(message, source_ + ":" + std::to_string(line_)); }
    static std::string shown(std::string_view word) { return "'" + std::string(word.substr(0, 40)) + "'"; }

    Result<std::int64_t> integer(const char* what, std::int64_t most) {
        const std::string_view text = word();
        std::int64_t value = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty()) return fault(std::string(what) + " is missing");
        if (error != std::errc() || stop != text.data() + text.size() || value < 0 || value > most)
            return fault(std::string(what) + " must be an integer from 0 to " + std::to_string(most) + ", not " +
                         shown(text));
        return value;
    }
    Result<double> amount(const char* what, double most) {
        const std::string_view text = word();
        double value = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty()) return fault(std::string(what) + " are missing");
        if (error != std::errc() || stop != text.data() + text.size() || !(value >= 0) || value > most)
            return fault(std::string(what) + " must be a number from 0 to " + number_text("%g", most) + ", not " +
                         shown(text));
        return value == 0 ? 0 : value;  // no -0
    }
    Result<std::int32_t> rank() {
        const Result<std::int64_t> value = integer("a rank", builder_->rank_count() - 1);
        if (!value) return value.error();
        return static_cast<std::int32_t>(*value);
    }
    bool any() {
        if (!rest_.starts_with('*') || (rest_.size() > 1 && rest_[1] != ' ' && rest_[1] != '\t')) return false;
        word();
        return true;
    }
    Result<std::int64_t> tag() {
        if (rest_.empty()) return std::int64_t{0};
        return integer("a tag", Trace::kMaxTag);
    }

    Result<void> header() {
        if (!next_line() || word() != "zbs-trace/1") return fault("the first line must begin with zbs-trace/1");
        const Result<std::int64_t> ranks = integer("the number of ranks", limits_.max_ranks);
        if (!ranks) return ranks.error();
        if (*ranks == 0) return fault("a trace has at least one rank");
        builder_.emplace(static_cast<std::int32_t>(*ranks));
        has_line_.assign(static_cast<std::size_t>(*ranks), false);
        if (rest_.empty()) return {};
        if (word() != "incomplete" || !rest_.empty()) return fault("only 'incomplete' may follow the number of ranks");
        builder_->set_incomplete();
        return {};
    }

    Result<void> record();
    Result<void> event(std::string_view kind);
    Result<void> receive(bool waits);

    std::string_view text_;
    const std::string& source_;
    TraceLimits limits_;
    std::size_t at_ = 0;
    std::uint64_t line_ = 0;
    std::string_view rest_;
    std::optional<TraceBuilder> builder_;
    std::int32_t rank_ = -1;
    std::vector<bool> has_line_;  ///< of ranks
    std::size_t events_ = 0;
};

Result<void> Reader::record() {
    const std::string_view kind = word();
    if (kind == "program") {
        if (rest_.size() > kMaxProgram) return fault("the program's name is too long");
        builder_->set_program(std::string(rest_));
        return {};
    }
    if (kind == "unseen") {
        const Result<std::int64_t> calls = integer("the number of calls", std::int64_t{1} << 53);
        if (!calls) return calls.error();
        if (!builder_->add_unseen(rest_, static_cast<std::uint64_t>(*calls)))
            return fault("should be 'unseen CALLS FUNCTION', with at most " + std::to_string(kMaxUnseenFunctions) +
                         " functions");
        return {};
    }
    if (kind == "rank") {
        const Result<std::int32_t> number = rank();
        if (!number) return number.error();
        rank_ = *number;
        has_line_[static_cast<std::size_t>(rank_)] = true;
    } else {
        if (kind != "c" && kind != "s" && kind != "r" && kind != "p" && kind != "w")
            return fault(shown(kind) + " is no event; known are c, s, r, p, w");
        if (rank_ < 0) return fault("an event before the first line 'rank R'");
        if (++events_ > limits_.max_events)
            return Error{ErrorCode::kTooLarge, "more than " + std::to_string(limits_.max_events) + " events",
                         source_ + ":" + std::to_string(line_)};
        if (auto ok = event(kind); !ok) return ok;
    }
    if (!rest_.empty()) return fault("nothing may follow, but " + shown(rest_) + " does");
    if (builder_->channel_count() > limits_.max_channels)
        return Error{ErrorCode::kTooLarge, "more than " + std::to_string(limits_.max_channels) + " channels",
                     source_ + ":" + std::to_string(line_)};
    return {};
}

Result<void> Reader::event(std::string_view kind) {
    if (kind == "c") {
        const Result<double> seconds = amount("seconds", kMaxSeconds);
        if (!seconds) return seconds.error();
        builder_->compute(rank_, *seconds);
        return {};
    }
    if (kind == "w") {
        const Result<std::int64_t> post = integer("the number of a post", 0xffffffffLL);
        if (!post) return post.error();
        if (*post >= builder_->posts_of(rank_))
            return fault("rank " + std::to_string(rank_) + " has posted only " +
                         std::to_string(builder_->posts_of(rank_)) + " receives by now");
        builder_->wait(rank_, static_cast<std::uint32_t>(*post));
        return {};
    }
    if (kind != "s") return receive(kind == "r");
    const Result<std::int32_t> to = rank();
    if (!to) return to.error();
    const Result<double> bytes = amount("bytes", kMaxBytes);
    if (!bytes) return bytes.error();
    const Result<std::int64_t> number = tag();
    if (!number) return number.error();
    builder_->send(rank_, *to, *bytes, *number);
    return {};
}

Result<void> Reader::receive(bool waits) {
    std::int32_t from = TraceChannel::kAny;
    if (!waits || !any()) {
        const Result<std::int32_t> named = rank();
        if (!named) return named.error();
        from = *named;
    }
    std::int64_t number = TraceChannel::kAny;
    if (!waits || !any()) {
        const Result<std::int64_t> named = tag();
        if (!named) return named.error();
        number = *named;
    }
    if (waits)
        builder_->receive(rank_, from, number);
    else
        builder_->post(rank_, from, number);
    return {};
}

template <class Number>
void append(std::string& out, Number value) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);
    ZBS_EXPECTS(error == std::errc());
    out.append(text, end);
}

}  // namespace

Result<Trace> read_trace(std::string_view text, const std::string& source, const TraceLimits& limits) {
    return Reader(text, source, limits).read();
}

std::string write_trace(const Trace& trace) {
    std::string out = "zbs-trace/1 " + std::to_string(trace.rank_count()) + (trace.complete ? "\n" : " incomplete\n");
    if (!trace.program.empty()) {
        std::string line = trace.program.substr(0, kMaxProgram);
        for (char& c : line) c = c == '\n' || c == '\r' ? ' ' : c;
        out += "program " + line + "\n";
    }
    for (const auto& [function, calls] : trace.unseen) out += "unseen " + std::to_string(calls) + " " + function + "\n";
    for (std::int32_t r = 0; r < trace.rank_count(); ++r) {
        out += "rank " + std::to_string(r) + "\n";
        for (const TraceEvent& event : trace.ranks[static_cast<std::size_t>(r)]) {
            switch (event.kind) {
                case TraceEvent::Kind::kCompute:
                    out += "c ";
                    append(out, event.amount);
                    break;
                case TraceEvent::Kind::kWait:
                    out += "w ";
                    append(out, event.channel);
                    break;
                default: {
                    const TraceChannel& channel = trace.channels[event.channel];
                    const bool sends = event.kind == TraceEvent::Kind::kSend;
                    out += sends ? "s " : event.kind == TraceEvent::Kind::kReceive ? "r " : "p ";
                    const std::int32_t peer = sends ? channel.to : channel.from;
                    if (peer == TraceChannel::kAny)
                        out += "*";
                    else
                        append(out, peer);
                    if (sends) {
                        out += " ";
                        append(out, event.amount);
                    }
                    if (channel.tag == TraceChannel::kAny) {
                        out += " *";
                    } else if (channel.tag != 0) {
                        out += " ";
                        append(out, channel.tag);
                    }
                }
            }
            out += "\n";
        }
    }
    return out;
}

}  // namespace zbs::formats
