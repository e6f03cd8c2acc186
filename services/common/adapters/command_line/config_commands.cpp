#include "services/common/adapters/command_line/config_commands.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <utility>

#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/codec/command_codec.hpp"
#include "services/common/listing/setting_listing.hpp"

namespace zbs::command_line {
namespace {

void check(const ConfigSource& source, const Output& output) {
    if (const Result<void> good = output.check(); !good) return source.fail(good.error(), output, 2);
    const auto read = source.read();
    if (!read) return source.fail(read.error(), output, 1);
    const Result<void> good = source.check();
    const std::vector<std::string> notes = source.notes();
    for (const std::string& note : notes) std::cerr << "note: " << listing::harmless_line(note) << "\n";
    if (!good) return source.fail(good.error(), output, 1);
    std::string names;
    for (const std::string& file : read->files) names += (names.empty() ? "" : ", ") + listing::harmless_line(file);
    output.print_document(codec::encode_checked_settings(read->values.size(), read->files, notes),
                          "good: " + std::to_string(read->values.size()) + " settings, of " + names + "\n");
}

void show(const ConfigSource& source, const Output& output, bool with_origin) {
    if (const Result<void> good = output.check(); !good) return source.fail(good.error(), output, 2);
    const auto read = source.read();
    if (!read) return source.fail(read.error(), output, exit_code_of(read.error()));
    if (const auto printed = output.print(listing::settings_of(read->values, with_origin)); !printed)
        source.fail(printed.error(), output, 2);
}

}  // namespace

void add_config_commands(CLI::App& cli, ConfigSource source) {
    CLI::App* const config = cli.add_subcommand("config", "the configuration file and its parts");
    config->require_subcommand(1);
    const std::string file = " --config " + source.file;
    CLI::App* const checking = config->add_subcommand(
        "check",
        "whether the service could start with it, or go on after SIGHUP: the first fault with file and line, and exit "
        "code 1. Changes nothing\n\nExample: " +
            source.program + " config check" + file);
    CLI::App* const showing = config->add_subcommand(
        "show", "every setting that is in force, those that nobody has set, too; passwords are left out\n\nExample: " +
                    source.program + " config show --origin" + file + "\nExample: " + source.program +
                    " config show --filter origin!=default" + file);
    const auto checked = std::make_shared<Output>(Output::Kind::kDocument);
    checked->add_to(*checking);
    const auto output = std::make_shared<Output>(Output::Kind::kList);
    output->add_to(*showing, listing::settings_of({}, false));
    const auto with_origin = std::make_shared<bool>(false);
    showing->add_flag("--origin", *with_origin, "with the file and line that each stands in, or default");
    const auto shared = std::make_shared<const ConfigSource>(std::move(source));
    checking->callback([shared, checked] { check(*shared, *checked); });
    showing->callback([shared, output, with_origin] { show(*shared, *output, *with_origin); });
}

}  // namespace zbs::command_line
