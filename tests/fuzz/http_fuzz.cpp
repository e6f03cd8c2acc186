#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/base/utf8.hpp"
#include "services/common/http/router.hpp"

// Any bytes as a target and a body: exactly one answer, which is JSON; whatever is decoded is UTF-8 without NUL. The
// input is TARGET, a line feed, BODY. With libFuzzer this is the whole program; without, a replay over generated
// targets.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "http_fuzz: broken: %s\n", what);
    std::abort();
}

const http::Router& router() {
    static const http::Router made = [] {
        http::Router routes({.guard = [](Action, const http::Call&) { return Result<void>{}; }});
        const auto echo = [](const http::Request& request) {
            return http::ok(
                {{"parameters", request.call.parameters}, {"query", request.call.query}, {"body", request.json}});
        };
        routes.add_sync("GET", "/v1/things", Action::kGetLive, http::Body::kNone, echo);
        routes.add_sync("POST", "/v1/things", Action::kGetLive, http::Body::kJson, echo);
        routes.add_sync("GET", "/v1/things/{id}", Action::kGetLive, http::Body::kNone, echo);
        routes.add_sync("DELETE", "/v1/things/{id}/logs/{rank}", Action::kGetLive, http::Body::kNone, echo);
        return routes;
    }();
    return made;
}

std::uint64_t found = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string_view target = text.substr(0, text.find('\n'));
    const std::string_view body = target.size() < text.size() ? text.substr(target.size() + 1) : std::string_view{};
    const std::string_view path_text = target.substr(0, target.find('?'));
    const Result<std::string> path = http::decode_percent(path_text);
    const auto query = http::parse_query(target.substr(std::min(path_text.size() + 1, target.size())));
    if (path)
        require(is_utf8(*path) && path->find('\0') == std::string::npos && path->size() <= path_text.size(),
                "a path that is no text");
    if (!path || !query) return 0;
    for (const auto& [key, value] : *query) require(is_utf8(key) && is_utf8(value), "a parameter that is no text");
    for (const char* method : {"GET", "POST", "DELETE", "PATCH"}) {
        int answers = 0;
        router().dispatch({.method = method, .path = *path, .query = *query, .body = std::string(body)},
                          [&](const http::Reply& reply) {
                              ++answers;
                              found += reply.status == 200;
                              require(codec::parse(reply.body).has_value(), "a reply that is not JSON");
                              require(reply.status == 200 || reply.content_type == "application/problem+json",
                                      "a refusal that is no problem");
                              const Error error = http::read_problem(reply.status, reply.body);
                              require(reply.status == 200 || !error.message.empty(), "a refusal without message");
                          });
        require(answers == 1, "not exactly one answer");
    }
    http::read_problem(400, text);
    require(codec::parse(http::problem(invalid(std::string(text), std::string(target))).body).has_value(),
            "a problem that is not JSON");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    static const std::vector<std::string> pieces = {"/v1/things", "/v1/things/", "/logs/", "/",   "x",
                                                    "%20",        "%2f",         "%00",    "%",   "%zz",
                                                    "%ff",        "%c3%a4",      "\xff",   "?",   "a=1",
                                                    "&",          "=",           "a",      "b=2", "\n",
                                                    "{}",         "{\"a\":1}",   "[",      "\"",  std::string(1, '\0'),
                                                    "..",         ";",           "#",      "+"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = rng.below(4) > 0 ? "/v1/things" : "";
        for (std::uint64_t n = rng.below(8); n > 0; --n) text += pieces[rng.below(pieces.size())];
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(found > runs / 20, "hardly anything was found: the inputs are no use");
    std::printf("http_fuzz: %llu inputs, all answered; %llu calls handled\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(found));
    return 0;
}
#endif
