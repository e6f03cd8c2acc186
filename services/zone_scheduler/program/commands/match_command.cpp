// zbs-zone match: the queue and the placement of a zone over a workload, without a service.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "services/zone_scheduler/program/commands/match_file.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

void add_match_command(CLI::App& cli, int& exit_code) {
    auto path = std::make_shared<std::string>(), partition = std::make_shared<std::string>();
    CLI::App* command = cli.add_subcommand(
        "match",
        "print where and when parts would run: the queue and the placement of a zone in virtual time, without its "
        "service\n\nExample: zbs-zone match workload.toml");
    command
        ->add_option("FILE", *path,
                     "a zone's file, with a table [[part]] for each part: name, ranks, walltime; all keys are in "
                     "docs/policy.md")
        ->required();
    command->add_option("--partition", *partition,
                        "the queue of this [[partition]]; without it, that of the machines in none");
    const auto output = std::make_shared<command_line::Output>(command_line::Output::Kind::kList);
    output->add_to(*command, matches_of({}, {}));
    command->callback([output, path, partition, &exit_code] {
        const OperatorCommand shared(path.get(), &exit_code);
        if (!shared.can_begin(*output)) return;
        const Result<MatchFile> file = read_match_file(*path, *partition);
        if (!file) return shared.fail(file.error(), *output);
        const Result<std::vector<Match>> matches = match_parts(file->zone, file->parts);
        if (!matches) return shared.fail(matches.error(), *output);
        shared.print(*output, matches_of(file->parts, *matches));
        if (exit_code != 0) return;
        std::cout.flush();
        for (std::size_t i = 0; i < matches->size(); ++i)
            if (!(*matches)[i].refused.empty())
                std::cerr << "note: the zone refuses part '" << file->parts[i].name << "': " << (*matches)[i].refused
                          << "\n";
    });
}

}  // namespace zbs::zone_program
