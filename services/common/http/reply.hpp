#pragma once
#include <string>
#include <utility>
#include <vector>

#include "services/common/codec/json/json.hpp"
#include "services/common/http/call.hpp"

namespace zbs::http {

/// The one place that turns an ErrorCode into an HTTP status.
int status_of(ErrorCode code);
/// The reverse, for clients of a reply without a problem body.
ErrorCode code_of_status(int status);

/// "at PLACE: reason", or the reason alone where no place applies: an error in one sentence.
std::string text_with_place(const Error& error);

/// RFC 9457 problem: type, title, status, detail, code, and errors[] with a JSON pointer where a field is at fault.
Reply problem(const Error& error);
/// The same with a status that HTTP itself has a number for (405, 431).
Reply problem(const Error& error, int status);
/// Reads a problem reply back into an Error (for clients); any body is accepted. The message is at most 1024 bytes: it
/// comes from another organisation, and ends up inside our own texts.
Error read_problem(int status, std::string_view body);
/// The same for a caller that reports the error to its user: where the reply names a field, the pointer of the error is
/// that, and its message the reason. Not for errors that are passed on: the field is one of this call.
Error read_problem_of_call(int status, std::string_view body);
/// What an answer says; its problem, read likewise, where it is no success. `remedy` is added to the message of a
/// service that could not be reached.
Result<codec::Json> read_answer(const Result<HttpAnswer>& answer, const std::string& remedy = {});

Reply ok(const codec::Json& json);
Reply created(const std::string& location, const codec::Json& json);
Reply accepted(const std::string& location, const codec::Json& json);
/// `OK` as JSON, or the problem.
template <class T, class Encode>
Reply reply(const Result<T>& result, Encode encode) {
    return result ? ok(encode(*result)) : problem(result.error());
}

/// Cache-Control of a file whose name changes with its content.
inline constexpr const char* kForever = "public, max-age=31536000, immutable";

/// What keeps a page from running, loading or being shown in what is not its own site's.
std::vector<std::pair<std::string, std::string>> page_headers();

/// Whether a browser makes the call for a page of another site: it would bring the certificate of whoever sits before
/// it. Browsers name the page's site in all calls that change something (Origin), and say how it relates to ours
/// (Sec-Fetch-Site), which counts for those calls where the site is withheld; other programs send neither. A site is a
/// scheme, a host and a port: a page that came without TLS may be anybody's on the way.
bool comes_from_elsewhere(const Call& call);

}  // namespace zbs::http
