#pragma once
#include <functional>
#include <string>
#include <vector>

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

enum class Body { kNone, kJson };

/// Method and path pattern to handler. `{name}` matches one segment. Unknown path: 404; known path, other method: 405 with Allow.
class Router {
  public:
    void add(const char* method, const char* pattern, Body body, Handler handler);
    void add_sync(const char* method, const char* pattern, Body body, SyncHandler handler);
    void dispatch(Call call, Respond respond) const;
    /// "METHOD pattern" of every route, sorted: compared with the OpenAPI document.
    std::vector<std::string> routes() const;

  private:
    struct Route {
        std::string method;
        std::vector<std::string> segments;
        std::string pattern;
        Body body;
        Handler handler;
    };
    std::vector<Route> routes_;
};

}  // namespace zbs::http
