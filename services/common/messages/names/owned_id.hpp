#pragma once
#include "algorithms/base/ids.hpp"
#include "algorithms/base/result.hpp"
#include "services/common/messages/names/identity.hpp"

namespace zbs {

/// `fresh` with the mark of `owner` as its lowest 32 bits: the first four bytes of SHA-256 of `to_uri(owner)`.
Id128 marked(Id128 fresh, const Caller& owner);
bool has_mark_of(const Id128& id, const Caller& owner);
/// Whether `owner` may use `id` for something new. The answer does not depend on what exists, so nobody can test
/// whether the id of another is in use. Errors: kInvalidArgument at "/id".
Result<void> check_mark(const Id128& id, const Caller& owner);

}  // namespace zbs
