#include "client/cli/simulation/schedule_codec.hpp"

#include <algorithm>
#include <utility>

#include "client/cli/context.hpp"
#include "client/cli/simulation/workload_changes.hpp"
#include "services/common/codec/json/document_text.hpp"

namespace zbs::cli {
namespace {

/// Of no job nothing is known.
void add_jobs(OrderedJson& out, const JobMetrics& jobs) {
    const auto json_of = [&](const Distribution& d) {
        const auto known = [&](double value) { return jobs.jobs > 0 ? OrderedJson(value) : OrderedJson(); };
        return OrderedJson{
            {"mean", known(d.mean)}, {"median", known(d.median)}, {"p95", known(d.p95)}, {"max", known(d.max)}};
    };
    out["wait_s"] = json_of(jobs.wait_s);
    out["response_s"] = json_of(jobs.response_s);
    out["slowdown"] = json_of(jobs.slowdown);
    out["bounded_slowdown"] = json_of(jobs.bounded_slowdown);
}

OrderedJson json_of(const std::vector<ClassMetrics>& classes) {
    OrderedJson out = OrderedJson::array();
    for (const ClassMetrics& found : classes) {
        OrderedJson item = {
            {"class", found.name}, {"jobs", found.jobs.jobs}, {"processor_seconds", found.jobs.processor_seconds}};
        add_jobs(item, found.jobs);
        out.push_back(std::move(item));
    }
    return out;
}

OrderedJson json_of(const TurnMetrics& turns, std::uint64_t resizes) {
    return {{"effective_utilization", turns.effective_utilization},
            {"switching", turns.switching},
            {"resizing", turns.resizing},
            {"fragmentation", turns.fragmentation},
            {"accumulated_efficiency", turns.accumulated_efficiency},
            {"resizes", resizes}};
}

}  // namespace

OrderedJson encode(const RunSettings& settings) {
    const WorkloadSource& source = settings.source;
    const auto or_default = [](const std::string& given, const char* otherwise) {
        return given.empty() ? std::string(otherwise) : given;
    };
    OrderedJson out = OrderedJson::object();
    if (!source.generate.empty()) {
        out["generate"] = source.generate;
        if (!source.parameters.empty()) out["params"] = source.parameters;
    } else {
        if (source.sacct.empty()) {
            out["trace"] = source.trace;
        } else {
            out["sacct"] = source.sacct;
            out["slurm_conf"] = source.slurm_conf;
        }
        out["size"] = or_default(source.size, "requested");
        out["estimates"] = or_default(source.estimates, "kill");
        out["zero_runtime"] = or_default(source.zero_runtime, "drop");
        out["drop"] = source.drop;
        out["refuse"] = source.refuse;
        out["lenient"] = source.lenient;
        out["renumber"] = source.renumber;
        out["shift"] = source.shift;
    }
    if (source.processors > 0) out["processors"] = source.processors;
    if (!source.flexibility.empty()) out["flexibility"] = source.flexibility;
    if (!source.where.empty()) out["where"] = source.where;
    if (source.estimate_factor) out["estimate_factor"] = *source.estimate_factor;
    if (source.load) out["load"] = *source.load;
    if (!settings.window.empty()) out["window"] = settings.window;
    out["seed"] = source.seed;
    out["rules"] = settings.rules;
    out["tau_s"] = settings.tau_s;
    if (settings.slice_s) {
        out["slice_s"] = *settings.slice_s;
        out["memory_bytes"] = settings.memory_bytes;
    }
    if (!settings.allocator.empty()) {
        out["allocator"] = settings.allocator;
        out["without_place"] = settings.without_place;
    }
    if (!settings.coscheduling.empty()) out["coscheduling"] = settings.coscheduling;
    return out;
}

OrderedJson encode(const ScheduleSettings& settings, const LoadedWorkload& loaded, const SimulatedSchedule& schedule) {
    OrderedJson out = {{"policy", schedule.policy},
                       {"trace", loaded.name},
                       {"processors", schedule.processors},
                       {"jobs", schedule.metrics.all.jobs},
                       {"makespan_s", schedule.metrics.makespan_s},
                       {"utilization", schedule.metrics.utilization}};
    add_jobs(out, schedule.metrics.all);
    out["seconds"] = schedule.seconds;
    out["jobs_per_second"] = jobs_per_second(schedule);
    if (!settings.with_details) return out;
    out["program"] = kProgramVersion;
    out["settings"] = settings.all;
    out["rules"] = settings.rules;
    out["tau_s"] = settings.tau_s;
    out["preemptions"] = schedule.interruptions.size();
    if (schedule.turns) out["turns"] = json_of(*schedule.turns, schedule.resizes);
    if (!settings.coscheduling.empty()) out["coscheduling"] = settings.coscheduling;
    if (!settings.allocator.empty()) {
        out["allocator"] = settings.allocator;
        out["refused_starts"] = schedule.refused_starts;
    }
    if (settings.has_seed) out["seed"] = settings.seed;
    out["flexible_jobs"] = flexible_jobs(loaded.workload);
    out["read_seconds"] = loaded.read_s;
    out["parse_seconds"] = loaded.parse_s;
    OrderedJson assumed = {{"no_priority", settings.without_priority}, {"no_memory", settings.without_memory}};
    if (loaded.trace) {
        OrderedJson dropped = OrderedJson::object();
        for (std::size_t i = 0; i < formats::kSwfDrops; ++i)
            dropped[std::string(to_string(static_cast<formats::SwfDrop>(i)))] = loaded.cleaned.dropped[i];
        for (std::size_t i = 0; i < formats::kSwfAssumptions; ++i)
            assumed[std::string(to_string(static_cast<formats::SwfAssumption>(i)))] = loaded.cleaned.assumed[i].count;
        out["skipped_lines"] = loaded.trace->skipped_lines;
        out["wide_lines"] = loaded.trace->wide_lines.count;
        out["label_lines"] = loaded.trace->label_lines.count;
        out["dropped"] = std::move(dropped);
        out["cut_at_estimate"] = loaded.cleaned.cut_at_estimate;
        out["out_of_order"] = loaded.cleaned.out_of_order;
    }
    out["assumptions"] = std::move(assumed);
    const Duration tau = seconds_to_duration(settings.tau_s);
    out["by_size"] = json_of(classes_by_size(loaded.workload, schedule, tau));
    out["by_runtime"] = json_of(classes_by_runtime(loaded.workload, schedule, tau));
    return out;
}

OrderedJson encode_document(std::vector<OrderedJson> schedules, bool is_comparison) {
    OrderedJson document = {{"version", codec::kDocumentVersion}};
    document.update(is_comparison ? OrderedJson{{"schedules", std::move(schedules)}} : std::move(schedules.front()));
    return document;
}

std::string dump(const OrderedJson& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); }

double jobs_per_second(const SimulatedSchedule& schedule) {
    return schedule.policy == kRecorded ? 0 : static_cast<double>(schedule.jobs) / std::max(schedule.seconds, 1e-9);
}

}  // namespace zbs::cli
