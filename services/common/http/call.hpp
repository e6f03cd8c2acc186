#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/common/ports/trace_context.hpp"

namespace zbs::http {

/// One request, after the edge has checked its framing, limits and identity.
struct Call {
    std::string method;                             ///< upper case
    std::string path;                               ///< decoded, without query
    std::map<std::string, std::string> query;       ///< decoded; a key given twice is refused at the edge
    std::map<std::string, std::string> parameters;  ///< of the route: {id} and the like
    std::string body;
    std::string accept;            ///< header Accept, or empty
    std::string last_event_id;     ///< header Last-Event-ID, or empty
    std::string if_none_match;     ///< header If-None-Match, all its lines, or empty; the edge heeds it
    std::string scheme = "https";  ///< of the connection: "https", or "http" without TLS
    std::string host;              ///< header Host, or empty
    std::string origin;  ///< header Origin: the site whose page makes a browser call; empty: no page, or it only reads
    std::string fetch_site;    ///< header Sec-Fetch-Site: how a browser ranks that page against us; empty: no browser
    std::string cookie;        ///< header Cookie, or empty
    std::string content_type;  ///< header Content-Type, or empty
    /// The call came with a body that the edge left unread, because no route reads it; `body` is empty then.
    bool is_body_unread = false;
    TraceContext trace;      ///< header traceparent, or none
    std::string request_id;  ///< sent to the caller, and kept in the audit log
    std::string address;  ///< number that the call comes from, of IPv6 the network (/64); empty for calls from inside
    PeerIdentity peer;    ///< as the edge established it; nothing else says who calls

    const Caller& caller() const { return peer.name(); }
};

/// A body that goes on for as long as somebody reads it. Whoever lets go of it reads no more.
class Stream {
  public:
    virtual ~Stream() = default;
    /// `give` is called once, from any thread and perhaps much later, with the next piece; an empty one is the end. One
    /// question at a time; so a reader that takes no pieces is asked for none.
    virtual void next(std::function<void(std::string piece)> give) = 0;
};

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    std::shared_ptr<Stream> stream{};  ///< what follows the body; null: nothing
};

/// Called exactly once per call, from any thread.
using Respond = std::function<void(Reply)>;

/// A call as the service at its other end reads it from its caller; for those that carry calls without a socket.
/// Errors: as `read_target`.
Result<Call> read_call(const HttpCall& call, const Caller& caller);

/// Decodes a request target, "/a%20b?c=1", into path and query of `call`. Calls over a socket and calls inside the
/// process are read by it alike. Errors: as `decode_percent` and `parse_query`.
Result<void> read_target(std::string_view target, Call& call);

/// Splits "a=1&b=2%20x"; errors: bad escapes, a key twice.
Result<std::map<std::string, std::string>> parse_query(std::string_view text);
/// Every byte but A-Z a-z 0-9 - . _ as %XX: fit for one segment of a path or one value of a query.
std::string encode_percent(std::string_view text);
/// Percent-decoding; errors: bad escapes, NUL, what is no UTF-8 (it would change on its way through JSON).
Result<std::string> decode_percent(std::string_view text);

}  // namespace zbs::http
