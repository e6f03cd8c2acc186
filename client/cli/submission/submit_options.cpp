#include "client/cli/submission/submit_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "algorithms/base/suggestion.hpp"
#include "client/cli/context.hpp"
#include "client/cli/submission/directives.hpp"
#include "services/common/adapters/command_line/pages/program_words.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::cli {
namespace {

/// The first bytes of a file, one more than are looked at so that a longer one is known as such; empty where it cannot
/// be read, as programs that may only be run.
std::string head_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text(kMaxScriptHead + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return text;
}

/// Options that a script cannot say: what is run, and what this one call of the command is for.
bool is_for_the_command_line(const std::string& name) {
    return name == "program" || name == "help" || name == "id" || name == "dry-run" || name == "wait" ||
           name == "quiet";
}

/// Options of the script by their long names, with what was given, in order.
using Given = std::map<std::string, std::vector<std::string>>;

/// `program`: the command that reads the script, "zbs run", for errors.
Result<void> read_directive(const std::string& program, const Directive& directive, Given& given) {
    CLI::App scripted;
    scripted.set_help_flag();
    SubmitOptions unused;
    add_submit_options(scripted, unused);
    scripted.get_option("program")->required(false);
    const command_line::DividedWords words = command_line::divide_words(scripted, directive.words);
    try {
        command_line::read_words(scripted, program, words);
    } catch (const CLI::ExtrasError&) {
        const std::string word = scripted.remaining().empty() ? "" : scripted.remaining().front();
        std::vector<std::string> names;
        for (const CLI::Option* option : scripted.get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        const std::vector<std::string_view> known(names.begin(), names.end());
        const std::string_view near = closest_name(word, known);
        return invalid("'" + ascii(word) + "' is no option of '" + program + "' for scripts" +
                       (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?"));
    } catch (const CLI::ParseError& fault) {
        return invalid(command_line::fault_text(scripted, fault, program, words.own));
    }
    if (!words.program.empty())
        return invalid("'" + ascii(words.program.front()) + "' is no option; the script itself is the program");
    for (const CLI::Option* option : scripted.get_options()) {
        if (option->count() == 0) continue;
        const std::string name = option->get_lnames().front();
        if (is_for_the_command_line(name)) return invalid("--" + name + " can be given on the command line only");
        std::vector<std::string>& values = given[name];
        const bool adds_up = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
        if (!adds_up) values.clear();  // a later line takes the place of an earlier one
        values.insert(values.end(), option->results().begin(), option->results().end());
    }
    return {};
}

/// Whether values of the command line are added to those of the script, and do not take their place.
bool adds_to_script(const std::string& option) {
    return option == "env" || option == "stage-in" || option == "stage-out";
}

/// A text for people; empty: none.
CLI::Validator is_line(std::size_t max_bytes) {
    return {[max_bytes](const std::string& text) {
                if (!text.empty() && !is_one_line(text))
                    return "'" + ascii(text) + "' must be one line of UTF-8 text, without control characters";
                if (text.size() > max_bytes) return "is longer than " + std::to_string(max_bytes) + " bytes";
                return std::string{};
            },
            ""};
}

void add_job_options(CLI::App& command, SubmitOptions& options) {
    command.add_option("-n,--ntasks", options.request.ranks, "MPI ranks")
        ->check(command_line::whole_number_in(1, 1'000'000))
        ->capture_default_str();
    command
        .add_option("--overcommit", options.request.overcommit,
                    "ranks that may share a processor, in zones whose 'max_overcommit' allows it")
        ->check(command_line::whole_number_in(1, limits::kMaxOvercommit))
        ->capture_default_str();
    command.add_option("-J,--name,--job-name", options.request.name, "what lists and the dashboard call it")
        ->check(is_line(limits::kMaxJobNameBytes));
    command.add_option("--comment", options.request.comment, "free text of at most 200 characters, for 'zbs show'")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return text.empty() || is_comment(text)
                           ? ""
                           : "must be one line of at most 200 characters, without control characters";
            },
            ""));
    command
        .add_option("-D,--chdir", options.directory,
                    "working directory of every rank (default: this one); not with --stage-in and --stage-out, whose "
                    "files are in a folder of the job's own")
        ->check(command_line::something("name a folder"));
    command
        .add_option("-t,--walltime,--time", options.walltime,
                    "longest run: 90s, 15m, 1h30m, HH:MM:SS, 1-12:00:00, PT1H30M")
        ->check(command_line::span_of_time(std::chrono::seconds{1}, std::chrono::seconds{limits::kMaxWalltimeSeconds}))
        ->capture_default_str();
    command
        .add_option("--grace", options.grace,
                    "time to save: at the walltime and after a cancel every process gets SIGTERM once, and SIGKILL "
                    "this much later; a zone may give less (its max_grace_s)")
        ->check(command_line::span_of_time(std::chrono::seconds{0},
                                           std::chrono::seconds{static_cast<int>(limits::kMaxGraceSeconds)}))
        ->capture_default_str();
}

void add_mapping_options(CLI::App& command, SubmitOptions& options) {
    command.add_option("--profile", options.model, "model file to plan with, instead of the stored profile");
    command
        .add_option("--mapper", options.request.mapper,
                    "heuristic that maps ranks to zones; auto is the best of hier, multilevel, metis and block")
        ->check(
            command_line::one_of({"auto", "hier", "multilevel", "metis", "global", "block", "round-robin", "random"}))
        ->capture_default_str();
    command_line::offer(command_line::add_list(command, "--zones", options.zones, "only these zones"),
                        {.words = {}, .is_list = true, .kind = "zones"});
}

void add_environment_options(CLI::App& command, SubmitOptions& options) {
    command
        .add_option(
            "--env", options.exports,
            "NAME (from here) or NAME=VALUE for every rank, besides what programs need to run (PATH, LD_LIBRARY_PATH, "
            "LANG, OMP_*, MPICH_*, ...); may be repeated. LD_PRELOAD=LIBRARY is loaded in front of the zone's own "
            "library, which is appended")
        ->take_all()
        ->allow_extra_args(false);
    command.add_flag("--env-all", options.export_all,
                     "the whole environment of this command: every zone that runs a part of the job sees it. Left out, "
                     "unless --env names it, is the state of the account, session or terminal here: HOME, USER, SHELL, "
                     "HOSTNAME, TMPDIR, DISPLAY, XDG_*, DBUS_*, SSH_*, KRB5*, WAYLAND_*, TERM_*, TMUX and the like");
    command.add_option("--umask", options.umask, "of every rank, octal, as 027; without it 077")
        ->check(command_line::something("write it in octal digits, as 027"));
    command
        .add_option("--ulimit", options.ulimits,
                    "NAME=VALUE, a limit of every rank up to the most that its zone allows, in bytes, seconds or "
                    "numbers: stack=unlimited, nofile=4096, memlock=64M; may be repeated")
        ->take_all()
        ->allow_extra_args(false);
}

void add_run_options(CLI::App& command, SubmitOptions& options) {
    command
        .add_option("--priority", options.request.priority,
                    "0 to 9, more goes first; counts where zones share processors by priority")
        ->check(command_line::whole_number_in(0, kMaxPriority))
        ->capture_default_str();
    command
        .add_option("--share", options.request.share,
                    "per cent of each processor, where zones share them by shares (default: the zone's)")
        ->check(command_line::whole_number_in(kMinShare, kMaxShare));
    command
        .add_option("-p,--partition", options.request.partition,
                    "only machines in a partition of this name, in whichever zones have one")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return is_valid_name(text) ? "" : "must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit";
            },
            ""));
    command.add_option("--seed", options.request.seed, "seed of the mapping")
        ->check(command_line::natural_number())
        ->capture_default_str();
    command.add_option("--id", options.id, "request id of an earlier try whose answer was lost");
    command
        .add_option(
            "--launcher", options.launcher,
            "what starts the ranks: mpich over any zones; openmpi or srun (of Slurm) in the home zone only; auto: by "
            "the MPI that the program is linked with")
        ->check(command_line::one_of({"auto", "mpich", "openmpi", "srun"}))
        ->capture_default_str();
    command.add_flag("--no-record", options.no_profile, "do not profile this run");
    command.add_option("--trace", options.trace,
                       "also trace the run into PREFIX.RANK, for zbs replay; at most 256 MiB a rank");
    command.add_flag("--ignore-profile", options.ignore_profile, "plan as if no profile were known");
}

void add_staging_options(CLI::App& command, SubmitOptions& options) {
    command
        .add_option(
            "--stage-in", options.stage_in,
            "FILE, FOLDER/ or either with =NAME: goes to every zone, into the folder that the ranks run in; the "
            "program itself may be one. May be repeated")
        ->take_all()
        ->allow_extra_args(false);
    command
        .add_option("--stage-out", options.stage_out,
                    "NAME or pattern: files of that folder, hidden ones too, that come back when the job has ended. "
                    "* stands for letters of one name, ** also for folders (out/**), but none that is empty. May be "
                    "repeated")
        ->take_all()
        ->allow_extra_args(false);
    command.add_option("--stage", options.stage, "always: also between zones that share a file system")
        ->check(command_line::one_of({"auto", "always"}))
        ->capture_default_str();
    command.add_option("--results", options.results_folder, "folder for what comes back, where this command waits")
        ->capture_default_str();
}

void add_output_options(CLI::App& command, SubmitOptions& options) {
    command
        .add_option("-o,--stdout", options.stdout_file,
                    "file for what the ranks write to standard output, in place of this command's; of 'run' and "
                    "'submit --wait'. Its content is replaced. The format is --output, which has no short form here")
        ->check(command_line::something("name a file"));
    command.add_option("-e,--stderr", options.stderr_file, "the same for standard error; may be the file of -o")
        ->check(command_line::something("name a file"));
}

}  // namespace

void add_submit_options(CLI::App& command, SubmitOptions& options) {
    add_job_options(command, options);
    add_mapping_options(command, options);
    add_environment_options(command, options);
    add_run_options(command, options);
    add_staging_options(command, options);
    add_output_options(command, options);
    command.add_flag("--dry-run", options.dry_run, "show the plan, change nothing");
    command_line::add_program(command, options.argv, "program and its arguments; all words after it are the program's")
        ->required();
}

Result<void> apply_directives(CLI::App& command, SubmitOptions& options) {
    std::error_code fault;
    const std::string directory = options.directory.empty() ? std::filesystem::current_path(fault).string()
                                                            : system::absolute_path(options.directory);
    const Result<std::string> program = find_program(options.argv.at(0), directory);
    if (!program) return {};
    const std::string text = head_of_file(*program);
    const Result<ScriptHead> head = read_script_head(text);
    const auto at = [&](const std::string& place) { return *program + ", " + place; };
    if (!head) return invalid(head.error().message, at(head.error().pointer));
    if (!head->is_script && (text.starts_with("#ZBS ") || text.find("\n#ZBS ") != std::string::npos) &&
        text.find('\0') == std::string::npos)
        std::cerr << "zbs: " << printable(*program)
                  << ": its #ZBS lines count for nothing, because its first line is no #!, as in #!/bin/sh\n";
    for (const std::string& mark : head->foreign)
        std::cerr << "zbs: " << printable(*program) << ": its " << mark
                  << " lines count for nothing; options for zbs are in lines that begin with #ZBS\n";
    for (const MistypedDirective& directive : head->mistyped)
        std::cerr << "zbs: " << printable(*program) << ", line " << directive.line
                  << ": looks like an option of zbs and is none; write '#ZBS " << printable(directive.options) << "'\n";
    if (head->too_late > 0)
        std::cerr << "zbs: " << printable(*program) << ", line " << head->too_late
                  << ": counts for nothing, because #ZBS lines must stand above the first command\n";
    if (head->directives.empty()) return {};
    Given given;
    for (const Directive& directive : head->directives)
        if (const Result<void> read = read_directive("zbs " + command.get_name(), directive, given); !read)
            return invalid(read.error().message, at("line " + std::to_string(directive.line)));
    for (const auto& [name, values] : given) {
        CLI::Option* const option = command.get_option("--" + name);
        const std::vector<std::string> typed = option->results();
        if (!typed.empty() && !adds_to_script(name)) continue;
        option->clear();
        option->add_result(values);
        if (!typed.empty()) option->add_result(typed);  // behind: of two values of a variable the last one counts
        option->run_callback();
    }
    options.argv[0] = *program;
    return {};
}

}  // namespace zbs::cli
