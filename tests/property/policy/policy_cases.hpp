#pragma once
#include <string>
#include <vector>

#include "algorithms/policy/adaptive_scojo.hpp"
#include "algorithms/policy/registry.hpp"

namespace zbs::test {

/// A policy with options, as tests over all policies take it.
struct PolicyCase {
    std::string name;
    PolicyOptions options;

    std::unique_ptr<Policy> make() const { return std::move(*make_policy(name, options)); }
    std::string label() const {
        std::string text = name;
        for (const auto& [key, value] : options) text += "_" + key + "_" + value;
        for (char& c : text)
            if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
        return text;
    }
    friend std::ostream& operator<<(std::ostream& out, const PolicyCase& which) { return out << which.label(); }
};

/// Every policy of the registry with its defaults, and the options that make it decide otherwise.
inline std::vector<PolicyCase> policy_cases() {
    std::vector<PolicyCase> cases;
    for (const PolicyInfo& policy : policies()) cases.push_back({std::string(policy.name), {}});
    for (const std::string order : {"estimate", "slowdown", "priority"}) {
        cases.push_back({"easy", {{"order", order}}});
        cases.push_back({"backfill", {{"depth", "3"}, {"order", order}}});
    }
    cases.push_back({"backfill", {{"depth", "0"}}});
    cases.push_back({"backfill", {{"depth", "unlimited"}}});
    cases.push_back({"selective", {{"threshold", "1"}}});
    cases.push_back({"slack", {{"slack", "0"}}});
    cases.push_back({"slack", {{"slack", "3"}, {"lookahead", "4"}}});
    cases.push_back({"dynamic", {{"max_delay", "0s"}}});
    cases.push_back({"dynamic", {{"max_delay", "60s"}, {"gain", "0"}}});
    cases.push_back({"multiqueue", {{"bounds", "20s,60s"}, {"shares", "1,1,2"}}});
    cases.push_back({"multiqueue", {{"bounds", "20s,60s"}, {"shares", "1,1,2"}, {"borrow", "true"}}});
    cases.push_back({"los", {{"lookahead", "3"}}});
    cases.push_back({"los", {{"reserve", "false"}}});
    for (const std::string packing : {"best-fit", "ffd", "memory-fit", "buddy"})
        cases.push_back({"gang", {{"packing", packing}, {"slices", "3"}, {"fill", "true"}, {"compact", "true"}}});
    cases.push_back({"gang", {{"slices", "1"}}});
    cases.push_back({"gang", {{"slices", "unlimited"}, {"tasks", "2"}, {"overtaking", "true"}}});
    cases.push_back({"gang", {{"migration", "arrival"}, {"choice", "lowest"}}});
    cases.push_back({"lazy-gang", {{"patience", "1s,5s,20s"}, {"debug", "10s"}, {"undisturbed", "0"}}});
    cases.push_back({"scojo", {{"level", "2"}, {"order", "fcfs"}, {"expand", "all"}}});
    cases.push_back({"scojo", {{"level", "1"}, {"backfill", "false"}, {"age", "30s"}}});
    cases.push_back({"elmer", {{"rule", "v1"}, {"degree", "3"}}});
    for (const std::string rule : {"v2", "x"})
        cases.push_back({"elmer", {{"rule", rule}, {"degree", "3"}, {"threshold", "1"}}});
    cases.push_back({"elmer", {{"rule", "corrected"}, {"degree", "48"}, {"threshold", "1"}}});
    cases.push_back({"elmer", {{"rule", "x"}, {"seed", "7"}}});
    cases.push_back({"elmer", {{"rule", "v2"}, {"threshold", "0"}}});
    cases.push_back({"elmer", {{"degree", "1"}, {"rule", "v1"}}});
    for (const AdaptiveScojo::Strategy& strategy : AdaptiveScojo::strategies())
        cases.push_back({"adaptive-scojo", {{"strategy", std::string(strategy.name)}, {"classes", "20s,60s"}}});
    cases.push_back({"adaptive-scojo", {{"level", "3"}, {"reconfigure", "10s"}, {"age", "15s"}}});
    cases.push_back({"adaptive-scojo", {{"level", "1"}, {"reconfigure", "0"}, {"backfill", "aggressive"}}});
    cases.push_back({"adaptive-scojo", {{"backfill", "easy"}}});
    return cases;
}

}  // namespace zbs::test
