#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "schemas/contract.hpp"
#include "services/common/authorisation/action.hpp"
#include "tests/unit/site_policy/authorisation_table.hpp"

// The contracts of the services and the actions name the same operations and the same callers.

namespace zbs {
namespace {
using namespace zbs::test;
using nlohmann::json;

/// Actions whose operations the contracts do not describe yet. To be emptied: an operation that is there may not stand
/// here.
const std::set<std::string> kNotYetInTheContract = {};

struct Operation {
    std::set<std::string> services;
    std::optional<std::set<std::string>> callers;  ///< x-callers, where the contract tells
};

std::map<std::string, Operation> operations() {
    std::map<std::string, Operation> all;
    for (const auto& [service, text] :
         {std::pair{"zone", zone_contract()}, {"registry", registry_contract()}, {"node", node_contract()}}) {
        const json contract = json::parse(text);
        for (const auto& [path, methods] : contract.at("paths").items()) {
            for (const auto& [method, operation] : methods.items()) {
                if (!operation.is_object() || !operation.contains("operationId")) continue;
                Operation& known = all[operation.at("operationId").get<std::string>()];
                known.services.insert(service);
                if (operation.contains("x-callers"))
                    known.callers = operation.at("x-callers").get<std::set<std::string>>();
            }
        }
    }
    return all;
}

TEST(Actions, EveryOperationOfTheContractsHasOne) {
    const auto all = operations();
    EXPECT_GT(all.size(), 20U);
    for (const auto& [id, operation] : all) EXPECT_TRUE(find_action(id)) << id;
}

TEST(Actions, EachIsAnOperationOfAContractOrListedAsMissing) {
    const auto all = operations();
    for (int i = 0; i < kActionCount; ++i) {
        const std::string id(to_string(static_cast<Action>(i)));
        EXPECT_NE(all.contains(id), kNotYetInTheContract.contains(id))
            << id << (all.contains(id) ? " is in the contract: take it out of the list" : " is in no contract");
    }
    for (const std::string& id : kNotYetInTheContract) EXPECT_TRUE(find_action(id)) << id << " is no action";
}

TEST(Actions, NamesAreReadBack) {
    for (int i = 0; i < kActionCount; ++i)
        EXPECT_EQ(find_action(to_string(static_cast<Action>(i))), static_cast<Action>(i));
    EXPECT_EQ(find_action(""), std::nullopt);
    EXPECT_EQ(find_action("getapplication"), std::nullopt);
}

TEST(AuthorisationTable, NamesServicesAndCallersAsTheContractDoes) {
    const auto all = operations();
    int compared = 0;
    for (const ActionRow& row : read_authorisation_table()) {
        const auto at = all.find(row.action);
        if (at == all.end()) continue;
        SCOPED_TRACE(row.action);
        std::set<std::string> services = {row.service};
        if (row.service == "both") services = {"registry", "zone"};
        if (row.service == "all") services = {"node", "registry", "zone"};
        EXPECT_EQ(services, at->second.services);
        if (!at->second.callers) continue;
        const auto allows = [&](const char* column) { return row.cells.at(column).find('A') != std::string::npos; };
        std::set<std::string> callers;
        if (allows("own_user")) callers.insert("user");
        if (allows("own_operator")) callers.insert("operator");
        if (allows("accepted_zone") || (row.service == "node" && allows("own_accepted_zone"))) callers.insert("zone");
        if (allows("own_node") && (row.service == "zone" || row.service == "node")) callers.insert("node");
        if (at->second.callers->contains("anonymous") && allows("anonymous")) callers.insert("anonymous");
        EXPECT_EQ(callers, *at->second.callers);
        ++compared;
    }
    EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace zbs
