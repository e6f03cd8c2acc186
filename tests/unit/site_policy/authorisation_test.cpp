#include "services/common/authorisation/authorisation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/site_policy/authorisation_table.hpp"

namespace zbs {
namespace {
using namespace zbs::test;
using testing::HasSubstr;
using Verdict = Decision::Verdict;

Caller user_at(OrganisationName organisation, std::string name) { return {CallerKind::kUser, organisation, name}; }
Caller operator_of(OrganisationName organisation) { return {CallerKind::kOperator, organisation, "olga"}; }
Caller zone(OrganisationName organisation, std::string name) { return {CallerKind::kZone, organisation, name}; }

/// Every column of the table, seen from organisation alpha.
const std::map<std::string, PeerIdentity> kSubjects = {
    {"anonymous", {}},
    {"own_user", {user_at("alpha", "ann"), Evidence::kCertificate}},
    {"full_proxy", {user_at("alpha", "ann"), Evidence::kProxy}},
    {"limited_proxy", {user_at("alpha", "ann"), Evidence::kProxy, true}},
    {"foreign_user", {user_at("beta", "ann"), Evidence::kCertificate}},
    {"own_operator", {operator_of("alpha"), Evidence::kCertificate}},
    {"operator_proxy", {operator_of("alpha"), Evidence::kProxy}},
    {"foreign_operator", {operator_of("beta"), Evidence::kCertificate}},
    {"own_zone", {zone("alpha", "second"), Evidence::kCertificate}},
    {"accepted_zone", {zone("beta", "one"), Evidence::kCertificate}},
    {"stranger_zone", {zone("gamma", "one"), Evidence::kCertificate}},
    {"zone_proxy", {zone("alpha", "second"), Evidence::kProxy}},
    {"registry", {{CallerKind::kRegistry, "alpha", "main"}, Evidence::kCertificate}},
    {"own_accepted_zone", {zone("alpha", "home"), Evidence::kCertificate}},
    {"own_node", {{CallerKind::kNode, "alpha", "n1"}, Evidence::kCertificate}},
    {"foreign_node", {{CallerKind::kNode, "beta", "n1"}, Evidence::kCertificate}}};

const std::map<std::string, ObjectKind> kKinds = {
    {"service", ObjectKind::kService}, {"application", ObjectKind::kApplication},
    {"profile", ObjectKind::kProfile}, {"delegation", ObjectKind::kDelegation},
    {"user", ObjectKind::kUser},       {"part", ObjectKind::kPart},
    {"peering", ObjectKind::kPeering}, {"zone_entry", ObjectKind::kZoneEntry},
    {"node", ObjectKind::kNode}};

Site site_for(const std::string& column, ServiceKind service = ServiceKind::kZone) {
    return {service, "alpha", "first", column.ends_with("accepted_zone")};
}
std::vector<ServiceKind> services_of(const ActionRow& row) {
    if (row.service == "all") return {ServiceKind::kZone, ServiceKind::kRegistry, ServiceKind::kNode};
    if (row.service == "both") return {ServiceKind::kZone, ServiceKind::kRegistry};
    if (row.service == "node") return {ServiceKind::kNode};
    return {row.service == "zone" ? ServiceKind::kZone : ServiceKind::kRegistry};
}
/// The caller's own, another's of the same organisation, the same name of another organisation.
std::vector<Caller> owners_for(const PeerIdentity& subject) {
    Caller other = subject.name(), foreign = subject.name();
    if (subject.is_anonymous()) other = user_at("alpha", "bob"), foreign = user_at("beta", "ann");
    other.name = "bob";
    foreign.organisation = "delta";
    return {subject.name(), other, foreign};
}
Verdict verdict_of(char letter) {
    switch (letter) {
        case 'A':
            return Verdict::kAllow;
        case 'U':
            return Verdict::kUnauthenticated;
        case 'N':
            return Verdict::kNotFound;
        default:
            EXPECT_EQ(letter, 'D');
            return Verdict::kDenied;
    }
}

template <class Check>
void for_each_cell(Check check) {
    const std::vector<ActionRow> rows = read_authorisation_table();
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(kActionCount));
    for (const ActionRow& row : rows) {
        const std::optional<Action> action = find_action(row.action);
        ASSERT_TRUE(action) << row.action;
        ASSERT_EQ(row.cells.size(), kSubjects.size());
        for (const auto& [column, cell] : row.cells) {
            for (const ServiceKind service : services_of(row)) {
                SCOPED_TRACE(row.action + " by " + column);
                check(row, *action, kSubjects.at(column), cell, site_for(column, service));
            }
        }
    }
}

TEST(Authorise, AgreesWithTheTableForEveryActionCallerAndObject) {
    int checked = 0;
    for_each_cell([&](const ActionRow& row, Action action, const PeerIdentity& subject, const std::string& cell,
                      const Site& site) {
        ASSERT_TRUE(cell.size() == 1 || cell.size() == 3);
        const std::vector<Caller> owners = owners_for(subject);
        for (std::size_t i = 0; i < owners.size(); ++i) {
            const Decision decision = authorise(subject, action, {kKinds.at(row.object), owners[i], {}}, site);
            EXPECT_EQ(decision.verdict, verdict_of(cell.size() == 1 ? cell[0] : cell[i]))
                << "object " << i << ": " << to_string(decision.verdict) << ", " << decision.reason;
            EXPECT_NE(decision.reason, "");
            ++checked;
        }
    });
    EXPECT_GT(checked, 1'900);
}

TEST(Authorise, WhatIsNotThereLooksLikeSomebodyElses) {
    for_each_cell(
        [&](const ActionRow& row, Action action, const PeerIdentity& subject, const std::string&, const Site& site) {
            const ObjectKind kind = kKinds.at(row.object);
            const Decision missing = authorise(subject, action, {kind, {}, {}}, site);
            const Decision foreign = authorise(subject, action, {kind, owners_for(subject)[2], {}}, site);
            EXPECT_EQ(missing.verdict, foreign.verdict);
            EXPECT_EQ(missing.reason, foreign.reason);
        });
}

TEST(Authorise, AnObjectOfAnotherKindIsDenied) {
    for_each_cell(
        [&](const ActionRow& row, Action action, const PeerIdentity& subject, const std::string&, const Site& site) {
            for (const auto& [name, kind] : kKinds) {
                if (name == row.object) continue;
                EXPECT_FALSE(authorise(subject, action, {kind, subject.name(), {}}, site)) << name;
            }
        });
}

TEST(Authorise, AServiceDoesOnlyItsOwnOperations) {
    for_each_cell([&](const ActionRow& row, Action action, const PeerIdentity& subject, const std::string&, Site site) {
        const std::vector<ServiceKind> here = services_of(row);
        for (const ServiceKind service : {ServiceKind::kZone, ServiceKind::kRegistry, ServiceKind::kNode}) {
            if (std::ranges::find(here, service) != here.end()) continue;
            site.service = service;
            EXPECT_EQ(authorise(subject, action, {kKinds.at(row.object), subject.name(), {}}, site).verdict,
                      Verdict::kDenied);
        }
    });
}

TEST(Authorise, AnActionFromOutsideTheTableIsDenied) {
    for (const int number : {-1, kActionCount, kActionCount + 1'000}) {
        const Decision decision =
            authorise(kSubjects.at("own_operator"), static_cast<Action>(number), {}, site_for("own_operator"));
        EXPECT_EQ(decision.verdict, Verdict::kDenied);
    }
}

TEST(Authorise, WhatAnotherZoneKeepsIsNotFoundHere) {
    for (const char* column : {"own_user", "own_operator"}) {
        Object object{ObjectKind::kApplication, user_at("alpha", "ann"), "first"};
        EXPECT_TRUE(authorise(kSubjects.at(column), Action::kGetApplication, object, site_for(column)));
        object.home_zone = "second";
        EXPECT_EQ(authorise(kSubjects.at(column), Action::kGetApplication, object, site_for(column)).verdict,
                  Verdict::kNotFound);
    }
}

TEST(Authorise, ANameWithoutEvidenceIsAnonymous) {
    const PeerIdentity claimed{operator_of("alpha"), Evidence::kNone};
    EXPECT_EQ(role_of(claimed, site_for("")), Role::kAnonymous);
    EXPECT_EQ(authorise(claimed, Action::kCreateUser, {}, site_for("")).verdict, Verdict::kUnauthenticated);
}

TEST(Authorise, TheLocalTokenCountsLikeACertificate) {
    const PeerIdentity local{operator_of("alpha"), Evidence::kLocalToken};
    EXPECT_TRUE(authorise(local, Action::kCreateUser, {}, site_for("")));
}

TEST(Authorise, ARefusedIdentityIsToldWhy) {
    const Decision decision = authorise(PeerIdentity::refused("the certificate of spiffe://alpha/user/ann has expired"),
                                        Action::kListQueue, {}, site_for(""));
    EXPECT_EQ(decision.verdict, Verdict::kUnauthenticated);
    EXPECT_THAT(decision.reason, HasSubstr("has expired"));
}

TEST(Authorise, ARefusalSaysWhatToDo) {
    const auto reason = [](const char* column, Action action) {
        return authorise(kSubjects.at(column), action, {}, site_for(column)).reason;
    };
    EXPECT_THAT(reason("anonymous", Action::kListQueue), HasSubstr("zbs login"));
    EXPECT_THAT(reason("limited_proxy", Action::kScheduleApplication), HasSubstr("make a full one"));
    EXPECT_THAT(reason("full_proxy", Action::kRenewCertificate), HasSubstr("needs the certificate itself"));
    EXPECT_EQ(reason("foreign_user", Action::kListQueue),
              "only users of this organisation, operators of this organisation may list queue");
    // A home learns by this reason alone that its peering was suspended, until it requests its state again.
    EXPECT_THAT(reason("stranger_zone", Action::kAskCapacity),
                HasSubstr("organisation gamma is not accepted here now"));
}

TEST(ToResult, GivesTheErrorOfTheVerdict) {
    EXPECT_TRUE(to_result({Verdict::kAllow, ""}));
    EXPECT_EQ(to_result({Verdict::kUnauthenticated, "a"}).error(), (Error{ErrorCode::kUnauthenticated, "a", ""}));
    EXPECT_EQ(to_result({Verdict::kDenied, "b"}).error(), (Error{ErrorCode::kDenied, "b", ""}));
    EXPECT_EQ(to_result({Verdict::kNotFound, "c"}).error(), (Error{ErrorCode::kNotFound, "c", ""}));
    EXPECT_FALSE(to_result({})) << "denied unless said otherwise";
}

}  // namespace
}  // namespace zbs
