#pragma once
#include <functional>
#include <memory>

#include "services/common/http/call.hpp"
#include "services/common/http/trace.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/common/ports/zone_transport.hpp"

namespace zbs::http {

struct RestTransportOptions {
    std::unique_ptr<HttpClient> client;
    Caller self;                                      ///< of the zone
    std::function<void(std::function<void()>)> post;  ///< puts a callback on the domain's strand
    /// Calls to the zone itself come here instead of going over a socket: the same handlers, the same messages.
    std::function<void(Call, Respond)> own;
    /// Traces of applications; parts of theirs are noted here. None: calls carry no trace. Must outlive the transport.
    TraceBook* traces = nullptr;
    /// Called on the strand with the peer that gave an answer that no honest zone gives: larger than any, no message,
    /// or about another object than requested.
    std::function<void(const Caller& who, const Error& what)> bad_answer = [](const Caller&, const Error&) {};
    /// Called on the strand with the peer whose answer had begun and was not complete at the deadline: a slow network,
    /// or a peer that sends a byte a second.
    std::function<void(const Caller& who, const Error& what)> cut_answer = [](const Caller&, const Error&) {};
    std::function<Time()> now = [] { return Time{}; };
    /// Receives, on the strand and before the answer or the refusal, by how much the clock of a service is certainly
    /// ahead of `now`: negative if it is behind, zero if no difference is proved.
    std::function<void(const Caller& who, Duration ahead)> clock_seen = [](const Caller&, Duration) {};
};

/// ZoneTransport over REST.
std::unique_ptr<ZoneTransport> make_rest_transport(RestTransportOptions options);

}  // namespace zbs::http
