#include "services/common/adapters/sqlite/zone_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/postgres_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

// One suite for every ZoneStore: the ones on disk and in PostgreSQL, and the fake that the tests of the domain rely on.

namespace zbs {
namespace {
using namespace zbs::test;
using testing::ElementsAre;
using testing::IsEmpty;

struct OnDisk {
    TemporaryFolder folder;
    std::unique_ptr<ZoneStore> store = open();
    std::unique_ptr<ZoneStore> open() {
        auto opened = sqlite::open_zone_database(folder.path("zone.db"));
        EXPECT_TRUE(opened) << opened.error();
        return std::move(opened->zone);
    }
    ZoneStore& operator*() { return *store; }
    void reopen() {
        store.reset();
        store = open();
    }
};
struct InMemory {
    MemoryZoneStore store;
    ZoneStore& operator*() { return store; }
    void reopen() {}  // it outlives the service
};

struct InServer : InPostgres {
    ZoneStore& operator*() { return *database.stores.zone; }
};

template <class Store>
class ZoneStoreContract : public testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<Store, InServer>) ZBS_NEEDS_POSTGRES();
    }
    ZoneStore& store() { return *holder; }
    void reopen() { holder.reopen(); }
    Store holder;
};
using ZoneStores = testing::Types<OnDisk, InMemory, InServer>;
TYPED_TEST_SUITE(ZoneStoreContract, ZoneStores);

Application application(std::uint64_t low) {
    Application made = some_application();
    made.request.id = {some_id(low)};
    return made;
}

TYPED_TEST(ZoneStoreContract, AnEmptyStoreHoldsNothing) {
    EXPECT_THAT(*this->store().load_open_applications(), IsEmpty());
    EXPECT_THAT(*this->store().load_open_parts(), IsEmpty());
    EXPECT_THAT(*this->store().load_peers(), IsEmpty());
    EXPECT_THAT(*this->store().list_profiles(some_user()), IsEmpty());
    EXPECT_THAT(*this->store().profiles_of({some_user(), "./ring", ""}), IsEmpty());
}

TYPED_TEST(ZoneStoreContract, ApplicationsComeBackWholeAndOldestFirst) {
    ASSERT_TRUE(this->store().insert(application(9)));
    ASSERT_TRUE(this->store().insert(application(2)));
    this->reopen();
    EXPECT_EQ(*this->store().load_open_applications(), (std::vector{application(2), application(9)}));
}

TYPED_TEST(ZoneStoreContract, AnApplicationIsInsertedOnce) {
    ASSERT_TRUE(this->store().insert(application(1)));
    Application other = application(1);
    other.request.ranks = 99;
    EXPECT_EQ(this->store().insert(other).error().code, ErrorCode::kConflict);
    EXPECT_EQ(*this->store().load_open_applications(), std::vector{application(1)})
        << "the failed call has changed nothing";
}

TYPED_TEST(ZoneStoreContract, AnUpdateChangesTheStatusOfOne) {
    ASSERT_TRUE(this->store().insert(application(1)));
    ASSERT_TRUE(this->store().insert(application(2)));
    ApplicationStatus changed;
    changed.state = ApplicationState::kHeld;
    ASSERT_TRUE(this->store().update({some_id(1)}, changed));
    this->reopen();
    Application expected = application(1);
    expected.status = changed;
    EXPECT_EQ(*this->store().load_open_applications(), (std::vector{expected, application(2)}));
}

ApplicationStatus ended(std::int64_t at_us, StepId launcher_step = {}) {
    return {.state = ApplicationState::kFailed,
            .exit_code = 3,
            .history = {{ApplicationState::kAccepted, time_from_microseconds(1)},
                        {ApplicationState::kFailed, time_from_microseconds(at_us)}},
            .launcher_step = std::move(launcher_step)};
}

TYPED_TEST(ZoneStoreContract, WhatHasEndedIsFoundByItsIdOnly) {
    for (std::uint64_t low = 1; low <= 2; ++low) ASSERT_TRUE(this->store().insert(application(low)));
    ASSERT_TRUE(this->store().update({some_id(1)}, ended(9)));
    this->reopen();
    EXPECT_EQ(*this->store().load_open_applications(), std::vector{application(2)});
    Application expected = application(1);
    expected.status = ended(9);
    EXPECT_EQ(*this->store().find_application({some_id(1)}), expected);
    EXPECT_EQ(*this->store().find_application({some_id(3)}), std::nullopt);
}

TYPED_TEST(ZoneStoreContract, AnEndWithSomethingLeftToGiveBackIsStillOpen) {
    ASSERT_TRUE(this->store().insert(application(1)));
    ApplicationStatus status = ended(9);
    status.releasing = some_application_status().releasing;
    ASSERT_TRUE(this->store().update({some_id(1)}, status));
    EXPECT_EQ(this->store().load_open_applications()->size(), 1U);
    EXPECT_THAT(*this->store().ended_applications(time_from_microseconds(100), 10), IsEmpty());
}

TYPED_TEST(ZoneStoreContract, ApplicationsAreListedByPagesNewestFirst) {
    Application foreign = application(4);
    foreign.owner = {CallerKind::kUser, "alpha", "bob"};
    for (std::uint64_t low : {1, 2, 3}) ASSERT_TRUE(this->store().insert(application(low)));
    ASSERT_TRUE(this->store().insert(foreign));
    ASSERT_TRUE(this->store().update({some_id(2)}, ended(9)));
    this->reopen();
    Application second = application(2);
    second.status = ended(9);
    EXPECT_THAT(*this->store().list_applications({.owner = some_user(), .limit = 2}),
                ElementsAre(summary_of(application(3)), summary_of(second)));
    EXPECT_THAT(*this->store().list_applications({.owner = some_user(), .after = place_of(summary_of(second))}),
                ElementsAre(summary_of(application(1))));
    EXPECT_EQ(this->store().list_applications({})->size(), 4U) << "everybody's";
}

std::vector<ApplicationId> ids_in(ZoneStore& store, const ApplicationQuery& query) {
    std::vector<ApplicationId> found;
    const auto rows = store.list_applications(query);
    EXPECT_TRUE(rows) << rows.error();
    if (rows)
        for (const ApplicationSummary& row : *rows) found.push_back(row.id);
    return found;
}
ApplicationId id_of(std::uint64_t low) { return {some_id(low)}; }

/// As the zone took it at `submitted_us` by its own clock, now in `state`.
Application submitted(std::uint64_t low, std::int64_t submitted_us,
                      ApplicationState state = ApplicationState::kRunning) {
    Application made = application(low);
    made.status = {.state = state,
                   .history = {{ApplicationState::kAccepted, time_from_microseconds(submitted_us)},
                               {state, time_from_microseconds(submitted_us + 100)}}};
    return made;
}

TYPED_TEST(ZoneStoreContract, AListGoesByTheZonesClockAndOfOneInstantById) {
    for (const auto& [low, at] : {std::pair{1U, 50}, {9U, 10}, {4U, 30}, {5U, 30}, {3U, 30}})
        ASSERT_TRUE(this->store().insert(submitted(low, at)));
    ApplicationStatus later = submitted(9, 10).status;
    later.history.back().at = time_from_microseconds(1'000);
    ASSERT_TRUE(this->store().update(id_of(9), later));
    this->reopen();
    EXPECT_THAT(ids_in(this->store(), {}), ElementsAre(id_of(1), id_of(5), id_of(4), id_of(3), id_of(9)));
    EXPECT_EQ(this->store().list_applications({})->back(), summary_of({some_user(), submitted(9, 10).request, later}));
    EXPECT_THAT(ids_in(this->store(), {.after = ApplicationPlace{time_from_microseconds(30), id_of(5)}}),
                ElementsAre(id_of(4), id_of(3), id_of(9)));
    EXPECT_THAT(ids_in(this->store(), {.after = ApplicationPlace{time_from_microseconds(30), id_of(8)}, .limit = 1}),
                ElementsAre(id_of(5)))
        << "nothing is at this place";
}

TYPED_TEST(ZoneStoreContract, PagesHaveAllThatWasThereOnceWhateverIsAddedMeanwhile) {
    using enum ApplicationState;
    const std::pair<std::uint64_t, std::int64_t> there[] = {{52, 10}, {51, 20}, {55, 30}, {54, 30}, {53, 30}, {50, 40}};
    for (const auto& [low, at] : there)
        ASSERT_TRUE(this->store().insert(submitted(low, at, low % 2 == 0 ? kRunning : kFailed)));
    std::uint64_t below = 50, above = 60;
    for (const std::vector<ApplicationState>& states : {std::vector<ApplicationState>{}, {kRunning, kFailed}}) {
        std::vector<ApplicationId> seen;
        ApplicationQuery query{.owner = some_user(), .states = states, .limit = 2};
        for (;;) {
            const auto page = this->store().list_applications(query);
            ASSERT_TRUE(page) << page.error();
            for (const ApplicationSummary& row : *page)
                if (row.id >= id_of(50) && row.id < id_of(60)) seen.push_back(row.id);
            if (page->size() < query.limit) break;
            query.after = place_of(page->back());
            // One with an id above all at the newest instant, one with an id below all behind it.
            ASSERT_TRUE(this->store().insert(submitted(above++, 40)));
            ASSERT_TRUE(this->store().insert(submitted(--below, 41)));
        }
        EXPECT_THAT(seen, ElementsAre(id_of(50), id_of(55), id_of(54), id_of(53), id_of(51), id_of(52)));
    }
}

TYPED_TEST(ZoneStoreContract, AListBeginsAtAnInstantInEveryChoice) {
    using enum ApplicationState;
    Application foreign = submitted(5, 35);
    foreign.owner = {CallerKind::kUser, "alpha", "bob"};
    ASSERT_TRUE(this->store().insert(foreign));
    for (const auto& [low, at, state] :
         {std::tuple{1U, 40, kRunning}, {2U, 30, kFailed}, {3U, 20, kRunning}, {4U, 10, kFailed}})
        ASSERT_TRUE(this->store().insert(submitted(low, at, state)));
    this->reopen();
    const auto ids = [&](const ApplicationQuery& query) { return ids_in(this->store(), query); };
    const Time since = time_from_microseconds(20);
    const ApplicationPlace first{time_from_microseconds(40), id_of(1)};
    EXPECT_THAT(ids({.since = since}), ElementsAre(id_of(1), id_of(5), id_of(2), id_of(3))) << "and at it";
    EXPECT_THAT(ids({.owner = some_user(), .since = since}), ElementsAre(id_of(1), id_of(2), id_of(3)));
    EXPECT_THAT(ids({.after = first, .since = since}), ElementsAre(id_of(5), id_of(2), id_of(3)));
    EXPECT_THAT(ids({.since = since, .states = {kRunning}}), ElementsAre(id_of(1), id_of(5), id_of(3)));
    EXPECT_THAT(ids({.owner = some_user(), .after = first, .since = since, .states = {kFailed, kRunning}}),
                ElementsAre(id_of(2), id_of(3)));
    EXPECT_THAT(ids({.since = time_from_microseconds(41)}), IsEmpty());
}

TYPED_TEST(ZoneStoreContract, ApplicationsAreChosenByStateHoweverManyOthersThereAre) {
    for (std::uint64_t low : {1, 2, 3, 4}) ASSERT_TRUE(this->store().insert(application(low)));
    ASSERT_TRUE(this->store().update({some_id(4)}, ended(9)));
    ASSERT_TRUE(this->store().update({some_id(2)}, ended(10)));
    this->reopen();
    const auto ids = [&](const ApplicationQuery& query) { return ids_in(this->store(), query); };
    const ApplicationState open = application(1).status.state, over = ended(9).state;
    EXPECT_THAT(ids({.states = {open}, .limit = 1}), ElementsAre(ApplicationId{some_id(3)}));
    EXPECT_THAT(ids({.after = place_of(summary_of(application(3))), .states = {open}}),
                ElementsAre(ApplicationId{some_id(1)}));
    EXPECT_THAT(ids({.owner = some_user(), .states = {over}}),
                ElementsAre(ApplicationId{some_id(4)}, ApplicationId{some_id(2)}));
    EXPECT_EQ(ids({.states = {open, over}}).size(), 4U);
    EXPECT_THAT(ids({.states = {ApplicationState::kRejected}}), IsEmpty());
}

TYPED_TEST(ZoneStoreContract, CountsWhatIsOpenAndWhatEndedLately) {
    Application foreign = application(4);
    foreign.owner = {CallerKind::kUser, "alpha", "bob"};
    for (std::uint64_t low : {1, 2, 3}) ASSERT_TRUE(this->store().insert(application(low)));
    ASSERT_TRUE(this->store().insert(foreign));
    ASSERT_TRUE(this->store().update({some_id(2)}, ended(9)));
    ASSERT_TRUE(this->store().update({some_id(3)}, ended(20)));
    this->reopen();
    using Counts = std::map<ApplicationState, std::size_t>;
    const ApplicationState open = application(1).status.state, over = ended(9).state;
    EXPECT_EQ(*this->store().count_applications({}, time_from_microseconds(9)), (Counts{{open, 2}, {over, 1}}));
    EXPECT_EQ(*this->store().count_applications(some_user(), time_from_microseconds(8)),
              (Counts{{open, 1}, {over, 2}}));
    EXPECT_EQ(*this->store().count_applications(foreign.owner, Time{}), (Counts{{open, 1}}));
}

TYPED_TEST(ZoneStoreContract, TheLongestEndedComeFirst) {
    for (std::uint64_t low = 1; low <= 4; ++low) ASSERT_TRUE(this->store().insert(application(low)));
    for (const auto& [low, at] : {std::pair{1U, 30}, {2U, 10}, {3U, 20}})
        ASSERT_TRUE(this->store().update({some_id(low)}, ended(at, StepId("mpi-" + std::to_string(low)))));
    const auto old = this->store().ended_applications(time_from_microseconds(30), 10);
    ASSERT_TRUE(old);
    EXPECT_THAT(*old, ElementsAre(EndedApplication{{some_id(2)}, "mpi-2"}, EndedApplication{{some_id(3)}, "mpi-3"}));
    EXPECT_EQ(this->store().ended_applications(time_from_microseconds(30), 1)->size(), 1U);
}

TYPED_TEST(ZoneStoreContract, AnIdThatWasRemovedIsNotTakenAgain) {
    ASSERT_TRUE(this->store().insert(application(1)));
    EXPECT_FALSE(*this->store().was_removed(ApplicationId{some_id(1)}));
    ASSERT_TRUE(this->store().remove(ApplicationId{some_id(1)}));
    this->reopen();
    EXPECT_TRUE(*this->store().was_removed(ApplicationId{some_id(1)}));
    EXPECT_EQ(*this->store().find_application({some_id(1)}), std::nullopt);
    EXPECT_EQ(this->store().insert(application(1)).error().code, ErrorCode::kConflict);
    EXPECT_THAT(*this->store().list_applications({}), IsEmpty());
}

PartRecord ended_part(std::uint64_t low, std::int64_t at_us) {
    PartRecord part = some_part_record();
    part.request.id = part.status.id = {some_id(low)};
    part.status.state = PartState::kCompleted;
    part.ended = time_from_microseconds(at_us);
    return part;
}

TYPED_TEST(ZoneStoreContract, EndedPartsAreFoundByTheirIdAndByTheirAge) {
    PartRecord open = ended_part(1, 0);
    open.status.state = PartState::kHeld;
    PartRecord unused = ended_part(5, 40);
    unused.operation.clear();
    for (const PartRecord& part : {open, ended_part(2, 20), ended_part(3, 10), ended_part(4, 30), unused})
        ASSERT_TRUE(this->store().save(part));
    this->reopen();
    EXPECT_EQ(*this->store().load_open_parts(), std::vector{open});
    EXPECT_EQ(*this->store().find_part({some_id(2)}), ended_part(2, 20));
    EXPECT_THAT(*this->store().ended_parts(time_from_microseconds(30), 10),
                ElementsAre(EndedPart{{some_id(3)}, "op-1", {0, 2}}, EndedPart{{some_id(2)}, "op-1", {0, 2}}));
    EXPECT_THAT(*this->store().recent_parts(time_from_microseconds(10), 10),
                ElementsAre(ended_part(4, 30), ended_part(2, 20)));
    EXPECT_THAT(*this->store().recent_parts(time_from_microseconds(0), 1), ElementsAre(ended_part(4, 30)));
    ASSERT_TRUE(this->store().remove(PartId{some_id(3)}));
    EXPECT_EQ(*this->store().find_part({some_id(3)}), std::nullopt);
    EXPECT_TRUE(*this->store().was_removed(PartId{some_id(3)}));
    EXPECT_FALSE(*this->store().was_removed(PartId{some_id(2)}));
}

TYPED_TEST(ZoneStoreContract, PartsAreReplacedWhole) {
    PartRecord part = some_part_record();
    ASSERT_TRUE(this->store().save(part));
    part.status.state = PartState::kCommitted;
    part.proxies = {};
    ASSERT_TRUE(this->store().save(part));
    this->reopen();
    EXPECT_EQ(*this->store().load_open_parts(), std::vector{part});
}

StateEvent event(std::uint64_t id, std::uint64_t low) {
    return {.id = id,
            .at = time_from_microseconds(7),
            .application = {some_id(low)},
            .owner = some_user(),
            .state = "held",
            .reason = "it's\nso"};
}

TYPED_TEST(ZoneStoreContract, EventsComeBackByOwnerApplicationAndId) {
    EXPECT_EQ(*this->store().last_event(), 0U);
    StateEvent foreign = event(13, 2), part = event(14, 1);
    foreign.owner = Caller{CallerKind::kUser, "alpha", "bob"};
    part.owner.reset();
    part.part = PartId{some_id(9)};
    for (const StateEvent& e : {event(11, 1), event(12, 3), foreign, part, event(15, 1)})
        ASSERT_TRUE(this->store().append(e));
    EXPECT_FALSE(this->store().append(event(15, 3))) << "an id is used once";
    this->reopen();
    EXPECT_EQ(*this->store().last_event(), 15U);
    EXPECT_THAT(*this->store().events({.after = 12}), ElementsAre(foreign, part, event(15, 1)));
    EXPECT_THAT(*this->store().events({.owner = some_user()}), ElementsAre(event(11, 1), event(12, 3), event(15, 1)));
    EXPECT_THAT(*this->store().events({.after = 11, .application = ApplicationId{some_id(1)}}),
                ElementsAre(event(15, 1)));
    EXPECT_THAT(*this->store().events({.owner = some_user(), .application = ApplicationId{some_id(2)}}), IsEmpty());
    EXPECT_THAT(*this->store().events({.limit = 2}), ElementsAre(event(11, 1), event(12, 3)));
    EXPECT_THAT(*this->store().events({.after = UINT64_MAX}), IsEmpty());
}

TYPED_TEST(ZoneStoreContract, EventsGoWithWhatTheyAreAboutAndTheOldestGiveWay) {
    ASSERT_TRUE(this->store().append(event(1, 2)));
    for (std::uint64_t id = 2; id <= kMaxEventsOfOne + 3; ++id) ASSERT_TRUE(this->store().append(event(id, 1)));
    const auto kept = this->store().events({.application = ApplicationId{some_id(1)}, .limit = 10'000});
    EXPECT_EQ(kept->size(), kMaxEventsOfOne);
    EXPECT_EQ(kept->front().id, 4U);
    ASSERT_TRUE(this->store().remove(ApplicationId{some_id(1)}));
    EXPECT_THAT(*this->store().events({}), ElementsAre(event(1, 2)));
}

/// Homes choose the ids of their parts.
TYPED_TEST(ZoneStoreContract, APartWithTheIdOfAnApplicationTakesNoneOfItsEvents) {
    StateEvent part = event(3, 7);
    part.owner.reset();
    part.part = PartId{some_id(1)};
    for (const StateEvent& e : {event(1, 1), event(2, 1), part}) ASSERT_TRUE(this->store().append(e));
    EXPECT_THAT(*this->store().events({.application = ApplicationId{some_id(1)}, .limit = 2}),
                ElementsAre(event(1, 1), event(2, 1)));
    for (std::uint64_t id = 4; id <= kMaxEventsOfOne + 3; ++id) {
        part.id = id;
        ASSERT_TRUE(this->store().append(part));
    }
    ASSERT_TRUE(this->store().remove(PartId{some_id(1)}));
    EXPECT_THAT(*this->store().events({}), ElementsAre(event(1, 1), event(2, 1)));
}

TYPED_TEST(ZoneStoreContract, TokensGrowAndNeverRepeat) {
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        const auto token = this->store().next_token();
        ASSERT_TRUE(token);
        EXPECT_GT(*token, last);
        last = *token;
        if (i % 5 == 4) this->reopen();
    }
}

TYPED_TEST(ZoneStoreContract, TheTimeLastBelievedComesBack) {
    EXPECT_EQ(*this->store().believed_time(), std::nullopt);
    for (const int hours : {500'000, 400'000}) {
        const Time time{std::chrono::hours{hours}};
        ASSERT_TRUE(this->store().record_believed_time(time));
        this->reopen();
        EXPECT_EQ(*this->store().believed_time(), time);
    }
    EXPECT_EQ(*this->store().next_token(), 1U) << "another number";
}

TYPED_TEST(ZoneStoreContract, TheQueueComesBackAsItWasStoredLast) {
    EXPECT_TRUE(this->store().queues().load()->empty());
    QueueRecord queue{.policy = "gang:slices=2", .at = Time{std::chrono::hours{500'000}}, .state = {}};
    queue.state = {.at = Duration{7}, .used = {{"org-a", 2.5}}, .view = {}};
    const PartId part{some_id(1)};
    JobRecord record{.job = {.id = JobId{3}, .walltime = std::chrono::hours{1}, .processors = 2}};
    record.phase = JobPhase::kRunning;
    record.allocated = 2;
    record.walltime_left = record.job.walltime;
    queue.state.view.parts = {{part, record}};
    queue.state.view.rows = {{{part, {0, 3}, false}}};
    for (const int slice : {100, 200}) {
        queue.state.view.slice = std::chrono::milliseconds{slice};
        ASSERT_TRUE(this->store().queues().save(queue));
        this->reopen();
        EXPECT_EQ(*this->store().queues().load(), std::vector{queue});
    }
    QueueRecord other = queue;
    other.partition = "batch";
    ASSERT_TRUE(this->store().queues().save(other));
    this->reopen();
    EXPECT_EQ(*this->store().queues().load(), (std::vector{queue, other})) << "one of each partition";
}

TYPED_TEST(ZoneStoreContract, PeersAreReplacedAndSortedByName) {
    Peer b = some_peer(), a = some_peer();
    b.zone = "b";
    a.zone = "a";
    for (const Peer& peer : {b, a}) ASSERT_TRUE(this->store().save(peer));
    b.url = "http://127.0.0.1:2";
    ASSERT_TRUE(this->store().save(b));
    this->reopen();
    EXPECT_EQ(*this->store().load_peers(), (std::vector{a, b}));
}

Profile profile_of(std::uint64_t low, const std::string& program, const std::string& digest = {}) {
    Profile profile = some_profile(low);
    profile.model.program = program;
    profile.digest = digest;
    return profile;
}

TYPED_TEST(ZoneStoreContract, ProfilesOfAProgramAreFoundByPathAndByDigest) {
    const std::string digest(64, 'a'), other(64, 'b');
    Profile foreign = profile_of(9, "./ring", digest);
    foreign.owner = {CallerKind::kUser, "beta", "ana"};
    for (const Profile& p : {profile_of(5, "./ring"), profile_of(6, "./ring", other), profile_of(7, "./moved", digest),
                             profile_of(8, "./other", other), foreign})
        ASSERT_TRUE(this->store().insert(p));
    this->reopen();
    const auto ids = [&](const std::string& program, const std::string& wanted, std::size_t limit = 9) {
        std::vector<ProfileId> found;
        const auto rows = this->store().profiles_of({some_user(), program, wanted, limit});
        for (const ProfileSummary& row : *rows) found.push_back(row.id);
        return found;
    };
    EXPECT_THAT(ids("./ring", digest),
                ElementsAre(ProfileId{some_id(7)}, ProfileId{some_id(6)}, ProfileId{some_id(5)}));
    EXPECT_THAT(ids("./ring", ""), ElementsAre(ProfileId{some_id(6)}, ProfileId{some_id(5)})) << "no digest is no key";
    EXPECT_THAT(ids("./ring", digest, 1), ElementsAre(ProfileId{some_id(7)}));
    EXPECT_TRUE(ids("./nothing", "").empty());
}

TYPED_TEST(ZoneStoreContract, AllOfAProfileIsKept) {
    Profile whole = profile_of(5, "./ring", std::string(64, 'c'));
    whole.arguments = "--grid={3}x{2} \\20";
    whole.predicted = Duration{1'500'000};
    whole.measured = Duration{0};
    whole.model.unseen = {{"MPI_Psend_init", 4}};
    Profile imported = profile_of(6, "./ring");
    imported.application.reset();
    for (const Profile& p : {whole, imported}) ASSERT_TRUE(this->store().insert(p));
    this->reopen();
    EXPECT_EQ(**this->store().load_profile(some_user(), {some_id(5)}), whole);
    EXPECT_EQ(**this->store().load_profile(some_user(), {some_id(6)}), imported);
    EXPECT_EQ(*this->store().list_profiles(some_user()), (std::vector{summary_of(imported), summary_of(whole)}));
}

TYPED_TEST(ZoneStoreContract, TheOldestProfilesOfAKindGiveWay) {
    Profile cut_short = some_profile(1, false), more_ranks = some_profile(2, true, 8), other = profile_of(3, "./ring");
    other.arguments = "{9}";
    for (const Profile& p : {cut_short, more_ranks, other}) ASSERT_TRUE(this->store().insert(p));
    for (std::uint64_t i = 0; i < kMaxProfilesOfAKind + 2; ++i) ASSERT_TRUE(this->store().insert(some_profile(10 + i)));
    this->reopen();
    const auto rows = *this->store().list_profiles(some_user());
    ASSERT_EQ(rows.size(), kMaxProfilesOfAKind + 3);
    EXPECT_EQ(rows[kMaxProfilesOfAKind - 1].id.value, some_id(12)) << "10 and 11 are gone";
    EXPECT_EQ(rows.back().id.value, some_id(1)) << "a run that was cut short counts apart";
    EXPECT_EQ(*this->store().load_profile(some_user(), {some_id(10)}), std::nullopt);
}

TYPED_TEST(ZoneStoreContract, ProfilesAreListedNewestFirstForTheirOwner) {
    Profile foreign = some_profile(8);
    foreign.owner = {CallerKind::kUser, "alpha", "bob"};
    for (const Profile& p : {some_profile(5), foreign, some_profile(7, false)}) ASSERT_TRUE(this->store().insert(p));
    this->reopen();
    const auto listed = this->store().list_profiles(some_user());
    ASSERT_TRUE(listed);
    const Profile p = some_profile(5);
    EXPECT_THAT(*listed, ElementsAre(ProfileSummary{{some_id(7)}, p.application, p.at, "./ring", 4, false},
                                     ProfileSummary{{some_id(5)}, p.application, p.at, "./ring", 4, true}));
    EXPECT_EQ(**this->store().load_profile(some_user(), {some_id(5)}), p);
    EXPECT_EQ(*this->store().load_profile(some_user(), {some_id(8)}), std::nullopt) << "not the caller's";
    EXPECT_EQ(*this->store().load_profile(some_user(), {some_id(6)}), std::nullopt);
    EXPECT_EQ(this->store().insert(some_profile(5)).error().code, ErrorCode::kConflict);
}

TYPED_TEST(ZoneStoreContract, TextsWithQuotesAndAnyLanguageAreKept) {
    Application odd = application(1);
    odd.request.argv = {"a'b\"; DROP TABLE application; --", "ü\n\t\x01", "模拟"};
    ASSERT_TRUE(this->store().insert(odd));
    this->reopen();
    EXPECT_EQ(*this->store().load_open_applications(), std::vector{odd});
}

TYPED_TEST(ZoneStoreContract, ALargeModelIsKept) {
    Application large = application(1);
    large.request.ranks = 5000;
    large.request.model = some_model(5000);
    ASSERT_TRUE(this->store().insert(large));
    this->reopen();
    EXPECT_EQ(*this->store().load_open_applications(), std::vector{large});
}

}  // namespace
}  // namespace zbs
