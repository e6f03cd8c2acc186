// zbs-zone replay: the steps of the parts and applications of a zone once more, from its log.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/commands/step_replay.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

std::string text_of(const StepReplay& replay) {
    const auto& difference = replay.first_difference;
    if (!difference && replay.events == 0) return "nothing was compared: the log has no whole step\n";
    if (!difference)
        return std::to_string(replay.events) + " events of " + std::to_string(replay.parts) + " parts and " +
               std::to_string(replay.applications) + " applications, all states equal\n";
    const auto outcome = [](const codec::StepOutcome& one) {
        return one.state + ", SHA-256 of the state " + one.sha256 +
               (one.error.empty() ? "" : ", error: " + listing::harmless_line(one.error)) + "\n";
    };
    return "line " + std::to_string(difference->line) + ", " + difference->kind + " " + difference->id + ", event " +
           difference->event + ": the replay ends otherwise\nzone    " + outcome(difference->logged) + "replay  " +
           outcome(difference->replayed);
}

}  // namespace

void add_replay_command(CLI::App& cli, int& exit_code) {
    auto path = std::make_shared<std::string>();
    CLI::App* command = cli.add_subcommand(
        "replay",
        "take all steps of parts and applications in a zone's log ('part_log' in its configuration) again, and compare "
        "the states; exit code 1 where a state is another or nothing was compared\n\nExample: zbs-zone replay "
        "parts.jsonl");
    command->add_option("LOG", *path, "the log")->required();
    const auto output = std::make_shared<command_line::Output>(command_line::Output::Kind::kDocument);
    output->add_to(*command);
    command->callback([output, path, &exit_code] {
        const OperatorCommand shared(path.get(), &exit_code);
        if (!shared.can_begin(*output)) return;
        std::ifstream log(*path);
        const Result<StepReplay> replay = replay_steps(log, *path);
        if (!replay) return shared.fail(replay.error(), *output);
        output->print_document(codec::encode(*replay), text_of(*replay));
        if (replay->first_difference || replay->events == 0) exit_code = command_line::kFailed;
        if (!replay->is_cut) return;
        std::cout.flush();
        std::cerr << "note: the last line of " << *path << " is unfinished, and was left out\n";
    });
}

}  // namespace zbs::zone_program
