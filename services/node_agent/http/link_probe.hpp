#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/node.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/http_client.hpp"

namespace zbs {

/// What this agent brings others that measure the way to it: a token bucket of bytes for all of them together, so that
/// nobody, also not an agent that has gone mad, keeps machine and network busy. Lives on the domain's strand.
class ProbeBudget {
  public:
    static constexpr std::size_t kBytesPerSecond = 1024 * 1024;
    static constexpr std::size_t kBurst = 2 * 1024 * 1024;
    static constexpr std::size_t kMin = 4 * 1024;  ///< what a call costs that brings less

    /// Takes so many bytes; `now` is the monotonic clock. Errors: kTooManyRequests, and nothing was taken.
    Result<void> take(std::size_t bytes, Duration now);

  private:
    Duration full_at_{};  ///< when the bucket will be full again; a burst ahead: it is empty
};

/// Measures the link to another agent of the organisation, which its zone names: some short calls to this agent itself,
/// of which the fastest gives the time that the programs at both ends take; as many to the other one, of which the
/// fastest is the round trip (the first one makes the connection); and three that bring `kBytes` each, of which the
/// fastest counts (one may have to make another connection).
/// The agent that answers there has to have the certificate of that node: to any other no request is sent, only a TLS
/// handshake is begun; but an agent of the zone can so have the others begin one at any address that it registers. One
/// measurement at a time. Lives on the domain's strand.
class LinkProbe {
  public:
    static constexpr int kShortCalls = 4;  ///< to each of the two
    static constexpr int kLongCalls = 3;
    static constexpr std::size_t kBytes = 256 * 1024;
    static constexpr Duration kDeadline = std::chrono::seconds{5};     ///< of all calls together
    static constexpr Duration kOwnDeadline = std::chrono::seconds{1};  ///< of those to this agent itself

    struct Options {
        HttpClient& client;  ///< should accept no answers much larger than `limits::kMaxProbeBytes`
        const Clock& clock;
        std::function<void(std::function<void()>)> post;  ///< puts work on the domain's strand
        ServiceAddress self;                              ///< this agent, as others reach it
        std::function<void()> done = [] {};               ///< called after each measurement: connections may be closed
    };
    /// What the options name must outlive this.
    explicit LinkProbe(Options options) : options_(std::move(options)) {}
    /// Where this agent listens, once that is known.
    void listens_at(std::string url) { options_.self.url = std::move(url); }

    /// `respond` is called once, on the strand. Errors: kTooManyRequests while another one is under way, and if the
    /// other side, or this agent itself, gives no more bytes now; kUnavailable if it does not answer or is not that
    /// node, and after `kDeadline`. If this agent does not reach itself within `kOwnDeadline`, the overhead is 0.
    void measure(const ProbeRequest& request, std::function<void(Result<ProbeReport>)> respond);

  private:
    enum class Phase { kOwn, kShort, kLong };
    struct Run;
    void ask(const std::shared_ptr<Run>& run);
    void answered(const std::shared_ptr<Run>& run, const Result<std::size_t>& bytes, Duration took);
    void own_failed(const std::shared_ptr<Run>& run, const Result<std::size_t>& bytes);
    void go_on(const std::shared_ptr<Run>& run, Phase next, int calls);
    void end(const std::shared_ptr<Run>& run, Result<ProbeReport> report);

    Options options_;
    bool is_busy_ = false;
};

}  // namespace zbs
