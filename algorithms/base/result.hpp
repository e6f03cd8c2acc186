#pragma once
#include <ostream>
#include <string>
#include <utility>
#include <variant>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/words.hpp"

namespace zbs {

/// Kinds of expected failure; `services/common/http` maps each to one HTTP status, `client/cli` to one exit code.
enum class ErrorCode {
    kInvalidArgument,  ///< malformed or out-of-range input
    kUnauthenticated,  ///< no identity where one is needed
    kDenied,           ///< identity known, right missing
    kNotFound,         ///< no such thing, or not the caller's (the error does not distinguish the two)
    kConflict,         ///< state does not allow it now
    kIdReused,         ///< same request id, other body
    kTooLarge,         ///< over a stated limit
    kTooManyRequests,  ///< rate or queue limit
    kRejected,         ///< a policy says no; the message says why
    kUnavailable,      ///< peer or part of this service is down; try again
    kTimeout,          ///< deadline passed
    kInternal,         ///< our fault; details are in the log
};

/// The word for `code` that goes on the wire, e.g. "not_found".
constexpr auto words_of(ErrorCode) {
    return std::array{"invalid_argument", "unauthenticated",   "denied",   "not_found",   "conflict", "id_reused",
                      "too_large",        "too_many_requests", "rejected", "unavailable", "timeout",  "internal"};
}

/// An expected failure. `message` is fit for the caller: what happened, to what, what to do now.
/// `pointer` is the JSON pointer, or `file:line`, of the place at fault; empty where none applies.
struct Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string message;
    std::string pointer;

    bool operator==(const Error&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Error& error);
/// "PLACE: message", or the message alone where no place applies.
std::string text_with_pointer(const Error& error);

inline Error invalid(std::string message, std::string pointer = {}) {
    return {ErrorCode::kInvalidArgument, std::move(message), std::move(pointer)};
}

struct Unexpected {
    Error error;
};

/// A value or an Error; shaped like std::expected<T, Error> so that it can give way to it.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT(google-explicit-constructor)
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}     // NOLINT(google-explicit-constructor)
    Result(Unexpected u) : state_(std::in_place_index<1>, std::move(u.error)) {}  // NOLINT(google-explicit-constructor)

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & { return ZBS_EXPECTS(has_value()), *std::get_if<0>(&state_); }
    const T& value() const& { return ZBS_EXPECTS(has_value()), *std::get_if<0>(&state_); }
    T&& value() && { return ZBS_EXPECTS(has_value()), std::move(*std::get_if<0>(&state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const { return ZBS_EXPECTS(!has_value()), *std::get_if<1>(&state_); }

  private:
    std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)

    bool has_value() const { return ok_; }
    explicit operator bool() const { return ok_; }
    const Error& error() const { return ZBS_EXPECTS(!ok_), error_; }

  private:
    Error error_;
    bool ok_ = true;
};

}  // namespace zbs
