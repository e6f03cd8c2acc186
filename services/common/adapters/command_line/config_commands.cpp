#include "services/common/adapters/command_line/config_commands.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <utility>

#include "services/common/codec/service_codec.hpp"
#include "services/common/listing/setting_listing.hpp"

namespace zbs::command_line {
namespace {

void check(const OperatorCommand& shared, const Output& output, const ConfigSource& source) {
    if (!shared.can_begin(output)) return;
    const auto read = source.read();
    if (!read) return shared.not_well(read.error(), output);
    std::vector<std::string> notes;
    const Result<void> good = source.check(notes);
    for (const std::string& note : notes) std::cerr << "note: " << listing::harmless_line(note) << "\n";
    if (!good) return shared.not_well(good.error(), output);
    std::string names;
    for (const std::string& file : read->files) names += (names.empty() ? "" : ", ") + listing::harmless_line(file);
    output.print_document(codec::encode_checked_settings(read->values.size(), read->files, notes),
                          "good: " + std::to_string(read->values.size()) + " settings, of " + names + "\n");
}

Result<void> show(const OperatorCommand& shared, const Output& output, const ConfigSource& source, bool with_origin) {
    const auto read = source.read();
    if (!read) return read.error();
    shared.print(output, listing::settings_of(read->values, with_origin));
    return {};
}

}  // namespace

void add_config_commands(CLI::App& cli, const OperatorCommand& shared, ConfigSource source) {
    CLI::App* const config = cli.add_subcommand("config", "the configuration file and its parts");
    config->require_subcommand(1);
    const std::string example = std::string("\n\nExample: ") + shared.program + " config ";
    const std::string file = " --config " + source.file;
    CLI::App* const checking = config->add_subcommand(
        "check",
        "whether the service could start with it, or go on after SIGHUP: the first fault with file and line, and exit "
        "code 1. Changes nothing" +
            example + "check" + file);
    CLI::App* const showing = config->add_subcommand(
        "show", "every setting that is in force, those that nobody has set, too; passwords are left out" + example +
                    "show --origin" + file + example.substr(1) + "show --filter origin!=default" + file);
    const auto checked = std::make_shared<Output>(Output::Kind::kDocument);
    checked->add_to(*checking);
    const auto output = std::make_shared<Output>(Output::Kind::kList);
    output->add_to(*showing, listing::settings_of({}, false));
    const auto with_origin = std::make_shared<bool>(false);
    showing->add_flag("--origin", *with_origin, "with the file and line that each stands in, or default");
    const auto kept = std::make_shared<const ConfigSource>(std::move(source));
    checking->callback([shared, checked, kept] { check(shared, *checked, *kept); });
    showing->callback([shared, output, kept, with_origin] {
        shared.run(*output, [&] { return show(shared, *output, *kept, *with_origin); });
    });
}

}  // namespace zbs::command_line
