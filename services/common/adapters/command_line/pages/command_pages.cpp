#include "services/common/adapters/command_line/pages/command_pages.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "services/common/adapters/command_line/pages/completion.hpp"
#include "services/common/adapters/command_line/values.hpp"

namespace zbs::command_line {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush())
        throw std::filesystem::filesystem_error("cannot write", path, std::make_error_code(std::errc::io_error));
}

void write_pages(const Command& command, const Command& program, const ManualEdition& edition,
                 const std::filesystem::path& folder) {
    write(folder / (page_name(command) + "." + std::to_string(edition.section)), man_page(command, program, edition));
    for (const Command& sub : command.commands) write_pages(sub, program, edition, folder);
}

void write_all(const Command& program, const ManualEdition& edition, const std::filesystem::path& folder) {
    write_pages(program, program, edition, folder / "man");
    write(folder / "completions/bash" / program.name, completion_script(program));
}

bool has_name(const CLI::App& command, const std::string& name) {
    const auto options = command.get_options();
    return std::ranges::any_of(options, [&](const CLI::Option* option) { return option->check_name(name); });
}

/// At the end of the help of each command: a note that there are more options, and which page explains them.
void point_to_options_of_all(CLI::App& command, const CLI::App& root, const std::string& program) {
    std::string names;
    for (const CLI::Option* option : root.get_options()) {
        if (option == root.get_help_ptr() || option == root.get_version_ptr() || option->get_group().empty()) continue;
        std::vector<std::string> own;
        for (const std::string& name : option->get_snames()) own.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) own.push_back("--" + name);
        std::erase_if(own, [&](const std::string& name) { return has_name(command, name); });
        for (const std::string& name : own) names += (&name == &own[0] ? " " : ",") + name;
    }
    if (!names.empty()) command.footer("Options of all commands, as '" + program + " --help' describes them:" + names);
    for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; }))
        point_to_options_of_all(*sub, root, program);
}

}  // namespace

void add_page_commands(CLI::App& app, const std::string& program, const ManualEdition& edition, int& exit_code) {
    CLI::App* const completion = app.add_subcommand(
        "completion", "a script that completes commands and options in your shell\n\nExample: " + program +
                          " completion bash > ~/.local/share/bash-completion/completions/" + program);
    auto shell = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "which shell")->required()->check(one_of({"bash"}));
    completion->callback([&app, &exit_code, program, shell] {
        std::cout << completion_script(command_tree(app, program)) << std::flush;
        exit_code = std::cout ? 0 : 1;
    });
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
        point_to_options_of_all(*sub, app, program);
    CLI::App* const pages = app.add_subcommand("pages", "man pages and completions, for packages")->group("");
    auto folder = std::make_shared<std::string>();
    pages->add_option("FOLDER", *folder, "where to")->required();
    pages->callback([&app, &exit_code, program, edition, folder] {
        try {
            write_all(command_tree(app, program), edition, *folder);
            exit_code = 0;
        } catch (const std::filesystem::filesystem_error& fault) {
            std::cerr << program << ": " << fault.what() << "\n";
            exit_code = 1;
        }
    });
}

}  // namespace zbs::command_line
