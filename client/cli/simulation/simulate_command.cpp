#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <unordered_map>

#include "algorithms/allocation/registry.hpp"
#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/formats/svg.hpp"
#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "client/cli/context.hpp"
#include "client/cli/input.hpp"
#include "client/cli/output_file.hpp"
#include "client/cli/simulation/schedule_codec.hpp"
#include "client/cli/simulation/simulate_input.hpp"
#include "client/cli/simulation/simulate_options.hpp"
#include "client/cli/simulation/simulate_output.hpp"
#include "client/cli/simulation/workload_changes.hpp"
#include "client/cli/simulation/workload_stream.hpp"
#include "services/common/adapters/command_line/values.hpp"

namespace zbs::cli {
namespace {

struct NamedPolicy {
    std::string label;
    NamedOptions named;
};

constexpr std::string_view kPlaceholder = "{policy}";

/// `path` with the policy in its place; a label becomes a part of a file name.
std::string path_of(const std::string& path, const std::string& label) {
    std::string name;
    for (const char c : label) name += c == '/' || static_cast<unsigned char>(c) < ' ' ? '_' : c;
    std::string out = path;
    for (std::size_t at = 0; (at = out.find(kPlaceholder, at)) != std::string::npos; at += name.size())
        out.replace(at, kPlaceholder.size(), name);
    return out;
}

bool is_recorded(const NamedPolicy& policy) { return policy.named.name == kRecorded; }

/// The policies to run, of --policy or --compare, `recorded` among them; none where the workload is exported only.
Result<std::vector<NamedPolicy>> policies_of(const SimulateCommand& command) {
    std::vector<NamedPolicy> found;
    if (!command.policy.empty() && !command.compare.empty())
        return invalid("one policy is run with --policy, several with --compare; not both");
    if (!command.compare.empty()) {
        if (!command.options.empty())
            return invalid("belongs to --policy; with --compare write options behind the name: easy:order=estimate",
                           "--option");
        for (const std::string_view part : split(command.compare, ',')) {
            const std::string text(part);
            Result<NamedOptions> named = parse_named_options(text, ':', "--compare");
            if (!named) return named.error();
            for (const NamedPolicy& other : found)
                if (other.label == text) return invalid("names '" + text + "' twice", "--compare");
            found.push_back({text, *std::move(named)});
        }
    } else if (!command.policy.empty()) {
        Result<NamedOptions> named = parse_named_options(command.policy, ':', "--policy");
        if (!named) return named.error();
        std::string label = command.policy;
        for (const std::string& text : command.options) {
            Result<std::pair<std::string, std::string>> assignment = parse_assignment(text, "--option");
            if (!assignment) return assignment.error();
            label += ":" + text;
            named->options.push_back(*std::move(assignment));
        }
        found.push_back({label, *std::move(named)});
    } else if (!command.options.empty()) {
        return invalid("belongs to a policy: name it with --policy", "--option");
    }
    // Bad names and options come to light before a large log is read.
    for (const NamedPolicy& policy : found) {
        if (is_recorded(policy) && policy.named.options.empty()) continue;
        if (const auto made = make_policy(policy.named.name, policy.named.options); !made) {
            Error fault = made.error();
            fault.pointer = command.compare.empty() ? "--policy" : "--compare";
            return fault;
        }
    }
    return found;
}

/// The schedule of the log is not made here, so that some of what is asked about schedules cannot be answered.
Result<void> check_recorded(const SimulateCommand& command, const std::vector<NamedPolicy>& policies) {
    if (std::ranges::none_of(policies, is_recorded)) return {};
    const std::string recorded(kRecorded);
    if (!command.source.generate.empty())
        return invalid("is the schedule that a log recorded, but the jobs come from --generate", recorded);
    if (command.source.load)
        return invalid("is the schedule of the submissions in the log; leave --load out", recorded);
    for (const auto& [option, path] : {std::pair{"--gantt", &command.gantt}, {"--events", &command.events}})
        if (!path->empty())
            return invalid(
                "the log does not say which processors jobs had, and may have more in use than it counts; "
                "leave 'recorded' out, or take --schedule",
                option);
    return {};
}

Result<void> check_files(const SimulateCommand& command, const std::vector<NamedPolicy>& policies) {
    const std::size_t policy_count = policies.size();
    const std::vector<OutputFile> files = command.files();
    // As they will be called, with the policy in its place.
    std::vector<NamedFile> written;
    for (const OutputFile& file : files) {
        for (const NamedPolicy& policy : policies) written.push_back({file.option, path_of(file.path, policy.label)});
        if (policies.empty()) written.push_back({file.option, file.path});
    }
    if (policy_count > 1)
        for (const OutputFile& file : files)
            if (file.path.find(kPlaceholder) == std::string::npos)
                return invalid("writes a file for each policy of --compare: put {policy} into its name", file.option);
    if (auto good = check_outputs(written, {{"--trace", command.source.trace},
                                            {"--from-sacct", command.source.sacct},
                                            {"--slurm-conf", command.source.slurm_conf},
                                            {"--params", command.source.parameters}});
        !good)
        return good;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (policy_count == 0 && files[i].needs_schedule)
            return invalid("needs a schedule: name the policy with --policy", files[i].option);
    }
    if (policy_count == 0 && files.empty())
        return invalid("which policy? name one with --policy or several with --compare; --list-policies shows all");
    if (!(command.tau_s >= 1e-6 && command.tau_s <= 1e9)) return invalid("must be 1e-6 to 1e9 s", "--tau");
    return check_recorded(command, policies);
}

/// Names of all policies of which `claim` holds, for errors.
template <class Claim>
std::string names_of(Claim&& claim) {
    std::string names;
    for (const PolicyInfo& policy : policies())
        if (claim(policy)) names += (names.empty() ? "" : ", ") + std::string(policy.name);
    return names;
}

/// Refuses the slice and the memory of the machine where no policy heeds them, or where one does otherwise.
Result<void> check_slices(const SimulateCommand& command, const std::vector<NamedPolicy>& policies) {
    bool heeded = false;
    const PolicyInfo* otherwise = nullptr;  ///< takes turns, but by slices of its own
    for (const NamedPolicy& policy : policies) {
        const PolicyInfo* const info = find_policy(policy.named.name);
        heeded = heeded || info->takes_slice;
        if (info->takes_turns && !info->takes_slice) otherwise = info;
    }
    for (const auto& [option, given, own] :
         {std::tuple{"--slice", !command.slice.empty(), "sets the length of its slices itself (its option slice)"},
          std::tuple{"--memory", command.memory_bytes >= 0, "does not look at memory"}}) {
        if (!given || (heeded && otherwise == nullptr)) continue;
        const std::string who = names_of([](const PolicyInfo& policy) { return policy.takes_slice; });
        if (otherwise == nullptr)
            return invalid("is for policies whose jobs take turns (" + who + "); none of those is to be run", option);
        return invalid("is for policy " + who + "; " + std::string(otherwise->name) + " " + own, option);
    }
    return {};
}

bool has_shares(const NamedOptions& named) {
    return (*make_policy(named.name, named.options))->sharing() == ZoneState::Sharing::kShare;
}

/// How jobs slow each other down in truth, as --coscheduling says.
Result<CoschedulingModel> coscheduling_of(const std::string& text, const std::vector<NamedPolicy>& policies) {
    if (std::ranges::none_of(policies, [](const NamedPolicy& policy) { return has_shares(policy.named); }))
        return invalid(
            "is for policies whose jobs have shares of processors (" + names_of([](const PolicyInfo& policy) {
                return has_shares({std::string(policy.name), {}});
            }) + "); none of those is to be run",
            "--coscheduling");
    if (text == "application") return CoschedulingModel::by_application();
    std::vector<double> factors;
    for (const std::string_view part : split(text, ',')) {
        const double factor = parse_number<double>(part).value_or(0);
        if (!(factor >= 0.1 && factor <= 100))
            return invalid("holds '" + std::string(part) +
                               "'; write the slowdown of one job, two, three and so on, each 0.1 to 100, as 1,1.2,1.3, "
                               "or application",
                           "--coscheduling");
        factors.push_back(factor);
    }
    return CoschedulingModel::by_count(std::move(factors));
}

/// A line of the Standard Workload Format is a job that has its processors alone, in one piece of time.
Result<void> check_export(const SimulateCommand& command, const std::vector<NamedPolicy>& policies) {
    if (command.export_swf.empty()) return {};
    for (const NamedPolicy& policy : policies) {
        const std::unique_ptr<Policy> made = std::move(*make_policy(policy.named.name, policy.named.options));
        const bool shares = made->sharing() != ZoneState::Sharing::kSpace;
        if (shares || made->needs().stops)
            return invalid("cannot hold the schedule of policy " + policy.named.name + ", whose jobs " +
                               (shares ? "share processors" : "are preempted") +
                               ": the format has one start and one run time a job; take --schedule, --events or "
                               "--export-csv, or leave the policy out to export the jobs alone",
                           "--export-swf");
    }
    return {};
}

/// The machine as the command line says it; refuses what no policy looks at.
Result<SimulationOptions> machine_of(const SimulateCommand& command, const std::vector<NamedPolicy>& policies) {
    SimulationOptions options{.rules = command.rules == "reference" ? EventRules::kReference : EventRules::kBatched};
    if (Result<void> good = check_slices(command, policies); !good) return good.error();
    if (Result<void> good = check_export(command, policies); !good) return good.error();
    if (!command.coscheduling.empty()) {
        Result<CoschedulingModel> truth = coscheduling_of(command.coscheduling, policies);
        if (!truth) return truth.error();
        options.coscheduling = *std::move(truth);
    }
    // A bad name comes to light before a large log is read.
    if (const std::string name = command.allocator.substr(0, command.allocator.find(':'));
        !command.allocator.empty() && find_allocator(name) == nullptr)
        return invalid(make_allocator(name, 1).error().message, "--allocator");
    if (!command.allocator.empty() && policies.empty())
        return invalid("needs a schedule: name the policy with --policy", "--allocator");
    for (const NamedPolicy& policy : policies)
        if (!command.allocator.empty() && find_policy(policy.named.name)->takes_turns)
            return invalid("places jobs that have their processors alone, but policy " + policy.named.name +
                               " lets them take turns",
                           "--allocator");
    if (!command.slice.empty()) {
        const Result<Duration> slice = parse_duration(command.slice);
        if (!slice) return invalid(slice.error().message, "--slice");
        if (*slice <= Duration::zero()) return invalid("must be longer than nothing", "--slice");
        options.slice = *slice;
    }
    if (command.memory_bytes >= 0) options.memory_bytes = command.memory_bytes;
    options.pass_refused = command.without_place == "pass";
    if (options.pass_refused && command.allocator.empty())
        return invalid("is for jobs that an allocator has no place for; name it with --allocator", "--without-place");
    return options;
}

/// The allocator of --allocator for a machine of `processors`; nullptr where there is none.
Result<std::unique_ptr<Allocator>> allocator_of(const SimulateCommand& command, std::int32_t processors) {
    if (command.allocator.empty()) return std::unique_ptr<Allocator>();
    Result<NamedOptions> named = parse_named_options(command.allocator, ':', "--allocator");
    if (!named) return named.error();
    Result<std::unique_ptr<Allocator>> made = make_allocator(named->name, processors, named->options);
    if (made) return made;
    Error fault = made.error();
    fault.pointer = "--allocator";
    return fault;
}

/// On standard error, where that is a terminal, once it takes more than a second.
class ProgressBar {
  public:
    explicit ProgressBar(std::string label) : label_(std::move(label)), shown_(isatty(2) != 0) {}
    ~ProgressBar() {
        if (drawn_) std::cerr << "\r\x1b[K" << std::flush;
    }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    /// `jobs`: how many there are in all, or are expected.
    void update(std::size_t ended, std::size_t jobs) {
        using std::chrono::milliseconds;
        if (!shown_) return;
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + milliseconds{100};
        drawn_ = true;
        constexpr std::size_t kWidth = 40;
        const std::size_t done = jobs <= ended ? kWidth : ended * kWidth / jobs;
        std::cerr << "\r" << printable(label_) << " [" << std::string(done, '#') << std::string(kWidth - done, '.')
                  << "] " << ended << "/" << jobs << " jobs\x1b[K" << std::flush;
    }

  private:
    std::string label_;
    bool shown_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds{1};
};

/// Takes out what began and ended in one instant: a job that was resized before it first ran started on its new size,
/// and one that was stopped again in the instant in which it started or went on did not run in between.
void settle_instants(const Workload& workload, SimulatedSchedule& schedule) {
    std::erase_if(schedule.size_changes, [&](const SizeChange& change) {
        if (change.at > schedule.start[change.job]) return false;
        if (schedule.started_on.empty())
            for (const WorkloadJob& entry : workload.jobs) schedule.started_on.push_back(entry.job.processors);
        schedule.started_on[change.job] = change.processors;
        return true;
    });
    std::unordered_map<std::uint32_t, std::size_t> last;  ///< of each job
    std::vector<Interruption> kept;
    for (const Interruption& pause : schedule.interruptions) {
        const auto [found, first] = last.try_emplace(pause.job, kept.size());
        if (first && pause.stopped == schedule.start[pause.job]) {
            schedule.start[pause.job] = pause.resumed;
            last.erase(found);
        } else if (!first && kept[found->second].resumed == pause.stopped) {
            kept[found->second].resumed = pause.resumed;
        } else {
            found->second = kept.size();
            kept.push_back(pause);
        }
    }
    schedule.interruptions = std::move(kept);
}

constexpr int kLongestLog = 36'600;  ///< days

/// What the metrics are of: --window, two durations from the first submission on, of which one may be left out.
Result<void> set_window(const SimulateCommand& command, const Workload& workload, SimulatedSchedule& schedule) {
    if (command.window.empty()) return {};
    const Time first = workload.jobs.front().job.submit;
    const std::vector<std::string_view> ends = split(command.window, ':');
    const char* const how = "write BEGIN:END, times since the first submission, as 1d:30d; one may be left out";
    if (ends.size() != 2 || command.window == ":") return invalid(how, "--window");
    for (const auto& [text, at] : {std::pair{ends[0], &schedule.from}, {ends[1], &schedule.until}}) {
        if (text.empty()) continue;
        const Result<Duration> since = parse_duration_within(std::string(text), kLongestLog);
        if (!since) return invalid(since.error().message + "; " + how, "--window");
        *at = first + *since;
    }
    if (schedule.from >= schedule.until) return invalid("is empty: END must be later than BEGIN", "--window");
    if (std::ranges::none_of(workload.jobs, [&](const auto& entry) { return schedule.view().counts(entry); }))
        return invalid("no job is submitted in it; the last is submitted " +
                           number_text("%.0f", to_seconds(workload.jobs.back().job.submit - first)) +
                           " s after the first",
                       "--window");
    return {};
}

Result<SimulatedSchedule> run(const SimulateCommand& command, SimulationOptions options, const LoadedWorkload& loaded,
                              const NamedPolicy& policy) {
    Result<std::unique_ptr<Policy>> made = make_policy(policy.named.name, policy.named.options);
    if (!made) return made.error();
    const std::int32_t processors = loaded.workload.processors;
    const Result<std::unique_ptr<Allocator>> allocator = allocator_of(command, processors);
    if (!allocator) return allocator.error();
    options.allocator = allocator->get();
    ProgressBar bar(policy.label);
    options.record_places =
        !command.gantt.empty() || !command.events.empty() || !command.schedule.empty() || !command.export_csv.empty();
    options.record_promises = !command.export_csv.empty();
    options.progress = [&](std::size_t ended) { bar.update(ended, loaded.jobs); };
    const auto begin = std::chrono::steady_clock::now();
    Result<SimulationOutcome> outcome = simulate(loaded.workload, **made, options);
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!outcome) return outcome.error();
    SimulatedSchedule schedule{
        .policy = policy.label,
        .processors = outcome->processors,
        .start = std::move(outcome->first_service.empty() ? outcome->start : outcome->first_service),
        .end = std::move(outcome->end),
        .interruptions = std::move(outcome->interruptions),
        .started_on = std::move(outcome->started_on),
        .size_changes = std::move(outcome->size_changes),
        .processor_seconds = std::move(outcome->processor_seconds),
        .placements = std::move(outcome->placements),
        .rows = outcome->rows,
        .promised = std::move(outcome->promised),
        .refused_starts = outcome->refused_starts,
        .overlapping = (*made)->sharing() != ZoneState::Sharing::kSpace,
        .seconds = seconds,
        .jobs = loaded.jobs};
    settle_instants(loaded.workload, schedule);
    if (Result<void> good = set_window(command, loaded.workload, schedule); !good) return good.error();
    schedule.metrics = schedule_metrics(loaded.workload, schedule.view(), seconds_to_duration(command.tau_s));
    if (!outcome->time_with_rows.empty())
        schedule.turns = turn_metrics(loaded.workload, {.processor_seconds = schedule.processor_seconds,
                                                        .time_with_rows = outcome->time_with_rows,
                                                        .processors = schedule.processors,
                                                        .resized_processors = outcome->resized_processors,
                                                        .makespan_s = schedule.metrics.makespan_s});
    schedule.resizes = outcome->resizes;
    return schedule;
}

/// Whether the metrics of one schedule are asked for, under a policy whose jobs have a start and an end.
bool needs_times_only(const SimulateCommand& command, const std::vector<NamedPolicy>& policies) {
    if (policies.size() != 1 || is_recorded(policies[0]) || !command.files().empty() || !command.window.empty())
        return false;
    const Result<std::unique_ptr<Policy>> made = make_policy(policies[0].named.name, policies[0].named.options);
    return made && (*made)->sharing() == ZoneState::Sharing::kSpace && !(*made)->needs().stops;
}

/// Simulates jobs while they are read, so that memory holds those that wait or run, and the times of the others. Errors
/// say that the workload has to be loaded as a whole, where the same faults are reported with all that was noted.
Result<SimulatedSchedule> run_stream(const SimulateCommand& command, SimulationOptions options,
                                     const NamedPolicy& policy, LoadedWorkload& loaded) {
    const Result<std::unique_ptr<WorkloadStream>> stream = WorkloadStream::open(command.source);
    if (!stream) return stream.error();
    const Result<std::unique_ptr<Policy>> made = make_policy(policy.named.name, policy.named.options);
    if (!made) return made.error();
    options.processors = (*stream)->found().workload.processors;
    const Result<std::unique_ptr<Allocator>> allocator = allocator_of(command, options.processors);
    if (!allocator) return allocator.error();
    options.allocator = allocator->get();
    ProgressBar bar(policy.label);
    options.progress = [&](std::size_t ended) { bar.update(ended, (*stream)->expected_jobs()); };
    SimulatedSchedule schedule{.policy = policy.label, .processors = options.processors};
    Time first = kNever, last{};
    const double read_s = (*stream)->found().read_s + (*stream)->found().parse_s;
    Stopwatch watch;
    const Result<SimulationOutcome> outcome = simulate([&](const AddJob& add) { return (*stream)->run(add); },
                                                       (*stream)->found().workload.name, **made, options,
                                                       [&](const WorkloadJob& entry, Time start, Time end) {
                                                           first = std::min(first, entry.job.submit);
                                                           last = std::max(last, end);
                                                           schedule.times.push_back(times_of(entry, start, end));
                                                       });
    if (!outcome) return outcome.error();
    Result<LoadedWorkload> found = (*stream)->finish();
    if (!found) return found.error();
    loaded = *std::move(found);
    schedule.seconds = watch.lap() - (loaded.read_s + loaded.parse_s - read_s);
    schedule.jobs = loaded.jobs;
    schedule.refused_starts = outcome->refused_starts;
    schedule.metrics.all = job_metrics(schedule.times, seconds_to_duration(command.tau_s));
    schedule.metrics.makespan_s = to_seconds(last - first);
    schedule.metrics.utilization =
        schedule.metrics.all.processor_seconds / (options.processors * schedule.metrics.makespan_s);
    return schedule;
}

Result<SimulatedSchedule> recorded(const SimulateCommand& command, const LoadedWorkload& loaded) {
    Result<SimulatedSchedule> schedule = recorded_schedule(loaded);
    if (!schedule) return schedule;
    if (Result<void> good = set_window(command, loaded.workload, *schedule); !good) return good.error();
    if (const std::int64_t most = most_in_use(loaded.workload, *schedule); most > schedule->processors)
        std::cerr << "zbs: note: " << kRecorded << ": the log has up to " << most << " processors in use, the machine "
                  << schedule->processors << "; the utilization may be above 1\n";
    schedule->metrics = schedule_metrics(loaded.workload, schedule->view(), seconds_to_duration(command.tau_s));
    return schedule;
}

/// What is simulated of jobs although the log says something else, or nothing.
void report_assumptions(const formats::CleanedSwf& cleaned) {
    constexpr const char* kTexts[] = {
        "no estimate: the run time is taken, as if it were known beforehand",
        "no number of processors in the field that was to be taken: the other one is taken",
        "a number of processors with decimals: it is rounded down",
        "run time 0: 1 s is taken",
        "another job to follow (fields 17 and 18), which is not simulated: the submit time "
        "is that of the log",
        "another partition than the first job: all share one machine"};
    static_assert(std::size(kTexts) == formats::kSwfAssumptions);
    for (std::size_t i = 0; i < formats::kSwfAssumptions; ++i)
        if (const formats::SwfCount& found = cleaned.assumed[i]; found.count > 0)
            std::cerr << "zbs: note: " << counted(found.count, "job") << (found.count == 1 ? " has " : " have ")
                      << kTexts[i] << " (first on line " << found.first_line << ")\n";
}

/// What cleaning did, on standard error: nobody should take a part of a log for the whole.
void report_cleaning(const LoadedWorkload& loaded) {
    for (const std::string& note : loaded.notes) std::cerr << "zbs: note: " << note << "\n";
    if (!loaded.trace) return;
    const formats::SwfTrace& trace = *loaded.trace;
    if (loaded.damage)
        std::cerr << "zbs: warning: " << printable(loaded.damage->pointer) << ": " << printable(loaded.damage->message)
                  << "; the lines before it are used\n";
    if (trace.skipped_lines > 0)
        std::cerr << "zbs: warning: " << trace.skipped_lines
                  << " lines were skipped; the first: " << printable(trace.first_skipped->pointer) << ": "
                  << printable(trace.first_skipped->message) << "\n";
    const auto first_on = [](std::uint32_t line) { return " (first on line " + std::to_string(line) + ")"; };
    if (trace.wide_lines.count > 0)
        std::cerr << "zbs: note: " << counted(trace.wide_lines.count, "line") << " with more than 18 fields"
                  << first_on(trace.wide_lines.first_line) << ": the fields behind the 18th were left out\n";
    if (trace.label_lines.count > 0)
        std::cerr << "zbs: note: " << counted(trace.label_lines.count, "line")
                  << " with words or long numbers in fields that no schedule depends on"
                  << first_on(trace.label_lines.first_line) << ": they count as unknown\n";
    constexpr auto kPartial = static_cast<std::size_t>(formats::SwfDrop::kPartial);
    const std::size_t partial = loaded.cleaned.dropped[kPartial];
    if (partial > 0)
        std::cerr << "zbs: note: " << counted(partial, "line") << " of partial executions"
                  << first_on(loaded.cleaned.first_line[kPartial]) << (partial == 1 ? " was" : " were")
                  << " left out: the summary of each job counts\n";
    std::string kinds;
    for (std::size_t i = 0; i < formats::kSwfDrops; ++i) {
        if (loaded.cleaned.dropped[i] == 0 || i == kPartial) continue;
        kinds += (kinds.empty() ? "" : ", ") + std::to_string(loaded.cleaned.dropped[i]) + " " +
                 std::string(to_string(static_cast<formats::SwfDrop>(i))) + " (first on line " +
                 std::to_string(loaded.cleaned.first_line[i]) + ")";
    }
    if (!kinds.empty())
        std::cerr << "zbs: note: " << loaded.cleaned.dropped_in_all() - partial << " of " << loaded.records - partial
                  << " jobs were dropped: " << kinds << "\n";
    if (loaded.cleaned.cut_at_estimate > 0)
        std::cerr << "zbs: note: " << loaded.cleaned.cut_at_estimate
                  << " jobs ran past their estimate and were cut there\n";
    if (loaded.cleaned.out_of_order > 0)
        std::cerr << "zbs: note: " << loaded.cleaned.out_of_order
                  << (loaded.cleaned.out_of_order == 1 ? " job was" : " jobs were")
                  << " not in the order of submission (first on line " << loaded.cleaned.first_out_of_order
                  << "); the log was sorted\n";
    report_assumptions(loaded.cleaned);
}

std::string fixed(double value, int decimals) {
    return number_text(("%." + std::to_string(decimals) + "f").c_str(), value);
}
std::string short_text(double value) { return formats::short_number(value, 4); }

/// A row a policy; `exact`: for programs, with all digits.
Listing comparison(const std::vector<SimulatedSchedule>& schedules, bool exact) {
    const auto shown = [exact](double value, int decimals) {
        return exact ? number_text("%.12g", value) : fixed(value, decimals);
    };
    Listing listing{"schedules",
                    {"POLICY", "JOBS", "PROCESSORS", "MAKESPAN_S", "UTILIZATION", "WAIT_MEAN_S", "WAIT_P95_S",
                     "RESPONSE_MEAN_S", "SLOWDOWN_MEAN", "BOUNDED_SLOWDOWN_MEAN", "JOBS_PER_S"}};
    for (const SimulatedSchedule& schedule : schedules) {
        const JobMetrics& jobs = schedule.metrics.all;
        listing.rows.push_back({schedule.policy, std::to_string(jobs.jobs), std::to_string(schedule.processors),
                                shown(schedule.metrics.makespan_s, 0), shown(schedule.metrics.utilization, 4),
                                shown(jobs.wait_s.mean, 1), shown(jobs.wait_s.p95, 0), shown(jobs.response_s.mean, 1),
                                shown(jobs.slowdown.mean, 2), shown(jobs.bounded_slowdown.mean, 4),
                                short_text(jobs_per_second(schedule))});
    }
    return listing;
}

void print_classes(Context& context, const char* title, const std::vector<ClassMetrics>& classes, double area) {
    Listing listing{"classes",
                    {title, "JOBS", "WORK_%", "WAIT_MEAN_S", "WAIT_P95_S", "RESPONSE_MEAN_S", "SLOWDOWN_MEAN",
                     "BOUNDED_SLOWDOWN_MEAN"}};
    for (const auto& [name, jobs] : classes) {
        const auto known = [count = jobs.jobs](double value, int decimals) {
            return count > 0 ? fixed(value, decimals) : "-";
        };
        listing.rows.push_back({name, std::to_string(jobs.jobs), fixed(100 * jobs.processor_seconds / area, 1),
                                known(jobs.wait_s.mean, 1), known(jobs.wait_s.p95, 0), known(jobs.response_s.mean, 1),
                                known(jobs.slowdown.mean, 2), known(jobs.bounded_slowdown.mean, 4)});
    }
    std::cout << "\n";
    print(context, listing);
}

void print_tables(Context& context, const SimulateCommand& command, const LoadedWorkload& loaded,
                  const std::vector<SimulatedSchedule>& schedules) {
    std::cout << "trace        " << printable(loaded.name) << ", " << loaded.jobs << " jobs; ";
    if (loaded.trace)
        std::cout << human_bytes(static_cast<double>(loaded.bytes)) << " read in " << fixed(loaded.read_s, 3)
                  << " s, parsed in " << fixed(loaded.parse_s, 3) << " s ("
                  << fixed(static_cast<double>(loaded.bytes) / 1e6 / std::max(loaded.parse_s, 1e-9), 0) << " MB/s)\n";
    else
        std::cout << "made in " << fixed(loaded.parse_s, 3) << " s\n";
    if (schedules.size() > 1) {
        std::cout << "rules        " << command.rules << "\n";
        if (!command.allocator.empty()) std::cout << "allocator    " << printable(command.allocator) << "\n";
        std::cout << "\n";
        return print(context, comparison(schedules, false));
    }
    const SimulatedSchedule& schedule = schedules.front();
    const JobMetrics& jobs = schedule.metrics.all;
    if (!command.allocator.empty())
        std::cout << "allocator    " << printable(command.allocator) << ", "
                  << counted(schedule.refused_starts, "start") << " refused for want of a place\n";
    if (!schedule.interruptions.empty()) std::cout << "preemptions  " << schedule.interruptions.size() << "\n";
    std::cout << "policy       " << printable(schedule.policy) << ", " << command.rules << " rules, "
              << counted(static_cast<std::uint64_t>(schedule.processors), "processor") << "\nmakespan     "
              << fixed(schedule.metrics.makespan_s, 0) << " s\nutilization  " << fixed(schedule.metrics.utilization, 4)
              << "\n";
    if (schedule.turns)
        std::cout << "turns        " << fixed(schedule.turns->effective_utilization, 4)
                  << " effective utilization (a switch of rows costs 10 % of a slice, a processor changed 100 us), "
                  << fixed(schedule.turns->fragmentation, 4) << " fragmentation, " << schedule.resizes << " resizes\n";
    if (schedule.policy != kRecorded)
        std::cout << "simulated in " << fixed(schedule.seconds, 3) << " s, " << short_text(jobs_per_second(schedule))
                  << " jobs/s\n";
    std::cout << "\n";
    Listing listing{"metrics", {"METRIC", "MEAN", "MEDIAN", "P95", "MAX"}};
    for (const auto& [name, d, decimals] :
         {std::tuple{"wait, s", &jobs.wait_s, 1}, std::tuple{"response, s", &jobs.response_s, 1},
          std::tuple{"slowdown", &jobs.slowdown, 4}, std::tuple{"bounded slowdown", &jobs.bounded_slowdown, 4}})
        listing.rows.push_back({name, fixed(d->mean, decimals), fixed(d->median, decimals), fixed(d->p95, decimals),
                                fixed(d->max, decimals)});
    print(context, listing);
    const Duration tau = seconds_to_duration(command.tau_s);
    print_classes(context, "SIZE", classes_by_size(loaded.workload, schedule, tau), jobs.processor_seconds);
    print_classes(context, "RUN_TIME", classes_by_runtime(loaded.workload, schedule, tau), jobs.processor_seconds);
}

/// Text of each file, in memory before the first is written.
std::vector<std::pair<std::string, std::string>> texts_of(const SimulateCommand& command, const LoadedWorkload& loaded,
                                                          const SimulatedSchedule* schedule) {
    std::vector<std::pair<std::string, std::string>> texts;
    const auto add = [&](const std::string& path, auto&& text) {
        if (!path.empty()) texts.emplace_back(schedule == nullptr ? path : path_of(path, schedule->policy), text());
    };
    if (schedule != nullptr) {
        add(command.gantt, [&] { return gantt_svg(loaded, *schedule); });
        add(command.events, [&] { return events_csv(loaded.workload, *schedule); });
        add(command.schedule, [&] { return schedule_csv(loaded.workload, *schedule); });
        add(command.waits, [&] { return waits_text(loaded.workload, *schedule); });
    }
    add(command.export_swf, [&] { return swf_text(loaded, schedule); });
    add(command.export_csv, [&] { return jobs_csv(loaded.workload, schedule); });
    return texts;
}

Result<void> write_files(const SimulateCommand& command, const LoadedWorkload& loaded,
                         const std::vector<SimulatedSchedule>& schedules) {
    std::vector<std::pair<std::string, std::string>> texts;
    if (schedules.empty()) texts = texts_of(command, loaded, nullptr);
    for (const SimulatedSchedule& schedule : schedules)
        for (auto& text : texts_of(command, loaded, &schedule)) texts.push_back(std::move(text));
    for (const auto& [path, text] : texts)
        if (Result<void> done = write_file(path, text); !done) return done;
    return {};
}

/// Where a policy is to order by priority and no job has one: all jobs; else 0.
std::size_t jobs_without_priority(const NamedPolicy& policy, const LoadedWorkload& loaded) {
    bool by_priority = false;
    for (const auto& [name, value] : policy.named.options)
        by_priority = by_priority || (name == "order" && value == "priority");
    // Where order is not of backfilling, priority is a class of walltimes.
    for (const PolicyOption& option : find_policy(policy.named.name)->options)
        by_priority =
            by_priority && (option.name != "order" ||
                            std::ranges::find(option.choices, std::string_view("arrival")) != option.choices.end());
    const bool none =
        std::ranges::all_of(loaded.workload.jobs, [](const WorkloadJob& entry) { return entry.job.priority == 0; });
    return by_priority && none ? loaded.jobs : 0;
}

/// Where processors have limited memory: jobs that are taken to need none, because their need is unknown.
std::size_t jobs_without_memory(const SimulateCommand& command, const Workload& workload) {
    if (command.memory_bytes <= 0) return 0;
    return static_cast<std::size_t>(
        std::ranges::count_if(workload.jobs, [](const WorkloadJob& entry) { return entry.job.memory_bytes == 0; }));
}

/// Elmer's processors are shared where they are not busy, and in simulations a processor with a job is.
bool shares_in_vain(const NamedPolicy& policy) {
    if (policy.named.name != "elmer") return false;
    bool in_vain = true;
    for (const auto& [name, value] : policy.named.options)
        if ((name == "rule" && value == "v1") || (name == "degree" && value == "1") ||
            (name == "threshold" && parse_number<double>(value).value_or(0) >= 1))
            in_vain = false;
    return in_vain;
}

/// What policies and machine need to know of jobs, and do not.
void report_unknown(const SimulateCommand& command, const std::vector<NamedPolicy>& policies,
                    const LoadedWorkload& loaded) {
    for (const NamedPolicy& policy : policies)
        if (jobs_without_priority(policy, loaded) > 0)
            std::cerr << "zbs: note: " << printable(policy.label)
                      << " goes by priority, but no job has one: the order is that of arrival\n";
    for (const NamedPolicy& policy : policies)
        if (shares_in_vain(policy))
            std::cerr
                << "zbs: note: " << printable(policy.label)
                << ": in simulations a processor with a job is fully used, so that below threshold=1 no job shares "
                   "it: the schedule is that of fcfs\n";
    if (const std::size_t unknown = jobs_without_memory(command, loaded.workload); unknown > 0)
        std::cerr << "zbs: note: --memory: of " << counted(unknown, "job")
                  << " the memory is unknown: they are taken to need none\n";
}

OrderedJson settings_of(const SimulateCommand& command, const SimulationOptions& machine, const std::string& policy) {
    RunSettings settings{.source = command.source,
                         .rules = command.rules,
                         .tau_s = command.tau_s,
                         .allocator = command.allocator,
                         .without_place = command.without_place,
                         .window = command.window};
    if (policy == kRecorded) return encode(settings);
    if (find_policy(policy)->takes_slice) {
        settings.slice_s = to_seconds(machine.slice);
        settings.memory_bytes = machine.memory_bytes;
    }
    if (has_shares({policy, {}}))
        settings.coscheduling = command.coscheduling.empty() ? "1,1.2,1.3" : command.coscheduling;
    return encode(settings);
}

/// What the files or the simulation cannot do with these jobs, on standard error.
void report_losses(const SimulateCommand& command, const Workload& workload) {
    if (const std::size_t flexible = flexible_jobs(workload); !command.export_swf.empty() && flexible > 0)
        std::cerr << "zbs: warning: --export-swf: the format cannot say which jobs are moldable or malleable, as "
                  << flexible << " of " << workload.jobs.size()
                  << " are; give --flexibility where the file is read (--export-csv writes it)\n";
    if (!command.export_csv.empty() && !command.allocator.empty())
        std::cerr << "zbs: note: --export-csv: promised starts count processors, not the places of --allocator\n";
    if (command.coscheduling == "application" &&
        std::ranges::all_of(workload.jobs, [](const WorkloadJob& entry) { return entry.job.application < 0; }))
        std::cerr
            << "zbs: warning: --coscheduling application: no job says which program it is, so all slow each other "
               "down as unknown ones do, by 1.2\n";
}

/// Most policies give every job what it asks for, however flexible it is.
void report_fixed_sizes(const std::vector<SimulatedSchedule>& schedules) {
    for (const SimulatedSchedule& schedule : schedules)
        if (schedule.started_on.empty() && schedule.size_changes.empty())
            std::cerr << "zbs: note: --flexibility changed nothing under " << printable(schedule.policy)
                      << ": every job had the size that it asked for\n";
}

struct Simulated {
    LoadedWorkload loaded;
    std::vector<SimulatedSchedule> schedules;
};

/// Where the header does not clearly say how many processors the machine has.
void report_machine(const SimulateCommand& command, const LoadedWorkload& loaded) {
    if (!loaded.trace || command.source.processors > 0) return;
    const std::vector<std::string> sizes = loaded.trace->directives("MaxProcs");
    const std::string taken = std::to_string(loaded.workload.processors);
    if (loaded.trace->number("MaxProcs").value_or(0) == 0)
        std::cerr << "zbs: note: the header has no MaxProcs: its MaxNodes, " << taken
                  << ", is taken as the number of processors; --processors sets another\n";
    else if (std::ranges::adjacent_find(sizes, std::ranges::not_equal_to()) != sizes.end())
        std::cerr << "zbs: note: the header has " << sizes.size() << " lines MaxProcs: the first, " << taken
                  << ", is taken; --processors sets another\n";
}

void report(const SimulateCommand& command, const std::vector<NamedPolicy>& simulated, const LoadedWorkload& loaded) {
    report_cleaning(loaded);
    report_machine(command, loaded);
    report_losses(command, loaded.workload);
    report_unknown(command, simulated, loaded);
}

Result<Simulated> simulate_all(const SimulateCommand& command, const SimulationOptions& machine,
                               const std::vector<NamedPolicy>& policies, const std::vector<NamedPolicy>& simulated) {
    Simulated found;
    std::optional<Error> why_whole;
    if (needs_times_only(command, policies)) {
        Result<SimulatedSchedule> schedule = run_stream(command, machine, policies[0], found.loaded);
        if (schedule) {
            report(command, simulated, found.loaded);
            found.schedules.push_back(*std::move(schedule));
            return found;
        }
        why_whole = schedule.error();
    }
    Result<LoadedWorkload> loaded = load_workload(command.source);
    if (!loaded) {
        Error fault = loaded.error();
        // Why a log that is too large to be in memory has to be.
        if (fault.code == ErrorCode::kTooLarge && !command.source.trace.empty())
            fault.message += why_whole
                                 ? "; while it was read: " + text_with_pointer(*why_whole)
                                 : "; for --compare, --window, files and changes of jobs the log is in memory as a "
                                   "whole: run one policy without them";
        return fault;
    }
    found.loaded = *std::move(loaded);
    report(command, simulated, found.loaded);
    for (const NamedPolicy& policy : policies) {
        Result<SimulatedSchedule> schedule =
            is_recorded(policy) ? recorded(command, found.loaded) : run(command, machine, found.loaded, policy);
        if (!schedule) return schedule.error();
        found.schedules.push_back(*std::move(schedule));
    }
    return found;
}

void simulate_workload(Context& context, const SimulateCommand& command) {
    if (command.list) return list_all(context);
    if (command.list_policies) return list_policies(context);
    if (command.list_generators) return list_generators(context);
    if (command.list_allocators) return list_allocators(context);
    const Result<std::vector<NamedPolicy>> policies = policies_of(command);
    if (!policies) return context.fail(policies.error());
    if (Result<void> good = check_files(command, *policies); !good) return context.fail(good.error());
    std::vector<NamedPolicy> simulated = *policies;
    std::erase_if(simulated, is_recorded);
    const Result<SimulationOptions> machine = machine_of(command, simulated);
    if (!machine) return context.fail(machine.error());
    const Result<Simulated> found = simulate_all(command, *machine, *policies, simulated);
    if (!found) return context.fail(found.error());
    const auto& [loaded, schedules] = *found;
    if (!command.source.flexibility.empty()) report_fixed_sizes(schedules);
    if (Result<void> done = write_files(command, loaded, schedules); !done) return context.fail(done.error());
    const auto is_standard_output = [](const OutputFile& file) { return file.path == "-"; };
    if (schedules.empty() || std::ranges::any_of(command.files(), is_standard_output)) return;
    if (context.for_people()) return print_tables(context, command, loaded, schedules);
    if (context.output == "csv" || context.output == "name") return print(context, comparison(schedules, true));
    ScheduleSettings settings{.rules = command.rules,
                              .tau_s = command.tau_s,
                              .coscheduling = command.coscheduling,
                              .allocator = command.allocator,
                              .has_seed = !loaded.trace || command.source.flexibility == "mix",
                              .seed = command.source.seed,
                              .with_details = command.details,
                              .all = {},
                              .without_priority = 0,
                              .without_memory = 0};
    std::vector<OrderedJson> items;
    for (std::size_t i = 0; i < schedules.size(); ++i) {
        settings.all = settings_of(command, *machine, (*policies)[i].named.name);
        settings.without_priority = is_recorded((*policies)[i]) ? 0 : jobs_without_priority((*policies)[i], loaded);
        settings.without_memory = jobs_without_memory(command, loaded.workload);
        items.push_back(encode(settings, loaded, schedules[i]));
    }
    if (context.output == "jsonl") {
        for (const OrderedJson& item : items) std::cout << dump(item) << "\n";
        return;
    }
    std::cout << dump(encode_document(std::move(items), !command.compare.empty())) << "\n";
}

}  // namespace

void add_simulate_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<SimulateCommand>();
    CLI::App* command = app.add_subcommand(
        "simulate",
        "simulate the queue of a zone: a log or a generated workload under a scheduling policy, offline\n\n"
        "Logs are in the Standard Workload Format (.swf, .swf.gz). Jobs without size or run time and those larger than "
        "the machine are dropped and counted (--refuse makes them errors); a job is killed at its estimate. "
        "Without --compare, --window, files to write and changes of the jobs, a log in the order of submission and of "
        "job numbers is simulated while it is read, with 40 bytes of memory a job that has ended; policies that "
        "preempt, time sharing and all else keep the whole workload in memory.\n\n"
        "Example: zbs simulate --trace log.swf.gz --policy easy\n"
        "Example: zbs simulate --generate lublin:jobs=5000,processors=128 --compare fcfs,easy,conservative\n"
        "Example: zbs simulate --from-sacct year.txt --slurm-conf slurm.conf --compare easy,conservative");
    add_simulate_options(*command, *options);
    command->callback([options, &context] { simulate_workload(context, *options); });
}

}  // namespace zbs::cli
