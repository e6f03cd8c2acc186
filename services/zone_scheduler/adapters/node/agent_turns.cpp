#include "services/zone_scheduler/adapters/node/agent_turns.hpp"

#include <algorithm>
#include <utility>

namespace zbs::node {
namespace {

constexpr Duration kTurnsAgain = std::chrono::seconds{5};
constexpr Duration kNotThere = std::chrono::milliseconds{500};  ///< before an agent that is not known is looked for

}  // namespace

bool is_passing(const Error& error) {
    return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout ||
           error.code == ErrorCode::kTooManyRequests;
}

void AgentTurns::record_refused(const char* what, const MachineName& machine, const Error& error) {
    const char* const what_now = error.code == ErrorCode::kDenied
                                     ? "give the machine's zbs-node the right to it (root, CAP_SYS_NICE)"
                                     : "where the zone's database is new, restart the machine's zbs-node";
    log_.warn(what, {{"machine", machine}, {"reason", error.message}, {"what_now", what_now}});
}

void AgentTurns::set_column(const MachineName& machine, SliceColumn column) {
    const std::uint64_t number = column.number;
    columns_[machine] = std::move(column);
    send_column(machine, number);
}

/// Until there is a newer one.
void AgentTurns::send_column(const MachineName& machine, std::uint64_t number) {
    if (columns_.at(machine).number != number) return;
    const auto again = [this, machine, number](Duration pause) {
        clock_.after(pause, [this, machine, number] { send_column(machine, number); });
    };
    const http::NodeClient* const client = find_(machine);
    if (client == nullptr) return again(kNotThere);
    client->set_slices(columns_.at(machine), [this, machine, number, again](const Result<void>& set) {
        const SliceColumn& newest = columns_.at(machine);
        if (newest.number != number) return;
        const bool is_refused = !set && !is_passing(set.error());
        if (is_refused) record_refused("slices_refused", machine, set.error());
        if (!set) return again(is_refused ? std::max(pause_(machine), kTurnsAgain) : pause_(machine));
        if (!newest.rows.empty()) again(kTurnsAgain);
    });
}

void AgentTurns::set_shares(const MachineName& machine, ShareTable table) {
    const std::uint64_t number = table.number;
    shares_[machine] = std::move(table);
    send_shares(machine, number);
}

/// Until there are newer ones. What an agent may not do it will not do the next time either: that is said once.
void AgentTurns::send_shares(const MachineName& machine, std::uint64_t number) {
    if (shares_.at(machine).number != number) return;
    const auto again = [this, machine, number](Duration pause) {
        clock_.after(pause, [this, machine, number] { send_shares(machine, number); });
    };
    const http::NodeClient* const client = find_(machine);
    if (client == nullptr) return again(kNotThere);
    client->set_shares(shares_.at(machine), [this, machine, number, again](const Result<void>& set) {
        const ShareTable& newest = shares_.at(machine);
        if (newest.number != number) return;
        const bool is_passed = !set && is_passing(set.error());
        if (!set && !is_passed && std::exchange(logged_refusals_[machine], number) != number)
            record_refused("shares_refused", machine, set.error());
        if (is_passed) return again(pause_(machine));
        if (!set && set.error().code != ErrorCode::kDenied) return again(std::max(pause_(machine), kTurnsAgain));
        if (!newest.shares.empty()) again(kTurnsAgain);
    });
}

}  // namespace zbs::node
