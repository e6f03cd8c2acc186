#include "client/cli/simulation/simulate_options.hpp"

#include <CLI/CLI.hpp>

#include "algorithms/allocation/registry.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "services/common/adapters/command_line/values.hpp"

namespace zbs::cli {
namespace {

/// As completion offers them.
template <class Infos>
std::vector<std::string> offered_names(const Infos& infos) {
    std::vector<std::string> names;
    for (const auto& info : infos) names.emplace_back(info.name);
    return names;
}

void add_workload_options(CLI::App& command, WorkloadSource& source) {
    command.add_option("--trace", source.trace,
                       "jobs: a log in the Standard Workload Format, plain or gzip; - reads standard input");
    command.add_option(
        "--from-sacct", source.sacct,
        "jobs: the output of sacct --parsable2 with columns JobIDRaw, Submit, Eligible, Start, End, "
        "Timelimit, ReqCPUS, AllocCPUS, State, User, Account, Partition; options of --trace hold for it");
    command.add_option("--slurm-conf", source.slurm_conf,
                       "--from-sacct: the slurm.conf of the machine, for its processors and the limits of partitions");
    command_line::offer(
        command.add_option("--generate", source.generate,
                           "jobs: NAME[:option=value,...] of a workload model; --list-generators shows all"),
        {.words = offered_names(workload_generators())});
    command.add_option("--params", source.parameters, "--generate jann: file of its size classes");
    command.add_option("--flexibility", source.flexibility,
                       "which jobs can run on other sizes than they ask for: rigid, moldable or malleable: all; mix: "
                       "10 % rigid, 60 % moldable, 30 % malleable, drawn by --seed and job number; group: 0 rigid, 1 "
                       "moldable, 2 malleable, as scojo exports it (default: as the model has it; jobs of a log are "
                       "rigid)");
    command.add_option("--seed", source.seed, "seed of everything that is drawn: --generate, --flexibility mix")
        ->check(command_line::natural_number())
        ->capture_default_str();
    command.add_option("--processors", source.processors, "of the machine (default: as the log or the model says)")
        ->check(command_line::whole_number_in(1, 100'000'000));
    command.add_option("--where", source.where,
                       "only jobs for which this holds: comparisons (=, !=, <, <=, >, >=) of job, submit, processors, "
                       "run_time, estimate, user, group, queue, application, and of logs partition and status, with a "
                       "whole number (times in seconds), joined by and, or, not and parentheses");
    command
        .add_option("--load", source.load,
                    "the offered load: processors x run time of all jobs per processor of the machine and time from "
                    "the first to the last submission; gaps between submissions are scaled (default: as they are)")
        ->check(command_line::number_in(0.001, 1000));
    command
        .add_option("--estimate-factor", source.estimate_factor,
                    "estimates are so many times as long, but not below the run time")
        ->check(command_line::number_in(0.001, 1000));
}

void add_policy_options(CLI::App& command, SimulateCommand& options) {
    command_line::offer(command.add_option("--policy", options.policy,
                                           "queue policy, NAME or NAME:option=value; --list-policies shows all"),
                        {.words = offered_names(policies())});
    command_line::offer(
        command.add_option("--allocator", options.allocator,
                           "which processors a job gets: NAME[:option=value:...]; none: any will do; not for policies "
                           "whose jobs take turns; --list-allocators names them"),
        {.words = offered_names(allocators())});
    command
        .add_option("--without-place", options.without_place,
                    "with --allocator, jobs behind one that has no place, though enough processors are free: wait (in "
                    "the same decision), or pass: those may start that end before the next running job is expected to")
        ->check(command_line::one_of({"wait", "pass"}))
        ->capture_default_str();
    command.add_option("--option", options.options, "option of the policy, NAME=VALUE; may be repeated")
        ->take_all()
        ->allow_extra_args(false);
    command_line::offer(
        command.add_option("--compare", options.compare,
                           "several policies side by side, NAME[:option=value[:option=value...]],...; in a list of "
                           "values write + for ,; recorded: the schedule in the log"),
        {.words = offered_names(policies()), .is_list = true});
    command
        .add_option("--rules", options.rules,
                    "batched: all events of an instant, then one decision; reference: a decision after each event, as "
                    "published reference schedules are made")
        ->check(command_line::one_of({"batched", "reference"}))
        ->capture_default_str();
    command.add_option("--slice", options.slice, "policy gang: how long a row of the slice matrix runs (default: 30s)");
    command
        .add_option("--memory", options.memory_bytes,
                    "policy gang: memory of each processor, in bytes or with a unit (512MB); "
                    "default: not limited")
        ->transform(command_line::amount_of_bytes())
        ->check(command_line::whole_number_in(0, std::int64_t{1} << 52));
    command.add_option("--coscheduling", options.coscheduling,
                       "policies whose jobs have shares: how much they slow each other down in truth, whatever the "
                       "policy expects: the slowdown of one job, two, three and so on, or application: measured pairs "
                       "of programs (default: 1,1.2,1.3)");
    command.add_option(
        "--window", options.window,
        "metrics of the jobs submitted from BEGIN to END only, BEGIN:END since the first submission, as "
        "1d:30d, or 1d: for all but a warm-up of a day; all jobs are simulated, and the makespan is that of all");
    command.add_option("--tau", options.tau_s, "seconds that a run time counts for at least in the bounded slowdown")
        ->capture_default_str();
}

void add_log_options(CLI::App& command, WorkloadSource& source) {
    command.add_flag("--lenient", source.lenient,
                     "--trace: skip and count lines that cannot be read, and repeated job numbers");
    command_line::add_list(
        command, "--refuse", source.refuse,
        "--trace: make it an error, with its line, to have jobs of a kind: no-size, oversized, no-runtime, no-submit, "
        "duplicate, unsorted, all");
    command_line::add_list(command, "--drop", source.drop,
                           "--trace: drop jobs of a kind, too: cancelled, failed, duplicate");
    command
        .add_option("--size", source.size, "--trace: a job's size is what was requested (default), or allocated, first")
        ->check(command_line::one_of({"requested", "allocated"}));
    command
        .add_option("--estimates", source.estimates,
                    "--trace: a job past its estimate is killed there (kill, default), its estimate is raised (raise), "
                    "or it runs on while the policy expects its end at any moment (overrun); exact: after killing, "
                    "estimates are the run times")
        ->check(command_line::one_of({"kill", "raise", "overrun", "exact"}));
    command
        .add_option(
            "--zero-runtime", source.zero_runtime,
            "--trace: a job of run time 0, which is less than half a second, is dropped (drop, default) or runs "
            "for 1 s (second); cancelled ones are dropped")
        ->check(command_line::one_of({"drop", "second"}));
    command.add_flag("--shift", source.shift, "--trace: let time begin with the first submission");
    command.add_flag("--renumber", source.renumber,
                     "--trace: number the jobs from 1 in the order of their lines, for logs whose numbers start anew");
}

void add_export_options(CLI::App& command, SimulateCommand& options) {
    command.add_flag("--details", options.details, "JSON: also rules, parse time, dropped jobs, and tables by class");
    command.add_option(
        "--gantt", options.gantt,
        "draw the schedule into this file, SVG; - as the name of one file to write: it alone is printed");
    command.add_option("--events", options.events, "write every submission, start and end, CSV");
    command.add_option("--schedule", options.schedule, "write when each job started and ended, CSV");
    command.add_option("--waits", options.waits, "write job number and wait in seconds, by job number");
    command.add_option("--export-swf", options.export_swf,
                       "write the jobs with their waits in the Standard Workload Format; without --policy as they are");
    command.add_option("--export-csv", options.export_csv,
                       "the same with all that is known of a job, and the first start that it was promised, CSV");
}

void add_list_flags(CLI::App& command, SimulateCommand& options) {
    command.add_flag("--list", options.list,
                     "show every policy, allocator and packing rule with one line and its source");
    command.add_flag("--list-policies", options.list_policies, "show all policies and their options");
    command.add_flag("--list-allocators", options.list_allocators, "show all allocators and their options");
    command.add_flag("--list-generators", options.list_generators, "show all workload models and their options");
}

}  // namespace

void add_simulate_options(CLI::App& command, SimulateCommand& options) {
    add_workload_options(command, options.source);
    add_policy_options(command, options);
    add_log_options(command, options.source);
    add_export_options(command, options);
    add_list_flags(command, options);
}

}  // namespace zbs::cli
