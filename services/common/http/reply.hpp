#pragma once
#include "services/common/codec/json/json.hpp"
#include "services/common/http/call.hpp"

namespace zbs::http {

/// The one place that turns an ErrorCode into an HTTP status.
int status_of(ErrorCode code);
/// The reverse, for clients of a reply without a problem body.
ErrorCode code_of_status(int status);

/// "at PLACE: what is wrong", or what is wrong alone where no place applies: how a fault is told in one sentence.
std::string text_with_place(const Error& error);

/// RFC 9457 problem: type, title, status, detail, code, and errors[] with a JSON pointer where a field is at fault.
Reply problem(const Error& error);
/// The same with a status that HTTP itself has a number for (405, 431).
Reply problem(const Error& error, int status);
/// Reads a problem reply back into an Error (for clients); any body is accepted. The message is at most 1024 bytes: it
/// comes from another organisation, and ends up inside our own texts.
Error read_problem(int status, std::string_view body);
/// The same for who made the call and tells its user of the fault: where the reply names a field, the pointer of the
/// error is that, and its message what is wrong there. Not for what is passed on: the field is one of this call.
Error read_problem_of_call(int status, std::string_view body);

Reply ok(const codec::Json& json);
Reply created(const std::string& location, const codec::Json& json);
Reply accepted(const std::string& location, const codec::Json& json);
/// `OK` as JSON, or the problem.
template <class T, class Encode>
Reply reply(const Result<T>& result, Encode encode) {
    return result ? ok(encode(*result)) : problem(result.error());
}

}  // namespace zbs::http
