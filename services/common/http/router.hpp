#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "services/common/authorisation/action.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::http {

/// What a handler gets: the call, its body as JSON where the route takes one, and where the answer goes.
struct Request {
    const Call& call;
    const codec::Json& json;  ///< null where the route takes no body
};
using Handler = std::function<void(const Request&, Respond)>;
/// A handler that answers at once.
using SyncHandler = std::function<Reply(const Request&)>;

/// What a route reads, which bounds its size: nothing; JSON of at most `limits::kMaxSmallBodyBytes`; JSON with a piece
/// of a file; JSON with a model or files.
enum class Body { kNone, kJson, kFilePiece, kLargeJson };

/// Whether the body of `call` comes as application/json. Browsers send other types for pages of other sites without
/// asking us first.
bool is_json(const Call& call);
/// The reply to a body of another type: 415.
Reply not_json();

/// What a service adds to the routes, to each call. What is left out does not happen, and without a guard nothing is
/// served.
struct RouterHooks {
    /// Asked before a call's body is read; a call that it refuses reaches no handler.
    std::function<Result<void>(Action, const Call&)> guard{};
    /// Receives the end of every call that passed the guard: its action and status.
    std::function<void(Action, const Call&, int status)> watch{};
    /// Names each call; the name goes back in the header Zbs-Request-Id.
    std::function<std::string()> fresh_id{};
    /// Called with the route and the cause when a handler throws: our own bug, for the log.
    std::function<void(const std::string&)> on_exception{};
};

/// Method and path pattern to handler. `{name}` matches one segment. Where several
/// patterns match a path, it is the one that was added first. HEAD is answered as GET. Unknown path: 404; known
/// path, other method: 405 with Allow.
class Router {
  public:
    explicit Router(RouterHooks hooks = {}) : hooks_(std::move(hooks)) {}
    void add(const char* method, const char* pattern, Action action, Body body, Handler handler);
    void add_sync(const char* method, const char* pattern, Action action, Body body, SyncHandler handler);
    /// How many bytes of the body of a call may be read before `dispatch`, by its head alone. None if no route reads
    /// the body, or if the route is for callers with an identity and this one has none: `dispatch` answers without it.
    /// From any thread.
    std::optional<std::size_t> body_limit(const Call& head) const;
    /// Answers exactly once; a handler that throws is answered for with 500 and no details.
    void dispatch(Call call, Respond respond) const;
    /// "METHOD pattern operationId" of every route, sorted: compared with the OpenAPI document.
    std::vector<std::string> routes() const;

  private:
    struct Route {
        std::string method;
        std::vector<std::string> segments;
        std::string pattern;
        bool takes_rest = false;  ///< its last parameter, written {name...}, may hold '/'
        Action action;
        Body body;
        Handler handler;
    };
    const Route* find_route(const Call& call, std::map<std::string, std::string>& parameters,
                            std::string& allowed) const;

    RouterHooks hooks_;
    std::vector<Route> routes_;
};

/// GET /livez, /healthz and /readyz of a service that is well and ready whenever it answers, and /openapi.json, which
/// gives `contract`. The router must not outlive `contract`.
void add_health_and_contract(Router& router, const std::string& contract);

}  // namespace zbs::http
