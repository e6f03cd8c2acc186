#include "services/common/http/router.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "algorithms/base/utf8.hpp"
#include "services/common/authorisation/authorisation.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::http {
namespace {

std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> segments;
    while (!path.empty()) {
        path.remove_prefix(1);  // the '/'
        const std::size_t end = std::min(path.find('/'), path.size());
        segments.emplace_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return segments;
}

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

bool is_json(const Call& call) {
    constexpr std::string_view kJson = "application/json";
    const std::string_view text = call.content_type;
    if (text.size() < kJson.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    if (!std::equal(kJson.begin(), kJson.end(), text.begin(), [&](char a, char b) { return a == lower(b); }))
        return false;
    const std::size_t next = text.find_first_not_of(" \t", kJson.size());
    return next == std::string_view::npos || text[next] == ';';
}

Reply not_json() { return problem(invalid("the body must come as Content-Type: application/json"), 415); }

std::string encode_percent(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (kPlain.find(c) != std::string_view::npos)
            out += c;
        else
            out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
    return out;
}

Result<std::string> decode_percent(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < text.size() ? hex(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex(text[i + 2]) : -1;
            if (high < 0 || low < 0) return invalid("bad percent escape in the address");
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (c == '\0') return invalid("NUL in the address");
        out.push_back(c);
    }
    if (!is_utf8(out)) return invalid("the address is not UTF-8");
    return out;
}

Result<Call> read_call(const HttpCall& call, const Caller& caller) {
    Call read;
    read.method = call.method;
    read.body = call.body;
    if (!call.body.empty()) read.content_type = "application/json";
    read.trace = call.trace;
    read.peer = PeerIdentity(caller, Evidence::kCertificate);
    if (auto good = read_target(call.path, read); !good) return good.error();
    return read;
}

Result<void> read_target(std::string_view target, Call& call) {
    const std::size_t question = std::min(target.find('?'), target.size());
    Result<std::string> path = decode_percent(target.substr(0, question));
    if (!path) return path.error();
    call.path = *std::move(path);
    if (question == target.size()) return {};
    auto query = parse_query(target.substr(question + 1));
    if (!query) return query.error();
    call.query = *std::move(query);
    return {};
}

Result<std::map<std::string, std::string>> parse_query(std::string_view text) {
    std::map<std::string, std::string> query;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view item = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (item.empty()) continue;
        const std::size_t equals = std::min(item.find('='), item.size());
        const Result<std::string> key = decode_percent(item.substr(0, equals));
        const Result<std::string> value = decode_percent(equals < item.size() ? item.substr(equals + 1) : "");
        if (!key) return key.error();
        if (!value) return value.error();
        if (!query.emplace(*key, *value).second) return invalid("query parameter '" + *key + "' is given twice");
    }
    return query;
}

void Router::add(const char* method, const char* pattern, Action action, Body body, Handler handler) {
    constexpr std::string_view kRest = "...}";
    std::string name = pattern;
    const bool takes_rest = name.ends_with(kRest);
    if (takes_rest) name.replace(name.size() - kRest.size(), kRest.size(), "}");
    routes_.push_back({method, split(name), name, takes_rest, action, body, std::move(handler)});
}

void Router::add_sync(const char* method, const char* pattern, Action action, Body body, SyncHandler handler) {
    add(method, pattern, action, body,
        [handler = std::move(handler)](const Request& request, const Respond& respond) { respond(handler(request)); });
}

std::vector<std::string> Router::routes() const {
    std::vector<std::string> names;
    for (const Route& route : routes_)
        names.push_back(route.method + " " + route.pattern + " " + std::string(to_string(route.action)));
    std::sort(names.begin(), names.end());
    return names;
}

/// The first route that matches path and method; null where there is none. `allowed`: the methods of the path
/// otherwise.
const Router::Route* Router::find_route(const Call& call, std::map<std::string, std::string>& parameters,
                                        std::string& allowed) const {
    if (!call.path.starts_with('/')) return nullptr;
    const std::vector<std::string> segments = split(call.path);
    const std::string* pattern = nullptr;  // of the path, by the first route that it matches
    for (const Route& route : routes_) {
        const std::size_t count = route.segments.size();
        if (route.takes_rest ? segments.size() < count : segments.size() != count) continue;
        std::map<std::string, std::string> found;
        bool matches = true;
        for (std::size_t i = 0; i < count && matches; ++i) {
            const std::string& want = route.segments[i];
            if (want.starts_with('{')) {
                found[want.substr(1, want.size() - 2)] = segments[i];
            } else {
                matches = want == segments[i];
            }
        }
        if (!matches || (pattern != nullptr && *pattern != route.pattern)) continue;
        if (route.takes_rest) {
            std::string& rest = found[route.segments.back().substr(1, route.segments.back().size() - 2)];
            for (std::size_t i = count; i < segments.size(); ++i) rest += "/" + segments[i];
        }
        pattern = &route.pattern;
        const bool is_head = call.method == "HEAD" && route.method == "GET";  // whoever sends it leaves the body out
        if (route.method == call.method || is_head) {
            parameters = std::move(found);
            return &route;
        }
        allowed += (allowed.empty() ? "" : ", ") + route.method;
    }
    return nullptr;
}

std::optional<std::size_t> Router::body_limit(const Call& head) const {
    std::map<std::string, std::string> parameters;
    std::string allowed;
    const Route* route = find_route(head, parameters, allowed);
    if (route == nullptr || route->body == Body::kNone || !is_json(head)) return std::nullopt;
    if (head.peer.evidence() != Evidence::kNone)
        return route->body == Body::kLargeJson   ? limits::kMaxBodyBytes
               : route->body == Body::kFilePiece ? limits::kMaxPieceBodyBytes
                                                 : limits::kMaxSmallBodyBytes;
    const ActionRule* rule = find_rule(route->action);
    if (rule == nullptr || (rule->roles & bit(Role::kAnonymous)) == 0) return std::nullopt;
    return limits::kMaxSmallBodyBytes;
}

void Router::dispatch(Call call, Respond respond) const {
    if (hooks_.fresh_id) {
        call.request_id = hooks_.fresh_id();
        respond = [id = call.request_id, respond = std::move(respond)](Reply reply) {
            reply.headers.emplace_back("Zbs-Request-Id", id);
            respond(std::move(reply));
        };
    }
    if (!call.path.starts_with('/')) return respond(problem(invalid("the path must start with /")));
    std::string allowed;
    const Route* route = find_route(call, call.parameters, allowed);
    if (route == nullptr) {
        if (allowed.empty()) return respond(problem({ErrorCode::kNotFound, "nothing is at " + call.path, {}}));
        Reply reply = problem(invalid("method " + call.method + " is not for this path; allowed: " + allowed), 405);
        reply.headers.emplace_back("Allow", allowed);
        return respond(std::move(reply));
    }
    // Before the body is read: who may not call learns nothing about what would have been a good one.
    if (const Result<void> allowed_call =
            hooks_.guard ? hooks_.guard(route->action, call) : Error{ErrorCode::kDenied, "closed", {}};
        !allowed_call)
        return respond(problem(allowed_call.error()));
    // A handler that throws may have answered before, or have kept its way to answer: only the first answer counts.
    const auto kept = std::make_shared<const Call>(std::move(call));  // for the watch, after the handler is done
    const Respond once = [this, kept, action = route->action, answered = std::make_shared<std::atomic<bool>>(false),
                          respond = std::move(respond)](Reply reply) {
        if (answered->exchange(true)) return;
        if (hooks_.watch) hooks_.watch(action, *kept, reply.status);
        respond(std::move(reply));
    };
    codec::Json json;
    if (route->body == Body::kNone) {
        if (kept->is_body_unread || !kept->body.empty()) return once(problem(invalid("this call takes no body")));
    } else {
        if ((kept->is_body_unread || !kept->body.empty()) && !is_json(*kept)) return once(not_json());
        if (kept->is_body_unread)
            return once(problem({ErrorCode::kUnavailable, "this service has just begun to serve; ask again", {}}));
        Result<codec::Json> parsed = codec::parse(kept->body);
        if (!parsed) return once(problem(parsed.error()));
        json = *std::move(parsed);
    }
    try {
        return route->handler(Request{*kept, json}, once);
    } catch (const std::exception& fault) {
        if (hooks_.on_exception) hooks_.on_exception(route->method + " " + route->pattern + ": " + fault.what());
    } catch (...) {
        if (hooks_.on_exception) hooks_.on_exception(route->method + " " + route->pattern + ": unknown exception");
    }
    return once(problem({ErrorCode::kInternal, "internal error", {}}));
}

void add_health_and_contract(Router& router, const std::string& contract) {
    const auto well = [](const Request&) { return ok(codec::encode(codec::Health{})); };
    router.add_sync("GET", "/livez", Action::kGetLive, Body::kNone, well);
    router.add_sync("GET", "/healthz", Action::kGetHealth, Body::kNone, well);
    router.add_sync("GET", "/readyz", Action::kGetReady, Body::kNone, well);
    router.add_sync("GET", "/openapi.json", Action::kGetContract, Body::kNone, [&contract](const Request&) {
        return Reply{200, "application/json", contract, {}};
    });
}

}  // namespace zbs::http
