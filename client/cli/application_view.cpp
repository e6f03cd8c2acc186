#include "client/cli/application_view.hpp"

#include <algorithm>
#include <ostream>

#include "client/cli/context.hpp"

namespace zbs::cli {

using codec::Json;

std::string text_of(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

std::string ranks_text(const std::vector<TaskIndex>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t j = i;
        while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
        text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
        if (j > i) text += (j == i + 1 ? "," : "-") + std::to_string(ranks[j]);
        i = j + 1;
    }
    return text;
}

void describe_plan(std::ostream& out, const ApplicationPlan& plan) {
    if (plan.profile == "none") {
        out << "plan: no profile of this program and size is known; blocks of consecutive ranks\n";
    } else if (plan.profile == "request") {
        out << "plan: made from the model given with the request\n";
    } else {
        out << "plan: made from profile " << plan.profile << ", which an earlier run left\n";
    }
    for (std::size_t c = 0; c < plan.clusters.size(); ++c) {
        std::vector<TaskIndex> members = plan.clusters[c];
        std::sort(members.begin(), members.end());
        out << "  cluster {" << ranks_text(members) << "} -> zone " << printable(plan.zone_of_cluster[c]) << "\n";
    }
    for (const ZoneVerdict& zone : plan.zones) {
        if (zone.ranks == 0)
            out << "  zone " << printable(zone.zone) << " left out: " << printable(zone.reason) << "\n";
    }
    if (plan.crossing_bytes) {
        out << "  bytes between zones: " << human_bytes(*plan.crossing_bytes) << " with this plan, "
            << human_bytes(plan.crossing_bytes_block.value_or(0)) << " without a profile (blocks), "
            << human_bytes(plan.crossing_bytes_round_robin.value_or(0)) << " round robin\n";
    }
}

void draw_plan_matrix(std::ostream& out, const ApplicationPlan& plan, const TaskGraph& graph) {
    if (plan.zone_of_rank.size() != static_cast<std::size_t>(graph.task_count())) return;
    std::vector<TaskIndex> order(plan.zone_of_rank.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<TaskIndex>(i);
    const auto zone = [&](TaskIndex rank) -> const std::string& {
        return plan.zone_of_rank[static_cast<std::size_t>(rank)];
    };
    std::stable_sort(order.begin(), order.end(), [&](TaskIndex a, TaskIndex b) { return zone(a) < zone(b); });
    std::vector<std::size_t> blocks;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < order.size(); ++i) {
        labels.push_back("zone " + zone(order[i]));
        if (i > 0 && zone(order[i]) == zone(order[i - 1])) labels.back().clear();
        if (i + 1 == order.size() || zone(order[i]) != zone(order[i + 1])) blocks.push_back(i + 1);
    }
    out << draw_matrix(graph, order, blocks, labels);
}

bool is_ended(const std::string& state) {
    return state == "completed" || state == "failed" || state == "cancelled" || state == "rejected";
}

int code_of_end(const Json& view) {
    const std::string state = text_of(view, "state");
    if (state == "rejected") return kRejected;
    const auto code = view.find("exit_code");
    const int value = code != view.end() && code->is_number_integer() ? code->get<int>() : 0;
    return state == "completed" ? 0 : value != 0 ? value : kFailed;
}

}  // namespace zbs::cli
