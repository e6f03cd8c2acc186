#include "services/common/adapters/command_line/command_pages.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "services/common/adapters/command_line/completion.hpp"

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
    write(folder / "completions/bash" / program.name, completion_script(program, Shell::kBash));
    write(folder / "completions/zsh" / ("_" + program.name), completion_script(program, Shell::kZsh));
    write(folder / "completions/fish" / (program.name + ".fish"), completion_script(program, Shell::kFish));
}

}  // namespace

void add_page_commands(CLI::App& app, const std::string& program, const ManualEdition& edition, int& exit_code) {
    CLI::App* const completion = app.add_subcommand(
        "completion", "a script that completes commands and options in your shell\n\nExample: " + program +
                          " completion bash > ~/.local/share/bash-completion/completions/" + program);
    auto shell = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "which shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->callback([&app, &exit_code, program, shell] {
        std::cout << completion_script(command_tree(app, program), *parse_shell(*shell)) << std::flush;
        exit_code = std::cout ? 0 : 1;
    });
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
