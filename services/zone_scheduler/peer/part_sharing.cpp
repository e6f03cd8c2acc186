// Parts that share processors without turns, or with turns of different lengths: by priority [Turner1995, chapter 6] or
// by shares [Huang2004, chapter 5]. Each row of the matrix is as large as the zone; a part lies in one row.
#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/elmer/nice_level.hpp"
#include "algorithms/elmer/virtual_clusters.hpp"
#include "algorithms/policy/scojo.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {
namespace {

constexpr int kMaxWeight = 10'000;

}  // namespace

bool PartService::takes_turns() const {
    return config_.sharing == SharingMode::kGang || config_.sharing == SharingMode::kConcurrentGang ||
           (config_.sharing == SharingMode::kShares && !has_weights_);
}

std::string PartService::sharing_mode() const {
    if (config_.slots == 1) return {};
    if (takes_turns()) return "turns";
    return config_.sharing == SharingMode::kPriority ? "nice levels" : "weights";
}

/// Weights count only where all machines have them: else the ranks of one part would run at different times.
void PartService::see_weights() {
    if (config_.sharing != SharingMode::kShares) return;
    bool all_have = true;
    for (const MachineName& machine : config_.agents) {
        const std::optional<bool> has = slices_->has_weights(machine);
        if (!has) return;  // until all agents have registered it stays as it is
        all_have = all_have && *has;
    }
    if (std::exchange(has_weights_, all_have) != has_weights_) slices_changed_ = true;
}

/// Per cent of its processors that a part asks for. One of another organisation's user has no more than who asks for
/// nothing: a share counts in the whole row.
int PartService::share_of(const std::optional<int>& asked, const Caller& user) const {
    const int usual = std::max<int>(Scojo::default_share(config_.slots), kMinShare);
    if (!asked) return usual;
    return user.organisation == config_.organisation ? *asked : std::min(*asked, usual);
}

/// Of the parts that run, by processor of each: 0 where it goes first. The higher priority does, then who came first.
std::map<PartId, std::vector<int>> PartService::levels() const {
    std::vector<const PartRecord*> order;
    for (const auto& [id, part] : parts_)
        if (part->record.status.state == PartState::kRunning) order.push_back(&part->record);
    std::ranges::sort(order, {}, [this](const PartRecord* record) {
        const bool own = record->home_caller.organisation == config_.organisation;
        const int priority = own ? record->request.priority : std::min(record->request.priority, kUsualPriority);
        return std::pair(-priority, record->status.token);
    });
    Result<elmer::VirtualClusters> clusters =
        elmer::VirtualClusters::make({.hosts = static_cast<std::int32_t>(ledger_.row_size()), .degree = config_.slots});
    ZBS_EXPECTS(clusters.has_value());
    const auto processor = [this](std::int32_t p) { return p % static_cast<std::int32_t>(ledger_.row_size()); };
    for (std::size_t i = 0; i < order.size(); ++i) {
        elmer::Cluster cluster{.job = JobId{static_cast<std::int32_t>(i)}};
        for (const std::int32_t p : order[i]->processors) cluster.hosts.push_back(processor(p));
        std::ranges::sort(cluster.hosts);
        clusters->place(cluster);
    }
    std::map<PartId, std::vector<int>> levels;
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::vector<int>& own = levels[order[i]->request.id];
        for (const std::int32_t p : order[i]->processors) {
            const auto there = clusters->on_host(processor(p));
            const auto at =
                std::ranges::find(there, JobId{static_cast<std::int32_t>(i)}, &elmer::VirtualClusters::Slot::job);
            own.push_back(static_cast<int>(at - there.begin()));
        }
    }
    return levels;
}

/// Nice levels or weights of the steps that run on a machine. A control group's weight is divided among the processors
/// that it uses, so it is the share times these.
ShareTable PartService::shares_of(const MachineName& machine) const {
    ShareTable table;
    if (config_.slots == 1 || takes_turns()) return table;
    const bool by_priority = config_.sharing == SharingMode::kPriority;
    const std::map<PartId, std::vector<int>> levels =
        by_priority ? this->levels() : std::map<PartId, std::vector<int>>{};
    double largest = kMaxWeight;
    std::vector<double> weights;
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.status.state != PartState::kRunning) continue;
        int level = 0, ranks = 0;
        for (std::size_t i = 0; i < record.status.assignment.size(); ++i) {
            if (record.status.assignment[i].machine != machine) continue;
            ++ranks;
            if (by_priority) level = std::max(level, levels.at(id)[i]);
        }
        const auto here = std::count(record.machines.begin(), record.machines.end(), machine);
        const std::vector<StepId> steps = steps_of(record);
        for (std::size_t i = 0; i < steps.size() && i < record.machines.size(); ++i) {
            if (record.machines[i] != machine) continue;
            table.shares.push_back({.step_id = steps[i], .weight = {}, .nice = {}});
            if (by_priority) table.shares.back().nice = elmer::nice_level(level, config_.slots);
            weights.push_back(static_cast<double>(share_of(record.request.share, record.request.user)) * ranks /
                              static_cast<double>(here));
            largest = std::max(largest, weights.back());
        }
    }
    if (!by_priority)
        for (std::size_t i = 0; i < weights.size(); ++i)
            table.shares[i].weight = std::max(1, static_cast<int>(std::lround(weights[i] * kMaxWeight / largest)));
    if (table.shares.size() > limits::kMaxNodeSteps) {
        log_.warn("shares_too_large", {{"machine", machine}, {"steps", std::to_string(table.shares.size())}});
        table.shares.clear();  // all are as without there
    }
    return table;
}

/// Of the steps whose machines' agents have said something; several kinds together are mixed.
std::optional<StepWork> PartService::work_of(const PartRecord& record) const {
    std::optional<StepWork> all;
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < steps.size() && i < record.machines.size(); ++i) {
        if (!config_.agents.contains(record.machines[i])) continue;
        const std::optional<StepWork> one = executor_.status(steps[i]).work;
        if (one) all = all && *all != *one ? StepWork::kMixed : *one;
    }
    return all;
}

}  // namespace zbs
