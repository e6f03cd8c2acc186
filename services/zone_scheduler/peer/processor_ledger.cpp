#include "services/zone_scheduler/peer/processor_ledger.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {

ProcessorLedger::ProcessorLedger(Setup setup)
    : setup_(std::move(setup)),
      mapper_(find_mapper(setup_.mapper)),
      elsewhere_(std::vector<bool>(rows() * static_cast<std::size_t>(setup_.zone.processor_count()), false),
                 static_cast<std::size_t>(setup_.zone.processor_count())) {
    ZBS_EXPECTS(mapper_ != nullptr);
    for (std::size_t m = 0; m < setup_.zone.machines.size(); ++m) {
        speed_.push_back(setup_.zone.machines[m].speed);
        range_of_.push_back({row_size(), row_size() + static_cast<std::size_t>(setup_.zone.machines[m].processors)});
        machine_of_.resize(range_of_.back().end, m);
    }
}

std::vector<std::int32_t> ProcessorLedger::processors_of(const std::vector<RankPlace>& assignment,
                                                         const std::vector<std::int32_t>& old) const {
    const std::vector<RankPlace> places = processors_in(assignment);
    if (rows() > 1 || places.size() != old.size()) return old;
    std::vector<std::int32_t> found;
    for (const RankPlace& place : places) {
        const auto machine = std::ranges::find(setup_.zone.machines, place.machine, &Machine::name);
        if (machine == setup_.zone.machines.end() || place.processor < 0 || place.processor >= machine->processors)
            return old;
        const auto m = static_cast<std::size_t>(machine - setup_.zone.machines.begin());
        found.push_back(static_cast<std::int32_t>(range_of_[m].begin) + place.processor);
    }
    return found;
}

Result<void> ProcessorLedger::check(const PartId& part, const std::vector<std::int32_t>& processors,
                                    const std::vector<RankPlace>& assignment) const {
    for (const std::int32_t p : processors) {
        if (p >= 0 && static_cast<std::size_t>(p) < rows() * row_size()) continue;
        return Error{ErrorCode::kConflict,
                     "part " + to_string(part) + " in the database holds processor " + std::to_string(p) +
                         ", which the configured machines do not have; restore the machines of the "
                         "configuration until it has ended",
                     {}};
    }
    if (rows() == 1 || processors.empty() || fits(processors, assignment)) return {};
    return Error{ErrorCode::kConflict,
                 "part " + to_string(part) +
                     " in the database lies in a slice matrix of other machines or "
                     "slots; restore those of the configuration until it has ended",
                 {}};
}

/// These processors, which there are, are those that the assignment names, in whatever row.
bool ProcessorLedger::fits(const std::vector<std::int32_t>& processors,
                           const std::vector<RankPlace>& assignment) const {
    const std::vector<RankPlace> places = processors_in(assignment);
    if (places.size() != processors.size()) return false;
    for (std::size_t i = 0; i < processors.size(); ++i) {
        const std::size_t p = static_cast<std::size_t>(processors[i]) % row_size(), m = machine_of_[p];
        if (setup_.zone.machines[m].name != places[i].machine ||
            std::cmp_not_equal(p - range_of_[m].begin, places[i].processor))
            return false;
    }
    return true;
}

/// Without the numbers that no processor has, as after machines are gone.
ProcessorSet ProcessorLedger::set_of(const std::vector<std::int32_t>& processors) const {
    ProcessorSet set(std::vector<bool>(rows() * row_size(), false), row_size());
    for (const std::int32_t p : processors)
        if (p >= 0 && std::cmp_less(p, rows() * row_size())) set.insert(static_cast<std::size_t>(p));
    return set;
}

std::vector<ProcessorLedger::FaultChange> ProcessorLedger::record_use(const std::vector<MachineUse>& seen,
                                                                      const std::vector<std::int32_t>& ours) {
    const ProcessorSet own = set_of(ours).in_any_row();
    std::map<std::string, std::size_t> number;
    for (std::size_t m = 0; m < range_of_.size(); ++m) number[setup_.zone.machines[m].name] = m;
    std::vector<FaultChange> changes;
    for (const MachineUse& use : seen) {
        const auto m = number.find(use.machine);
        if (m == number.end()) continue;
        if (is_out_of_order(use.machine) != !use.fault.empty()) changes.push_back({use.machine, use.fault});
        record_use(m->second, use, own);
    }
    return changes;
}

void ProcessorLedger::record_use(std::size_t m, const MachineUse& use, const ProcessorSet& ours) {
    const Machine& machine = setup_.zone.machines[m];
    speed_[m] = machine.speed * use.speed;
    if (!use.host.empty()) hosts_[use.machine] = use.host;
    faults_.erase(use.machine);
    if (!use.fault.empty()) faults_[use.machine] = use.fault;
    int others = machine.processors;
    if (use.fault.empty()) others = use.allocated - static_cast<int>(ours.count(0, range_of_[m]));
    for (std::size_t p = range_of_[m].end; p-- > range_of_[m].begin;) {
        const bool taken = others > 0 && (!ours.contains(p) || !use.fault.empty());
        for (std::size_t at = p; at < rows() * row_size(); at += row_size())
            taken ? elsewhere_.insert(at) : elsewhere_.remove(at);
        others -= taken;
    }
}

bool ProcessorLedger::may_share_a_host(const std::vector<MachineName>& machines) const {
    std::set<std::string> hosts;
    return !std::ranges::all_of(machines, [&](const MachineName& machine) {
        const auto known = hosts_.find(machine);
        return hosts.insert(known == hosts_.end() ? std::string{} : known->second).second;
    });
}

/// Of these machines what is the zone's to give, and not `taken`.
ProcessorSet ProcessorLedger::given_on(const std::vector<bool>& machines, std::vector<bool> taken) const {
    for (std::size_t row = 0; row < taken.size(); row += row_size())
        for (std::size_t p = 0; p < row_size(); ++p)
            taken[row + p] = machines[machine_of_[p]] && !taken[row + p] && !elsewhere_.contains(row + p);
    return {std::move(taken), row_size()};
}

ProcessorSet ProcessorLedger::processors_on(const std::vector<bool>& machines) const {
    return given_on(machines, std::vector<bool>(rows() * row_size(), false));
}

ProcessorSet ProcessorLedger::free_on(const std::vector<bool>& machines, const Promised& promised) const {
    return given_on(machines, promised.calendar.busy(promised.when, promised.without, promised.by_estimate));
}

ProcessorSet ProcessorLedger::promised_in(const Promised& promised) const {
    return {promised.calendar.busy(promised.when, promised.without, promised.by_estimate), row_size()};
}

ProcessorSet ProcessorLedger::promised_at(const ProcessorCalendar& calendar, Duration now) const {
    return {calendar.busy({now, now + Duration{1}}), row_size()};
}

/// Machines with most of these processors of a row first; so many of them as one part may lie on.
std::vector<ProcessorLedger::Room> ProcessorLedger::most_room(const ProcessorSet& usable, std::size_t row,
                                                              int max_machines) const {
    std::vector<Room> machines;
    for (std::size_t m = 0; m < range_of_.size(); ++m)
        machines.push_back({static_cast<int>(usable.count(row, range_of_[m])), m});
    std::ranges::stable_sort(machines, std::ranges::greater{}, &Room::processors);
    if (max_machines > 0) machines.resize(std::min(machines.size(), static_cast<std::size_t>(max_machines)));
    return machines;
}

/// Of the rows in which `usable` has room for so many the fullest one: the fewer rows are in use, the longer each one's
/// slices [DaSilva2000, section 6.3].
std::optional<std::size_t> ProcessorLedger::fullest_row(const ProcessorSet& usable, std::size_t processors) const {
    std::optional<std::size_t> fullest;
    for (std::size_t r = 0; r < rows(); ++r)
        if (usable.count(r) >= processors && (!fullest || usable.count(r) < usable.count(*fullest))) fullest = r;
    return fullest;
}

/// Per cent: most that parts have at an instant of the interval, all together.
int ProcessorLedger::given_shares(const Promised& promised) const {
    std::map<Duration, int> change;
    for (const auto& [id, promise] : promised.calendar.promises()) {
        const ProcessorCalendar::Interval taken = promise.taken(promised.by_estimate);
        if (promise.processors.empty() || promised.without.contains(id) || !taken.meets(promised.when)) continue;
        change[std::max(taken.begin, promised.when.begin)] += promised.share_of(id);
        change[taken.end] -= promised.share_of(id);
    }
    int given = 0, most = 0;
    for (const auto& [at, by] : change) most = std::max(most, given += by);
    return most;
}

/// By row: what a part that is put there has of its processors' speed, above 0 to 1; 0 where it would be too much.
std::vector<double> ProcessorLedger::row_speeds(const Promised& promised, int share) const {
    std::vector<double> speeds(rows(), 1);
    if (rows() == 1) return speeds;
    if (promised.share_of) {
        const int all = given_shares(promised) + share;
        speeds.assign(rows(), all > 100 ? 0 : static_cast<double>(share) / all);
        return speeds;
    }
    // By promises only: a machine that is out of order slows no other.
    const ProcessorSet used = promised_in(promised);
    int in_use = 0;
    for (std::size_t r = 0; r < rows(); ++r) in_use += used.count(r) > 0;
    for (std::size_t r = 0; r < rows(); ++r) speeds[r] = 1.0 / (in_use + (used.count(r) == 0));
    return speeds;
}

StartWindow ProcessorLedger::count_free(const ProcessorSet& usable, const Promised& promised,
                                        const Limits& limits) const {
    StartWindow best;
    const std::vector<double> speeds = row_speeds(promised, limits.share);
    for (std::size_t r = 0; r < rows(); ++r) {
        if (speeds[r] <= 0) continue;
        const StartWindow window = count_free_in_row(usable, r, speeds[r], limits);
        if (window.processors > best.processors || (window.processors == best.processors && r == 0)) best = window;
    }
    return best;
}

/// All that is known of one row, of whose processors a part would have `speed_left` of their speed.
StartWindow ProcessorLedger::count_free_in_row(const ProcessorSet& usable, std::size_t row, double speed_left,
                                               const Limits& limits) const {
    StartWindow window;
    double squares = 0;
    for (const auto& [free, m] : most_room(usable, row, limits.max_machines)) {
        const int counted = std::min(free, limits.processors - window.processors);
        const double speed = speed_[m] * speed_left;
        window.processors += counted;
        window.speed_sum += counted * speed;
        squares += counted * speed * speed;
        window.largest_machine = std::max(window.largest_machine, counted);
    }
    if (window.processors > 0) {
        window.speed_mean = window.speed_sum / window.processors;
        window.speed_variance = std::max(0.0, squares / window.processors - window.speed_mean * window.speed_mean);
    }
    return window;
}

Result<void> ProcessorLedger::check_share(const Promised& promised, int share) const {
    const int left = promised.share_of ? 100 - given_shares(promised) : 100;
    if (share <= left) return {};
    return Error{ErrorCode::kRejected,
                 "a share of " + std::to_string(share) + " % wanted, " + std::to_string(std::max(0, left)) + " % left",
                 {}};
}

Result<ProcessorLedger::Placement> ProcessorLedger::place(const PartRequest& request, const ProcessorSet& usable,
                                                          const PlaceOptions& options) const {
    if (options.in_slots) return place_in_slots(request, usable, options);
    if (options.beside_fewest) return place_beside_fewest(request, usable, options);
    return place_in_row(request, usable,
                        fullest_row(usable, static_cast<std::size_t>(zbs::processors_of(request))).value_or(0),
                        options);
}

/// As on one row; then each processor gets the number that it has in the slots.
Result<ProcessorLedger::Placement> ProcessorLedger::place_in_slots(const PartRequest& request,
                                                                   const ProcessorSet& usable,
                                                                   const PlaceOptions& options) const {
    ProcessorSet first(std::vector<bool>(rows() * row_size(), false), row_size());
    for (std::size_t p = 0; p < rows() * row_size(); ++p)
        if (usable.contains(p)) first.insert(p % row_size());
    Result<Placement> placement = place_in_row(request, first, 0, options);
    if (!placement) return placement;
    for (std::int32_t& processor : placement->processors) {
        auto p = static_cast<std::size_t>(processor);
        while (!usable.contains(p)) p += row_size();
        processor = static_cast<std::int32_t>(p);
    }
    return placement;
}

/// On processors that as few others have as can be: the lowest level with enough of them [Turner1995, section 6.4].
Result<ProcessorLedger::Placement> ProcessorLedger::place_beside_fewest(const PartRequest& request,
                                                                        const ProcessorSet& usable,
                                                                        const PlaceOptions& options) const {
    const auto wanted = static_cast<std::size_t>(zbs::processors_of(request));
    std::vector<std::size_t> others(row_size(), 0);
    for (std::size_t p = 0; p < rows() * row_size(); ++p) others[p % row_size()] += !usable.contains(p);
    for (std::size_t level = 0; level < rows(); ++level) {
        ProcessorSet here = usable;
        for (std::size_t p = 0; p < rows() * row_size(); ++p)
            if (others[p % row_size()] > level) here.remove(p);
        if (const std::optional<std::size_t> row = fullest_row(here, wanted))
            return place_in_row(request, here, *row, options);
    }
    return place_in_row(request, usable, 0, options);
}

/// The usable processors of a row as a zone of their own, and the part mapped onto it.
Result<ProcessorLedger::Placement> ProcessorLedger::place_in_row(const PartRequest& request, const ProcessorSet& usable,
                                                                 std::size_t row, const PlaceOptions& options) const {
    Zone free_zone{setup_.zone.name, {}, setup_.zone.within_machine, options.within_zone};
    std::vector<std::size_t> number;  // within the row; leads back to ours
    std::vector<Room> machines = most_room(usable, row, options.max_machines);
    const int wanted = zbs::processors_of(request);
    if (request.overcommit > 1) {  // else the mapper would spread the ranks
        int left = wanted;
        for (Room& room : machines) left -= room.processors = std::min(room.processors, left);
    }
    std::ranges::sort(machines, {}, &Room::machine);
    for (const auto& [free, m] : machines) {
        if (free == 0) continue;
        free_zone.machines.push_back({setup_.zone.machines[m].name, free, speed_[m]});
        const std::size_t end = number.size() + static_cast<std::size_t>(free);
        for (std::size_t p = range_of_[m].begin; p < range_of_[m].end && number.size() < end; ++p)
            if (usable.contains(row * row_size() + p)) number.push_back(p);
    }
    if (std::cmp_less(number.size(), wanted))
        return Error{ErrorCode::kRejected,
                     std::to_string(wanted) + " processors wanted, " + std::to_string(number.size()) + " free",
                     {}};
    const Result<ResourceGraph> resources = ResourceGraph::make({std::move(free_zone)}, {});
    ZBS_EXPECTS(resources.has_value());
    const Result<Mapping> mapping = mapper_->map(
        request.graph, *resources, MapOptions{.seed = request.seed, .max_tasks_per_processor = request.overcommit});
    if (!mapping) return mapping.error();
    Placement placement;
    std::vector<bool> has_one(number.size(), false);
    for (std::size_t task = 0; task < request.ranks.size(); ++task) {
        const auto on = static_cast<std::size_t>(mapping->processor_of[task]);
        const std::size_t p = number[on], m = machine_of_[p];
        if (!has_one[on]) placement.processors.push_back(static_cast<std::int32_t>(row * row_size() + p));
        has_one[on] = true;
        placement.assignment.push_back({request.ranks[task], MachineName(setup_.zone.machines[m].name),
                                        static_cast<std::int32_t>(p - range_of_[m].begin)});
    }
    return placement;
}

int ProcessorLedger::free_processors(const ProcessorCalendar& calendar, Duration now) const {
    const ProcessorSet taken = promised_at(calendar, now);
    std::size_t most = 0;
    for (std::size_t r = 0; r < rows(); ++r) most = std::max(most, row_size() - taken.count(r));
    return static_cast<int>(most);
}

std::vector<ProcessorLedger::NodeView> ProcessorLedger::nodes(const ProcessorCalendar& calendar, Duration now) const {
    const ProcessorSet taken = promised_at(calendar, now).in_any_row();
    std::vector<NodeView> views;
    for (std::size_t m = 0; m < range_of_.size(); ++m)
        views.push_back({setup_.zone.machines[m], static_cast<int>(taken.count(0, range_of_[m]))});
    return views;
}

ProcessorLedger::Use ProcessorLedger::use(const ProcessorCalendar& calendar, Duration now,
                                          const std::vector<std::int32_t>& running) const {
    const ProcessorSet used = set_of(running).in_any_row(), held = promised_at(calendar, now).in_any_row();
    Use use;
    for (std::size_t p = 0; p < row_size(); ++p)
        ++(used.contains(p)         ? use.used
           : held.contains(p)       ? use.held
           : elsewhere_.contains(p) ? use.unavailable
                                    : use.free);
    return use;
}

}  // namespace zbs
