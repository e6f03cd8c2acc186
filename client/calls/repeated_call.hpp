#pragma once
#include <optional>

#include "services/common/ports/http_client.hpp"

namespace zbs::client {

/// What a client makes of the answers to one call, and whether it makes the call again: for calls that are safe to
/// repeat, while the service cannot be reached or says that it will later, within the client's patience. Knows no
/// network and no clock; times are steady.
class RepeatedCall {
  public:
    RepeatedCall(Duration begin, Duration patience) : give_up_(begin + patience) {}

    /// How long to wait before the same call is made again; none where `answer`, which came at `now`, is the last.
    std::optional<Duration> pause_after(const Result<HttpAnswer>& answer, Duration now);

  private:
    Duration give_up_;
    Duration pause_ = std::chrono::milliseconds{100};
};

/// The answer where it is a success. Errors: what happened on the way; the service's own words. kTimeout and
/// kUnavailable say nothing about whether the service acted.
Result<HttpAnswer> success_of(const Result<HttpAnswer>& answer);

/// Whether the same call may succeed later.
bool is_passing(const Result<HttpAnswer>& answer);

}  // namespace zbs::client
