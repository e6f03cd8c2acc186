#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "algorithms/base/text.hpp"
#include "algorithms/formats/svg.hpp"
#include "algorithms/formats/trace_log.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/sim/generators.hpp"
#include "algorithms/sim/replay.hpp"
#include "client/cli/context.hpp"
#include "client/cli/document_codec.hpp"
#include "client/cli/input.hpp"
#include "client/cli/mapping/map_input.hpp"
#include "client/cli/output_file.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

struct ReplayCommand : ReplaySettings {
    std::string gantt, save_trace, save_model;
};

Result<Trace> make_trace(ReplayCommand& options) {
    if (!options.traces.empty()) return read_traces(options.traces);
    if (options.generate == "transport") {
        if (options.parameters.empty()) return invalid("--generate transport needs its parameter file", "--params");
        const Result<std::string> text = read_all(options.parameters);
        if (!text) return text.error();
        Result<TransportKernel> kernel = parse_transport_parameters(*text, options.parameters);
        if (!kernel) return kernel.error();
        kernel->interleaved = options.interleaved;
        kernel->seconds_per_turn = options.seconds_per_turn;
        return transport_trace(*kernel);
    }
    options.random.seed = options.seed;
    const Result<RandomProgram> program = make_random_program(options.random);
    if (!program) return program.error();
    return random_trace(*program);
}

Result<Mapping> make_mapping(const ReplayCommand& options, const Trace& trace, const ResourceGraph& resources) {
    if (!options.mapping.empty()) {
        Result<std::vector<ProcessorIndex>> processors =
            read_mapping(options.mapping, trace.rank_count(), resources.processor_count(), &resources);
        if (!processors) return processors.error();
        return Mapping{*std::move(processors)};
    }
    const Mapper* mapper = find_mapper(options.algorithm);
    if (mapper == nullptr)
        return invalid("'" + options.algorithm + "' is no mapping algorithm; known are " + joined(mapper_names(), " "),
                       "--algorithm");
    return mapper->map(task_graph_of(trace), resources,
                       {.seed = options.seed, .max_tasks_per_processor = options.tasks_per_processor});
}

/// Fills a canvas while the run is replayed.
class GanttObserver final : public ReplayObserver {
  public:
    explicit GanttObserver(formats::GanttCanvas& canvas) : canvas_(canvas) {}
    void computed(std::int32_t rank, double begin_s, double end_s) override {
        canvas_.add(rank, begin_s, end_s, formats::GanttCanvas::Activity::kCompute);
    }
    void blocked(std::int32_t rank, double begin_s, double end_s) override {
        canvas_.add(rank, begin_s, end_s, formats::GanttCanvas::Activity::kBlocked);
    }

  private:
    formats::GanttCanvas& canvas_;
};

/// Replays once more: only now is the length of the time axis known.
Result<void> draw_gantt(const std::string& path, const Trace& trace, const ResourceGraph& resources,
                        const Mapping& mapping, double run_time_s) {
    formats::GanttCanvas canvas(trace.rank_count(), std::max(run_time_s, 1e-12));
    GanttObserver observer(canvas);
    if (auto again = replay(trace, resources, mapping, &observer); !again) return again.error();
    const std::string name = trace.program.empty() ? std::string("run") : trace.program;
    return write_file(path, canvas.svg(name.substr(name.find_last_of('/') + 1)));
}

std::vector<LinkRow> link_rows(const ReplayReport& report, const ResourceGraph& resources) {
    std::vector<LinkRow> rows = {LinkRow{"same processor", report.same_processor},
                                 LinkRow{"within machines", report.within_machine},
                                 LinkRow{"within zones", report.within_zone}};
    const auto zones = static_cast<std::size_t>(resources.zone_count());
    for (std::size_t a = 0; a < zones; ++a) {
        for (std::size_t b = a + 1; b < zones; ++b) {
            const LinkTraffic& traffic = report.between_zones[a * zones + b];
            if (traffic.messages > 0)
                rows.push_back({resources.zones()[a].name + " - " + resources.zones()[b].name, traffic});
        }
    }
    return rows;
}

std::string milliseconds(double seconds) { return formats::short_number(seconds * 1e3, 6); }

void print_report(Context& context, const ReplaySettings& settings, const Trace& trace, const ReplayReport& report,
                  const ResourceGraph& resources, const Mapping& mapping) {
    Listing listing{"ranks", {"RANK", "ZONE", "MACHINE", "COMPUTE_MS", "BLOCKED_MS", "IDLE_MS", "END_MS"}};
    for (std::size_t r = 0; r < report.ranks.size(); ++r) {
        const RankTimes& times = report.ranks[r];
        const ProcessorPlace& place = resources.place(mapping.processor_of[r]);
        const Zone& zone = resources.zones()[static_cast<std::size_t>(place.zone)];
        const std::string& machine = zone.machines[static_cast<std::size_t>(place.machine)].name;
        const double idle_s = report.run_time_s - times.end_s;
        listing.rows.push_back({std::to_string(r), zone.name, machine, milliseconds(times.compute_s),
                                milliseconds(times.blocked_s), milliseconds(idle_s), milliseconds(times.end_s)});
        listing.items.push_back(encode_times(r, times, idle_s, zone, place));
    }
    const std::vector<LinkRow> links = link_rows(report, resources);
    if (context.output == "json")
        return print_document(context, encode_replay(settings, report, links, listing.items, trace.unseen));
    if (context.for_people()) {
        std::cout << "run time   " << formats::short_number(report.run_time_s, 6) << " s"
                  << (report.complete        ? ""
                      : trace.unseen.empty() ? " (the trace was cut short)"
                                             : " (the trace is not complete)")
                  << "\nevents     " << report.events << "\n";
        if (!trace.unseen.empty()) std::cout << "missing    messages of " << unseen_text(trace.unseen) << "\n";
        for (const LinkRow& row : links) {
            if (row.traffic.messages > 0)
                std::cout << printable(row.name) << ": "
                          << counted(static_cast<std::uint64_t>(row.traffic.messages), "message") << ", "
                          << human_bytes(row.traffic.bytes) << "\n";
        }
        if (report.unreceived_messages > 0)
            std::cout << counted(static_cast<std::uint64_t>(report.unreceived_messages), "message")
                      << (report.unreceived_messages == 1 ? " was" : " were") << " never received\n";
        std::cout << "\n";
    }
    print(context, listing);
}

void replay_trace(Context& context, ReplayCommand& options) {
    const bool only_saves = options.resources.empty();
    if (only_saves && options.save_trace.empty() && options.save_model.empty())
        return context.fail(invalid("a replay needs the machines: give a resources file", "--resources"));
    std::vector<NamedFile> inputs = {
        {"--params", options.parameters}, {"--resources", options.resources}, {"--mapping", options.mapping}};
    for (const std::string& path : options.traces) inputs.push_back({"--trace", path});
    if (auto good = check_outputs(
            {{"--save-trace", options.save_trace}, {"--save-model", options.save_model}, {"--gantt", options.gantt}},
            inputs);
        !good)
        return context.fail(good.error());
    const Result<Trace> trace = make_trace(options);
    if (!trace) return context.fail(trace.error());
    if (!options.save_trace.empty()) {
        if (auto ok = write_file(options.save_trace, formats::write_trace(*trace)); !ok)
            return context.fail(ok.error());
    }
    if (!options.save_model.empty()) {
        const ApplicationModel model{trace->program, trace->complete, task_graph_of(*trace), trace->unseen};
        if (auto ok = write_file(options.save_model, codec::dump(codec::encode(model)) + "\n"); !ok)
            return context.fail(ok.error());
    }
    if (only_saves) return;
    const Result<ResourceGraph> resources = read_resources(options.resources);
    if (!resources) return context.fail(resources.error());
    const Result<Mapping> mapping = make_mapping(options, *trace, *resources);
    if (!mapping) return context.fail(mapping.error());
    const Result<ReplayReport> report = replay(*trace, *resources, *mapping);
    if (!report) return context.fail(report.error());
    if (!options.gantt.empty()) {
        if (auto ok = draw_gantt(options.gantt, *trace, *resources, *mapping, report->run_time_s); !ok)
            return context.fail(ok.error());
    }
    print_report(context, options, *trace, *report, *resources, *mapping);
}

}  // namespace

void add_replay_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<ReplayCommand>();
    CLI::App* command = app.add_subcommand(
        "replay",
        "predict the run time of a traced run on any machines, offline\n\nReplays an execution trace (computing, "
        "sends, receives) under a mapping. Traces are text files (zbs-trace/1, .gz too), the files that the profiler "
        "wrote for each rank, or generated.\n\nExample: zbs replay --trace run.trace.* --resources zones.json "
        "--mapping mapping.json --gantt run.svg");
    auto* trace = command->add_option("--trace", options->traces, "a trace, or the trace files of all ranks of a run");
    command->add_option("--generate", options->generate, "transport (the test kernel) or random")
        ->check(command_line::one_of({"transport", "random"}))
        ->excludes(trace);
    command->add_option("--params", options->parameters, "transport: parameter file");
    command->add_flag("--interleaved", options->interleaved, "transport: deal ranks to teams in turn, not in blocks");
    command->add_option("--seconds-per-turn", options->seconds_per_turn, "transport: seconds of a turn of its loop")
        ->check(command_line::number_in(0.0, 1.0))
        ->capture_default_str();
    command->add_option("--ranks", options->random.ranks, "random: processes")->capture_default_str();
    command->add_option("--clusters", options->random.clusters, "random: clusters of processes")->capture_default_str();
    command->add_option("--every", options->random.every, "random: only every n-th message between clusters is sent")
        ->capture_default_str();
    command->add_option("--bytes", options->random.bytes, "random: size of a message")->capture_default_str();
    command->add_option("--lines", options->random.lines, "random: messages drawn")->capture_default_str();
    command->add_option("--compute", options->random.compute_s, "random: seconds of computing before a send or receive")
        ->capture_default_str();
    command->add_option("--resources", options->resources, "resources file (zbs-resources/1)");
    auto* mapping = command->add_option("--mapping", options->mapping,
                                        "mapping file, as zbs map makes it, or one processor index per line");
    const std::vector<std::string_view> algorithms = mapper_names();
    command_line::offer(
        command->add_option("--algorithm", options->algorithm, "without --mapping: maps the trace's own model with it")
            ->capture_default_str()
            ->excludes(mapping),
        {.words = {algorithms.begin(), algorithms.end()}});
    command
        ->add_option("--tasks-per-processor", options->tasks_per_processor,
                     "without --mapping: at most this many tasks on one processor; 0 = any number")
        ->check(command_line::whole_number_in(0, 1'000'000))
        ->capture_default_str();
    command->add_option("--seed", options->seed, "seed of everything that is drawn")
        ->check(command_line::natural_number())
        ->capture_default_str();
    command->add_option("--gantt", options->gantt, "draw what every rank does over time (SVG)");
    command->add_option("--save-trace", options->save_trace, "write the trace in text form");
    command->add_option("--save-model", options->save_model, "write the model of the trace (zbs-model/1)");
    command->callback([&context, options] {
        if (options->traces.empty() && options->generate.empty())
            return context.fail(invalid("nothing to replay: give --trace or --generate", "--trace"));
        replay_trace(context, *options);
    });
}

}  // namespace zbs::cli
