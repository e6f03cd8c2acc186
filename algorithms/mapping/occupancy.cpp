#include "algorithms/mapping/occupancy.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

std::vector<std::int32_t> number_machines(const ResourceGraph& resources) {
    std::vector<std::int32_t> machine_of(static_cast<std::size_t>(resources.processor_count()));
    std::int32_t machine = -1;
    for (ProcessorIndex p = 0; p < resources.processor_count(); ++p) {
        if (resources.place(p).processor == 0) ++machine;
        machine_of[static_cast<std::size_t>(p)] = machine;
    }
    return machine_of;
}

std::size_t resource_count(const ResourceGraph& resources) {
    const auto zones = static_cast<std::size_t>(resources.zone_count());
    std::size_t machines = 0;
    for (const Zone& zone : resources.zones()) machines += zone.machines.size();
    return static_cast<std::size_t>(resources.processor_count()) + 2 * machines + zones * zones;
}

double smallest_delay(const ResourceGraph& resources) {
    double smallest = 0;
    const auto consider = [&](const Link& link) {
        if (link.delay_s > 0 && (smallest == 0 || link.delay_s < smallest)) smallest = link.delay_s;
    };
    for (std::int32_t a = 0; a < resources.zone_count(); ++a) {
        consider(resources.zones()[static_cast<std::size_t>(a)].within_machine);
        for (std::int32_t b = 0; b <= a; ++b) consider(resources.zone_link(a, b));
    }
    return smallest;
}

}  // namespace

double communication_steps(const TaskGraph& graph) {
    double messages = 0;
    for (const TaskEdge& edge : graph.edges()) messages += edge.messages;
    return std::max(1.0, 2 * messages / std::max<double>(1, graph.task_count()));
}

OccupancyState::OccupancyState(const TaskGraph& graph, const ResourceGraph& resources, double steps)
    : graph_(graph),
      resources_(resources),
      steps_(steps),
      machine_of_(number_machines(resources)),
      processor_of_(static_cast<std::size_t>(graph.task_count()), kUnassigned),
      users_(resource_count(resources), 0),
      load_(resource_count(resources)) {
    ZBS_EXPECTS(steps > 0);
    const std::size_t machines = machine_of_.empty() ? 0 : static_cast<std::size_t>(machine_of_.back()) + 1;
    inside_begin_ = machine_of_.size();
    uplink_begin_ = inside_begin_ + machines;
    zone_pair_begin_ = uplink_begin_ + machines;
}

OccupancyState::PairLoad OccupancyState::pair_load(ProcessorIndex p, ProcessorIndex q,
                                                   const TaskGraph::Neighbour& traffic) const {
    const double seconds = link_seconds(resources_.link(p, q), traffic.bytes, traffic.messages, steps_);
    const std::int32_t zone_p = resources_.place(p).zone;
    const std::int32_t zone_q = resources_.place(q).zone;
    if (zone_p != zone_q) {
        const auto [low, high] = std::minmax(zone_p, zone_q);
        const std::size_t link = zone_pair_begin_ +
                                 static_cast<std::size_t>(low) * static_cast<std::size_t>(resources_.zone_count()) +
                                 static_cast<std::size_t>(high);
        return {link, link, seconds};
    }
    const auto machine_p = static_cast<std::size_t>(machine_of(p));
    const auto machine_q = static_cast<std::size_t>(machine_of(q));
    if (machine_p == machine_q) return {inside_begin_ + machine_p, inside_begin_ + machine_p, seconds};
    return {uplink_begin_ + machine_p, uplink_begin_ + machine_q, seconds};
}

void OccupancyState::add(std::size_t resource, double seconds) {
    ++users_[resource];
    set(resource, load_[resource] + seconds);
}

void OccupancyState::remove(std::size_t resource, double seconds) {
    set(resource, --users_[resource] == 0 ? 0 : std::max(0.0, load_[resource] - seconds));
}

void OccupancyState::set(std::size_t resource, double seconds) {
    load_.set(resource, seconds);
    if (smooth_) smooth_->set(resource, seconds);
}

void OccupancyState::assign(TaskIndex task, ProcessorIndex processor) {
    ProcessorIndex& mine = processor_of_[static_cast<std::size_t>(task)];
    ZBS_EXPECTS(mine == kUnassigned && processor >= 0 && processor < resources_.processor_count());
    mine = processor;
    add(static_cast<std::size_t>(processor), graph_.compute(task) / resources_.speed(processor));
    for (const TaskGraph::Neighbour& n : graph_.neighbours(task)) {
        const ProcessorIndex other = processor_of(n.task);
        if (other == kUnassigned || other == processor) continue;
        const PairLoad pair = pair_load(processor, other, n);
        add(pair.first, pair.seconds);
        if (pair.second != pair.first) add(pair.second, pair.seconds);
    }
}

void OccupancyState::unassign(TaskIndex task) {
    ProcessorIndex& mine = processor_of_[static_cast<std::size_t>(task)];
    ZBS_EXPECTS(mine != kUnassigned);
    const ProcessorIndex processor = std::exchange(mine, kUnassigned);
    remove(static_cast<std::size_t>(processor), graph_.compute(task) / resources_.speed(processor));
    for (const TaskGraph::Neighbour& n : graph_.neighbours(task)) {
        const ProcessorIndex other = processor_of(n.task);
        if (other == kUnassigned || other == processor) continue;
        const PairLoad pair = pair_load(processor, other, n);
        remove(pair.first, pair.seconds);
        if (pair.second != pair.first) remove(pair.second, pair.seconds);
    }
}

void OccupancyState::move(TaskIndex task, ProcessorIndex processor) {
    unassign(task);
    assign(task, processor);
}

double OccupancyState::contribution(TaskIndex task, std::size_t resource) const {
    const ProcessorIndex processor = processor_of(task);
    if (processor == kUnassigned) return 0;
    if (resource < inside_begin_) {
        return static_cast<std::size_t>(processor) == resource ? graph_.compute(task) / resources_.speed(processor) : 0;
    }
    double sum = 0;
    for (const TaskGraph::Neighbour& n : graph_.neighbours(task)) {
        const ProcessorIndex other = processor_of(n.task);
        if (other == kUnassigned || other == processor) continue;
        const PairLoad pair = pair_load(processor, other, n);
        if (pair.first == resource || pair.second == resource) sum += pair.seconds;
    }
    return sum;
}

MappingReport evaluate(const TaskGraph& graph, const ResourceGraph& resources, const Mapping& mapping) {
    return evaluate(graph, resources, mapping, communication_steps(graph));
}

MappingReport evaluate(const TaskGraph& graph, const ResourceGraph& resources, const Mapping& mapping, double steps) {
    ZBS_EXPECTS(steps > 0);
    ZBS_EXPECTS(mapping.processor_of.size() == static_cast<std::size_t>(graph.task_count()));
    MappingReport report;
    const auto processors = static_cast<std::size_t>(resources.processor_count());
    const std::vector<std::int32_t> machine_of = number_machines(resources);
    std::vector<double> compute(processors, 0);
    for (TaskIndex t = 0; t < graph.task_count(); ++t) {
        const ProcessorIndex p = mapping.processor_of[static_cast<std::size_t>(t)];
        ZBS_EXPECTS(p >= 0 && p < resources.processor_count());
        compute[static_cast<std::size_t>(p)] += graph.compute(t) / resources.speed(p);
    }
    double sum = 0;
    for (const double seconds : compute) {
        sum += seconds;
        report.occupancy = std::max(report.occupancy, seconds);
    }
    if (sum > 0) report.imbalance = report.occupancy * static_cast<double>(processors) / sum - 1;

    const std::size_t machines = machine_of.empty() ? 0 : static_cast<std::size_t>(machine_of.back()) + 1;
    const auto zones = static_cast<std::size_t>(resources.zone_count());
    std::vector<double> inside(machines, 0);
    std::vector<double> uplink(machines, 0);
    std::vector<double> between(zones * zones, 0);
    const double reference = smallest_delay(resources);
    for (const TaskEdge& edge : graph.edges()) {
        const ProcessorIndex p = mapping.processor_of[static_cast<std::size_t>(edge.u)];
        const ProcessorIndex q = mapping.processor_of[static_cast<std::size_t>(edge.v)];
        if (p == q) continue;
        const Link& link = resources.link(p, q);
        const double seconds = link_seconds(link, edge.bytes, edge.messages, steps);
        report.cost += edge.bytes * (reference > 0 ? std::max(1.0, link.delay_s / reference) : 1.0);
        const auto a = static_cast<std::size_t>(resources.place(p).zone);
        const auto b = static_cast<std::size_t>(resources.place(q).zone);
        const auto m = static_cast<std::size_t>(machine_of[static_cast<std::size_t>(p)]);
        const auto n = static_cast<std::size_t>(machine_of[static_cast<std::size_t>(q)]);
        if (a != b) {
            between[std::min(a, b) * zones + std::max(a, b)] += seconds;
            report.inter_zone_bytes += edge.bytes;
        } else if (m == n) {
            inside[m] += seconds;
        } else {
            uplink[m] += seconds;
            uplink[n] += seconds;
        }
    }
    for (const std::vector<double>* links : {&inside, &uplink, &between}) {
        for (const double seconds : *links) report.occupancy = std::max(report.occupancy, seconds);
    }
    return report;
}

}  // namespace zbs
