#include "services/common/adapters/command_line/offers.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

namespace zbs::command_line {
namespace {

/// An option has no place of its own for this. A check that is not active checks nothing, and is not shown.
constexpr const char* kCarrier = "offers";

}  // namespace

void offer(CLI::Option* option, const Offers& offers) {
    std::string text = std::string(offers.is_list ? "list" : "one") + " " + (offers.is_file_too ? "file" : "word") +
                       " " + (offers.kind.empty() ? "-" : offers.kind);
    for (const std::string& word : offers.words) text += " " + word;
    CLI::Validator carrier([](std::string&) { return std::string{}; }, text, kCarrier);
    option->check(carrier.active(false));
}

Offers offers_of(const CLI::Option& option) {
    try {
        // get_validator is no const function, though it changes nothing.
        CLI::Validator carrier = *const_cast<CLI::Option&>(option).get_validator(kCarrier);
        std::istringstream text(carrier.active(true).get_description());
        std::string list, file;
        Offers offers;
        text >> list >> file >> offers.kind;
        offers.is_list = list == "list";
        offers.is_file_too = file == "file";
        if (offers.kind == "-") offers.kind.clear();
        for (std::string word; text >> word;) offers.words.push_back(word);
        return offers;
    } catch (const CLI::OptionNotFound&) {
        return {};
    }
}

}  // namespace zbs::command_line
