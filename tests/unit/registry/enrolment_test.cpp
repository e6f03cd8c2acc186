#include <gmock/gmock.h>

#include "services/common/messages/limits.hpp"
#include "tests/unit/registry/registry_world.hpp"

namespace zbs::test {
namespace {
using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class RegistryEnrolment : public RegistryWorld {};

TEST_F(RegistryEnrolment, ACodeBringsOneZoneIn) {
    const std::string first = code();
    EXPECT_FALSE(registry->is_enrolled(zone("a")));
    EXPECT_EQ(enrol(first, entry("a")), "good");
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_TRUE(registry->is_enrolled(zone("a")));
    EXPECT_EQ(registry->owner_of("a"), zone("a"));
    EXPECT_EQ(enrol(first, entry("b")), "denied") << "used";
    EXPECT_EQ(enrol(first, entry("a")), "good") << "the answer may have been lost";
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryEnrolment, ACodeThatDoesNotWorkSaysNothingOfWhy) {
    const std::string expired = code("", seconds{60}), other = code("beta", hours{1}), used = code();
    ASSERT_EQ(enrol(used, entry("u")), "good");
    clock->advance(seconds{61});
    std::set<std::string> messages;
    for (const std::string& tried : {expired, other, used, std::string("never one"), std::string()}) {
        const auto answer = ask_in(tried, entry("a"));
        ASSERT_EQ(verdict(*answer), "denied") << tried;
        messages.insert((*answer)->error().message);
    }
    EXPECT_EQ(messages.size(), 1U);
    EXPECT_THAT(prover.asked, IsEmpty()) << "nobody without a code makes us call an address";
    EXPECT_FALSE(registry->is_enrolled(zone("a")));
}

TEST_F(RegistryEnrolment, ACodeForAnOrganisationTakesItsZonesOnly) {
    EXPECT_EQ(enrol(code("beta"), entry("a", "alpha")), "denied");
    EXPECT_EQ(enrol(code("beta"), entry("b", "beta")), "good");
    EXPECT_EQ(registry->invite("No Name", hours{1}).error().pointer, "/organisation");
}

TEST_F(RegistryEnrolment, ANameOfAnotherOrganisationIsTaken) {
    ASSERT_EQ(enrol(code(), entry("a", "alpha")), "good");
    EXPECT_EQ(enrol(code(), entry("a", "beta")), "conflict");
    EXPECT_EQ(registry->owner_of("a"), zone("a", "alpha"));
    clock->advance(hours{1});
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_EQ(enrol(code(), entry("a", "beta")), "conflict") << "also while it is away";
}

TEST_F(RegistryEnrolment, AnOrganisationKeepsItsBundle) {
    ASSERT_EQ(enrol(code(), entry("a")), "good");
    ZoneEntry posing = entry("b");
    posing.bundle = "bundle of somebody else";
    EXPECT_EQ(enrol(code(), posing), "conflict");
    EXPECT_EQ(trust.bundle("alpha"), "bundle of alpha");
    ZoneEntry changed = entry("a");
    changed.bundle = posing.bundle;
    EXPECT_EQ(publish(changed), "conflict") << "nor by publishing";
    start();
    EXPECT_EQ(enrol(code(), posing), "conflict") << "a restart forgets no bundle";
    EXPECT_EQ(enrol(code(), entry("b")), "good");
}

TEST_F(RegistryEnrolment, TheRegistrysOwnOrganisationIsKnownFromTheStart) {
    ZoneEntry posing = entry("a", "reg");
    posing.bundle = "bundle of somebody else";
    EXPECT_EQ(enrol(code(), posing), "conflict");
}

TEST_F(RegistryEnrolment, AnAddressThatIsNotProvedUsesNoCode) {
    const std::string one = code();
    const auto answer = ask_in(one, entry("a"));
    prover.answer(Error{ErrorCode::kUnavailable, "nobody answers at https://a:1", {}});
    EXPECT_EQ(verdict(*answer), "unavailable");
    EXPECT_EQ((*answer)->error().message, "nobody answers at https://a:1");
    EXPECT_FALSE(registry->is_enrolled(zone("a")));
    EXPECT_EQ(trust.bundle("alpha"), std::nullopt) << "nothing of it is believed";
    EXPECT_EQ(enrol(one, entry("a")), "good");
}

TEST_F(RegistryEnrolment, OfTwoThatRaceForOneCodeOneWins) {
    const std::string one = code();
    const auto first = ask_in(one, entry("a")), second = ask_in(one, entry("b"));
    prover.answer();
    prover.answer();
    EXPECT_EQ(verdict(*first), "good");
    EXPECT_EQ(verdict(*second), "denied");
    EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(RegistryEnrolment, OfTwoThatRaceForOneNameOneWins) {
    const auto first = ask_in(code(), entry("a", "alpha")), second = ask_in(code(), entry("a", "beta"));
    prover.answer();
    prover.answer();
    EXPECT_EQ(verdict(*first), "good");
    EXPECT_EQ(verdict(*second), "conflict");
}

TEST_F(RegistryEnrolment, OfTwoBundlesThatRaceForOneOrganisationOneWins) {
    ZoneEntry posing = entry("b");
    posing.bundle = "another";
    const auto first = ask_in(code(), entry("a")), second = ask_in(code(), posing);
    prover.answer();
    prover.answer();
    EXPECT_EQ(verdict(*first), "good");
    EXPECT_EQ(verdict(*second), "conflict");
}

TEST_F(RegistryEnrolment, ACodeThatRunsOutWhileTheAddressIsProvedIsOut) {
    const auto answer = ask_in(code("", seconds{60}), entry("a"));
    clock->advance(seconds{61});
    prover.answer();
    EXPECT_EQ(verdict(*answer), "denied");
}

TEST_F(RegistryEnrolment, CodesSurviveARestartAsDigestsOnly) {
    const std::string one = code();
    const std::vector<EnrolmentRight> kept = *store.rights().load();
    for (const EnrolmentRight& right : kept) EXPECT_EQ(right.code_hash.find(one), std::string::npos);
    start();
    EXPECT_EQ(enrol(one, entry("a")), "good");
    start();
    EXPECT_EQ(enrol(one, entry("b")), "denied") << "still used";
}

TEST_F(RegistryEnrolment, TokensThatRanOutMakeRoom) {
    for (std::size_t i = 1; i < limits::kMaxEnrolmentRights; ++i)
        ASSERT_TRUE(store.rights().save({secrets.digest(secrets.fresh()), "", clock->now() + seconds{60}, {}}));
    start();
    code("", seconds{60});
    EXPECT_EQ(registry->invite("", hours{1}).error().code, ErrorCode::kTooManyRequests);
    clock->advance(seconds{61});
    EXPECT_TRUE(registry->invite("", hours{1}));
    EXPECT_EQ(store.rights().load()->size(), 1U);
}

TEST_F(RegistryEnrolment, ATokenTellsWhoMustAnswerAndWhere) {
    const JoinToken token = *parse_join_token(registry->invite("beta", hours{1})->token);
    EXPECT_EQ(token.kind, JoinToken::Kind::kZone);
    EXPECT_EQ(token.name, "beta");
    EXPECT_EQ(token.service, (Caller{CallerKind::kRegistry, "reg", "main"}));
    EXPECT_EQ(token.url, "https://reg:1");
    EXPECT_EQ(token.fingerprint, *trust.fingerprint("bundle of reg"));
}

TEST_F(RegistryEnrolment, WhatCannotBeStoredIsNotGranted) {
    const std::string one = code();
    store.zones().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(enrol(one, entry("a")), "unavailable");
    EXPECT_FALSE(registry->is_enrolled(zone("a")));
    store.zones().fault.reset();
    EXPECT_EQ(enrol(one, entry("a")), "good") << "its code is its own";
    store.rights().fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(registry->invite("", hours{1}));
}

}  // namespace
}  // namespace zbs::test
