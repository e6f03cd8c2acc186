#include "tests/unit/openssl/corpus.hpp"

#include <gtest/gtest.h>

#include <sstream>

// Every chain of the corpus gets the verdict written beside it: C2 and C3 of the checks.
namespace zbs::test {
namespace {

std::vector<ChainCase> all_cases() {
    std::vector<ChainCase> all = certificate_cases();
    for (const ChainCase& one : proxy_cases()) all.push_back(one);
    return all;
}

/// An identity must be the whole verdict; a refusal must hold the reason (or one of several, between '|').
bool fits(const std::string& verdict, const std::string& expected) {
    if (expected == "anonymous" || expected.starts_with("spiffe://")) return verdict == expected;
    if (!verdict.starts_with("refused: ") || verdict.size() < 30) return false;
    std::istringstream reasons(expected);
    for (std::string reason; std::getline(reasons, reason, '|');) {
        if (verdict.find(reason) != std::string::npos) return true;
    }
    return false;
}

class ChainCorpus : public testing::TestWithParam<ChainCase> {};

TEST_P(ChainCorpus, GetsItsVerdict) {
    TrustWorld world;
    const Holders chain = GetParam().chain(world);
    const std::string verdict = GetParam().question == Question::kDelegation ? world.delegation_verdict(chain)
                                : GetParam().question == Question::kServer
                                    ? world.verdict(chain, openssl::Role::kServer)
                                    : world.verdict(chain);
    EXPECT_TRUE(fits(verdict, GetParam().verdict)) << "verdict:  " << verdict << "\nexpected: " << GetParam().verdict;
}

INSTANTIATE_TEST_SUITE_P(, ChainCorpus, testing::ValuesIn(all_cases()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace zbs::test
