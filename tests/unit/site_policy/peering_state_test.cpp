#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/zone_scheduler/trust/site_policy/peering_rights.hpp"

namespace zbs {
namespace {
using enum PeeringState;
using enum PeeringAction;

struct Move {
    PeeringState from;
    PeeringAction action;
    std::optional<PeeringState> to;
};
constexpr Move kMoves[] = {
    {kRequested, kPeerRequests, kRequested},     {kRequested, kRuleAccepts, kAccepted},
    {kRequested, kOperatorAccepts, kAccepted},   {kRequested, kOperatorRejects, kRejected},
    {kRequested, kOperatorSuspends, {}},         {kRequested, kOperatorResumes, {}},
    {kAccepted, kPeerRequests, kAccepted},       {kAccepted, kRuleAccepts, kAccepted},
    {kAccepted, kOperatorAccepts, kAccepted},    {kAccepted, kOperatorRejects, kRejected},
    {kAccepted, kOperatorSuspends, kSuspended},  {kAccepted, kOperatorResumes, kAccepted},
    {kRejected, kPeerRequests, kRejected},       {kRejected, kRuleAccepts, {}},
    {kRejected, kOperatorAccepts, kAccepted},    {kRejected, kOperatorRejects, kRejected},
    {kRejected, kOperatorSuspends, {}},          {kRejected, kOperatorResumes, {}},
    {kSuspended, kPeerRequests, kSuspended},     {kSuspended, kRuleAccepts, {}},
    {kSuspended, kOperatorAccepts, kAccepted},   {kSuspended, kOperatorRejects, kRejected},
    {kSuspended, kOperatorSuspends, kSuspended}, {kSuspended, kOperatorResumes, kAccepted},
};
static_assert(std::size(kMoves) == 4 * 6, "every state with every action");

TEST(NextState, FollowsTheTable) {
    for (const Move& move : kMoves) {
        SCOPED_TRACE(std::string(to_string(move.from)) + " and " + to_string(move.action));
        const Result<PeeringState> next = next_state(move.from, move.action);
        ASSERT_EQ(next.has_value(), move.to.has_value());
        if (next) {
            EXPECT_EQ(*next, *move.to);
        } else {
            EXPECT_EQ(next.error().code, ErrorCode::kConflict);
        }
    }
}

TEST(NextState, ARefusalNamesStateActionAndRemedy) {
    const Result<PeeringState> next = next_state(kRejected, kRuleAccepts);
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().message,
              "the peering is rejected, which an automatic rule cannot change; the operator settled it and only the "
              "operator can accept it");
}

}  // namespace
}  // namespace zbs
