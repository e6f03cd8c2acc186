#include "services/common/messages/states.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "services/common/codec/json/words.hpp"
#include "tests/support/federation_world.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

/// "from to" for each step of a machine, written out by hand: the table must say exactly this.
constexpr const char* kApplicationSteps =
    "accepted:planned,cancelled,rejected planned:accepted,held,committed,cancelled,rejected "
    "held:accepted,committed,cancelled,rejected "
    "committed:accepted,planned,launching,cancelled,rejected launching:accepted,running,failed,cancelled "
    "running:completed,failed,cancelled completed: failed: cancelled: rejected:";
constexpr const char* kPartSteps =
    "held:committed,released,expired committed:running,released running:completed,failed,released completed: failed: "
    "released: expired:";

template <class States>
std::string steps_of(const States& states) {
    std::string text;
    for (const auto from : states) {
        std::string line;
        for (const auto to : states)
            if (allowed(from, to)) line += (line.empty() ? "" : ",") + std::string(to_string(to));
        text += (text.empty() ? "" : " ") + std::string(to_string(from)) + ":" + line;
    }
    return text;
}

TEST(States, AllowedAreTheseStepsAndNoOthers) {
    EXPECT_EQ(steps_of(kAll<ApplicationState>), kApplicationSteps);
    EXPECT_EQ(steps_of(kAll<PartState>), kPartSteps);
}

TEST(States, NothingFollowsAnEndAndEverythingCanEnd) {
    for (const ApplicationState s : kAll<ApplicationState>) {
        int next = 0;
        for (const auto& t : kApplicationTransitions) next += t.from == s;
        EXPECT_EQ(next == 0, is_final(s)) << to_string(s);
    }
    for (const PartState s : kAll<PartState>) {
        int next = 0;
        for (const auto& t : kPartTransitions) next += t.from == s;
        EXPECT_EQ(next == 0, is_final(s)) << to_string(s);
    }
}

template <class Table>
void render(std::ostream& out, const char* title, const Table& table) {
    out << title << "\n\n| from | to | when |\n|---|---|---|\n";
    for (const auto& t : table)
        out << "| " << to_string(t.from) << " | " << to_string(t.to) << " | " << t.why << " |\n";
    out << "\n";
}

TEST(States, TheReadmeShowsTheTablesOfTheCode) {
    std::ostringstream wanted;
    wanted << "\n";
    render(wanted, "Application (home):", kApplicationTransitions);
    render(wanted, "Part (peer):", kPartTransitions);
    const std::string begin = "<!-- states: made from services/common/messages/states.hpp -->\n";
    const std::string end = "<!-- end of states -->";
    std::ifstream file(zbs::test::source_folder() + "/services/zone_scheduler/README.md");
    std::stringstream text;
    text << file.rdbuf();
    const std::string readme = text.str();
    const std::size_t from = readme.find(begin);
    const std::size_t to = readme.find(end);
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << "the README has lost its markers";
    EXPECT_TRUE(readme.substr(from + begin.size(), to - from - begin.size()) == wanted.str())
        << "paste between the markers in services/zone_scheduler/README.md:\n"
        << wanted.str();
}

ApplicationStatus with_history(std::vector<ApplicationState> states) {
    ApplicationStatus status;
    for (const ApplicationState s : states) status.history.push_back({s, Time{}});
    if (!states.empty()) status.state = states.back();
    return status;
}

struct WrongHistory {
    const char* name;
    ApplicationStatus status;
    const char* says;
};

TEST(States, HistoryThatCannotBeIsToldWithItsStep) {
    using enum ApplicationState;
    ApplicationStatus other = with_history({kAccepted, kPlanned});
    other.state = kHeld;
    const WrongHistory cases[] = {
        {"none", {}, "is empty"},
        {"no beginning", with_history({kPlanned}), "begins with 'planned'"},
        {"jump", with_history({kAccepted, kRunning}), "from 'accepted' to 'running'"},
        {"after the end", with_history({kAccepted, kRejected, kAccepted}), "from 'rejected' to 'accepted'"},
        {"twice", with_history({kAccepted, kAccepted}), "from 'accepted' to 'accepted'"},
        {"other state", other, "its state is 'held', but its history ends with 'planned'"},
    };
    for (const WrongHistory& c : cases) {
        const Result<void> checked = check_history(c.status);
        ASSERT_FALSE(checked) << c.name;
        EXPECT_NE(checked.error().message.find(c.says), std::string::npos) << c.name << ": " << checked.error().message;
    }
}

TEST(States, FullHistoryHasAGapAfterItsFirstEntryOnly) {
    using enum ApplicationState;
    ApplicationStatus status = with_history({kAccepted});
    while (status.history.size() < kMaxHistory)
        status.history.push_back({status.history.size() % 2 == 1 ? kHeld : kAccepted, Time{}});
    status.state = status.history.back().state;
    EXPECT_FALSE(check_history(status)) << "accepted does not lead to held later on either";
    for (std::size_t i = 1; i < status.history.size(); ++i) status.history[i].state = i % 2 == 1 ? kAccepted : kPlanned;
    status.state = status.history.back().state;
    EXPECT_TRUE(check_history(status));
    status.history.pop_back();
    status.state = status.history.back().state;
    EXPECT_FALSE(check_history(status)) << "accepted, accepted: without a full history there is no gap";
}

TEST(States, RecordThatCannotBeStopsTheStartWithItsName) {
    FederationWorld world{{4, 4, 4}};
    const ApplicationRequest request = world.request(12);
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(3s);
    world.crash("a");
    world.crash("b");
    ApplicationStatus status = world.node("a").store.all_applications().front().status;
    status.state = ApplicationState::kHeld;
    ASSERT_TRUE(world.node("a").store.update(request.id, status));
    const Result<void> home = world.try_restart("a");
    ASSERT_FALSE(home);
    EXPECT_NE(home.error().message.find(to_string(request.id)), std::string::npos) << home.error().message;

    auto& b = world.node("b");
    PartRecord part = b.store.all_parts().front();
    ASSERT_EQ(part.status.state, PartState::kRunning);
    part.operation.clear();
    ASSERT_TRUE(b.store.save(part));
    const Result<void> peer = world.try_restart("b");
    ASSERT_FALSE(peer);
    EXPECT_NE(peer.error().message.find("part " + to_string(part.request.id)), std::string::npos)
        << peer.error().message;
}

}  // namespace
}  // namespace zbs::test
