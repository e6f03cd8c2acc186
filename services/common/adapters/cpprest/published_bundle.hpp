#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/join_token.hpp"

namespace zbs::cpprest {

/// The bundle that the service of a token shows. Nobody is believed yet: it counts because its fingerprint is the one
/// that the operator handed over. Error: kDenied where it is another.
Result<std::string> fetch_bundle(const JoinToken& token, Time (*now)());

}  // namespace zbs::cpprest
