#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/messages/application.hpp"
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

/// Where a zone can be called: one address, or those of all its schedulers, of which one is active. Knows no network.
class HomeAddresses {
  public:
    /// Addresses with commas between them; spaces around them do not count. An empty one stays, and is refused as any
    /// that is no address.
    explicit HomeAddresses(std::string_view list);
    /// The one to call; empty where the list was.
    const std::string& current() const { return urls_[at_]; }
    /// The current one does not answer, or stands by: the next is the current one, behind the last the first again.
    void turn() { at_ = (at_ + 1) % urls_.size(); }
    /// In the order in which they are tried; one that is empty where the list was.
    const std::vector<std::string>& all() const { return urls_; }
    bool has_several() const { return urls_.size() > 1; }

  private:
    std::vector<std::string> urls_;
    std::size_t at_ = 0;
};

/// Safe to repeat: the id is in the request.
HttpCall submit_call(const ServiceAddress& home, const ApplicationRequest& request);
HttpCall show_call(const ServiceAddress& home, const std::string& id);
HttpCall cancel_call(const ServiceAddress& home, const std::string& id);

/// Whether an application in this state, as the home zone words it, changes no more.
bool is_ended(const std::string& state);

}  // namespace zbs::client
