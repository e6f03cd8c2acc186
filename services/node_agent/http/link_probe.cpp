#include "services/node_agent/http/link_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "services/common/http/reply.hpp"

namespace zbs {
namespace {

constexpr std::size_t kShortBytes = 1;

/// How many bytes came.
Result<std::size_t> read_probe(const Result<HttpAnswer>& answer) {
    if (!answer) return answer.error();
    if (answer->status != 200) return http::read_problem(answer->status, answer->body);
    return answer->body.size();
}

Duration time_of(std::size_t bytes) {
    return Duration{static_cast<std::int64_t>(bytes) * 1'000'000 /
                    static_cast<std::int64_t>(ProbeBudget::kBytesPerSecond)};
}

}  // namespace

struct LinkProbe::Run {
    ServiceAddress other;
    std::function<void(Result<ProbeReport>)> respond;
    Duration until{}, own_until{};
    Phase phase = Phase::kOwn;
    int left = kShortCalls;
    ProbeReport report;

    std::size_t wanted() const { return phase == Phase::kLong ? kBytes : kShortBytes; }
};

void LinkProbe::measure(const ProbeRequest& request, std::function<void(Result<ProbeReport>)> respond) {
    if (is_busy_)
        return respond(Error{ErrorCode::kTooManyRequests, "another probe is under way; ask again in a second", {}});
    is_busy_ = true;
    const auto run = std::make_shared<Run>();
    run->other = {request.url, {CallerKind::kNode, options_.self.who.organisation, request.node}};
    run->respond = std::move(respond);
    run->until = options_.clock.steady_now() + kDeadline;
    run->own_until = options_.clock.steady_now() + kOwnDeadline;
    run->report = {.node = request.node, .round_trip = kDeadline, .transfer = kDeadline, .overhead = kDeadline};
    ask(run);
}

void LinkProbe::ask(const std::shared_ptr<Run>& run) {
    const Duration asked = options_.clock.steady_now();
    const bool is_own = run->phase == Phase::kOwn;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>((is_own ? run->own_until : run->until) - asked);
    if (is_own && left.count() <= 0) return own_failed(run, Error{ErrorCode::kTimeout, "took longer than 1 s", {}});
    if (left.count() <= 0) return end(run, Error{ErrorCode::kUnavailable, "the probe took longer than 5 s", {}});
    options_.client.call(
        {.to = is_own ? options_.self : run->other,
         .path = "/v1/probe?bytes=" + std::to_string(run->wanted()),
         .body = {},
         .deadline = left},
        // The clock is read where the answer comes, before it waits for the strand.
        [this, run, asked](const Result<HttpAnswer>& answer) {
            const Duration took = options_.clock.steady_now() - asked;
            options_.post([this, run, took, bytes = read_probe(answer)] { answered(run, bytes, took); });
        });
}

void LinkProbe::answered(const std::shared_ptr<Run>& run, const Result<std::size_t>& bytes, Duration took) {
    ProbeReport& report = run->report;
    if (run->phase == Phase::kOwn && (!bytes || *bytes != run->wanted())) return own_failed(run, bytes);
    const std::string other = "node '" + report.node + "' at " + run->other.url;
    if (!bytes) {
        const ErrorCode why = bytes.error().code;
        return end(run, Error{why == ErrorCode::kTooManyRequests ? why : ErrorCode::kUnavailable,
                              "probe of " + other + ": " + bytes.error().message,
                              {}});
    }
    if (*bytes != run->wanted())
        return end(run, Error{ErrorCode::kUnavailable, other + " answered with another size than was asked for", {}});
    Duration& best = run->phase == Phase::kOwn     ? report.overhead
                     : run->phase == Phase::kShort ? report.round_trip
                                                   : report.transfer;
    best = std::min(best, took);
    if (--run->left > 0) return ask(run);
    if (run->phase == Phase::kOwn) return go_on(run, Phase::kShort, kShortCalls);
    if (run->phase == Phase::kShort) return go_on(run, Phase::kLong, kLongCalls);
    report.bytes = *bytes;
    end(run, report);
}

/// What is known of the overhead counts; without any, a busy agent (its answers would come too late to be compared)
/// ends it, and one that does not reach itself goes on.
void LinkProbe::own_failed(const std::shared_ptr<Run>& run, const Result<std::size_t>& bytes) {
    if (run->left == kShortCalls) {
        if (!bytes && bytes.error().code == ErrorCode::kTooManyRequests)
            return end(run, Error{ErrorCode::kTooManyRequests, "this agent is probed too often", {}});
        run->report.overhead = Duration{0};
    }
    go_on(run, Phase::kShort, kShortCalls);
}

void LinkProbe::go_on(const std::shared_ptr<Run>& run, Phase next, int calls) {
    run->phase = next;
    run->left = calls;
    ask(run);
}

void LinkProbe::end(const std::shared_ptr<Run>& run, Result<ProbeReport> report) {
    is_busy_ = false;
    options_.done();
    run->respond(std::move(report));
}

Result<void> ProbeBudget::take(std::size_t bytes, Duration now) {
    const Duration full = std::max(full_at_, now) + time_of(std::max(bytes, kMin));
    if (full - now > time_of(kBurst))
        return Error{ErrorCode::kTooManyRequests, "this node is probed too often; leave it a second of rest", {}};
    full_at_ = full;
    return {};
}

}  // namespace zbs
