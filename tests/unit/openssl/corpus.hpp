#pragma once
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/trust_world.hpp"

namespace zbs::test {

enum class Question { kClient, kServer, kDelegation };

/// A chain and the verdict it must get: an identity in full, or "refused" with a word of the reason.
struct ChainCase {
    std::string name;
    std::string verdict;  ///< of a refusal: a part of the reason after "refused: "
    std::function<Holders(TrustWorld&)> chain;
    Question question = Question::kClient;
};
inline std::ostream& operator<<(std::ostream& out, const ChainCase& c) { return out << c.name; }

std::vector<ChainCase> certificate_cases();
std::vector<ChainCase> proxy_cases();

}  // namespace zbs::test
