#include "services/common/http/reply.hpp"

#include "services/common/codec/service_codec.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::http {
namespace {

constexpr std::size_t kMaxForeignMessage = 1024;

bool is_own_site(const Call& call) {
    const std::size_t end = call.origin.find("://");
    if (end == std::string::npos || call.origin.substr(0, end) != call.scheme) return false;
    const int default_port = call.scheme == "https" ? 443 : 80;
    const auto site = HostPort::parse(call.origin.substr(end + 3), default_port);
    const auto own = HostPort::parse(call.host, default_port);
    return site && own && *site == *own;
}

}  // namespace

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::kInvalidArgument:
            return 400;
        case ErrorCode::kUnauthenticated:
            return 401;
        case ErrorCode::kDenied:
            return 403;
        case ErrorCode::kNotFound:
            return 404;
        case ErrorCode::kConflict:
            return 409;
        case ErrorCode::kIdReused:
            return 422;
        case ErrorCode::kTooLarge:
            return 413;
        case ErrorCode::kTooManyRequests:
            return 429;
        case ErrorCode::kRejected:
            return 422;
        case ErrorCode::kUnavailable:
            return 503;
        case ErrorCode::kTimeout:
            return 504;
        case ErrorCode::kInternal:
            return 500;
    }
    return 500;
}

ErrorCode code_of_status(int status) {
    switch (status) {
        case 400:
        case 405:
        case 415:
            return ErrorCode::kInvalidArgument;
        case 401:
            return ErrorCode::kUnauthenticated;
        case 403:
            return ErrorCode::kDenied;
        case 404:
            return ErrorCode::kNotFound;
        case 409:
            return ErrorCode::kConflict;
        case 413:
        case 431:
            return ErrorCode::kTooLarge;
        case 422:
            return ErrorCode::kRejected;
        case 429:
            return ErrorCode::kTooManyRequests;
        case 408:
        case 504:
            return ErrorCode::kTimeout;
        case 502:
        case 503:
            return ErrorCode::kUnavailable;
        default:
            return ErrorCode::kInternal;
    }
}

std::string text_with_place(const Error& error) {
    return error.pointer.empty() ? error.message : "at " + error.pointer + ": " + error.message;
}

Reply problem(const Error& error) { return problem(error, status_of(error.code)); }

Reply problem(const Error& error, int status) {
    const codec::Problem problem{status, to_string(error.code), text_with_place(error), error.pointer, error.message};
    Reply reply{status, "application/problem+json", codec::dump(codec::encode(problem)), {}};
    if (status == 503) reply.headers.emplace_back("Retry-After", "1");
    return reply;
}

Error read_problem(int status, std::string_view body) {
    Error error{code_of_status(status), "the service answered HTTP " + std::to_string(status), {}};
    const Result<codec::Json> json = codec::parse(body);
    if (!json) return error;
    codec::Problem problem = codec::decode_problem(*json);
    if (!problem.detail.empty()) error.message = codec::bounded(std::move(problem.detail), kMaxForeignMessage);
    for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
        if (problem.code == to_string(static_cast<ErrorCode>(i))) error.code = static_cast<ErrorCode>(i);
    }
    return error;
}

Error read_problem_of_call(int status, std::string_view body) {
    Error error = read_problem(status, body);
    const Result<codec::Json> json = codec::parse(body);
    if (!json) return error;
    const std::string pointer = codec::decode_problem(*json).pointer;
    if (pointer.empty() || pointer.size() > kMaxForeignMessage) return error;
    const std::string place = text_with_place({error.code, "", pointer});
    if (!error.message.starts_with(place)) return error;
    error.message = error.message.substr(place.size());
    error.pointer = pointer;
    return error;
}

Result<codec::Json> read_answer(const Result<HttpAnswer>& answer, const std::string& remedy) {
    if (!answer) {
        Error error = answer.error();
        if (error.code == ErrorCode::kUnavailable) error.message += remedy;
        return error;
    }
    if (answer->status >= 300) return read_problem_of_call(answer->status, answer->body);
    return codec::parse(answer->body);
}

Reply ok(const codec::Json& json) { return {200, "application/json", codec::dump(json), {}}; }
Reply created(const std::string& location, const codec::Json& json) {
    return {201, "application/json", codec::dump(json), {{"Location", location}}};
}
Reply accepted(const std::string& location, const codec::Json& json) {
    return {202, "application/json", codec::dump(json), {{"Location", location}}};
}

std::vector<std::pair<std::string, std::string>> page_headers() {
    return {{"Content-Security-Policy",
             "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
             "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
            {"Referrer-Policy", "no-referrer"},
            {"Cross-Origin-Opener-Policy", "same-origin"},
            {"Cross-Origin-Resource-Policy", "same-origin"}};
}

bool comes_from_elsewhere(const Call& call) {
    // Origin alone decides about reading: a link on another site's page may lead to ours.
    const bool changes = call.method != "GET" && call.method != "HEAD";
    if (changes && !call.fetch_site.empty() && call.fetch_site != "same-origin" && call.fetch_site != "none")
        return true;
    return !call.origin.empty() && !is_own_site(call);
}

}  // namespace zbs::http
