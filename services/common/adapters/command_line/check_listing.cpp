#include "services/common/adapters/command_line/check_listing.hpp"

#include "services/common/adapters/command_line/check_codec.hpp"
#include "services/common/adapters/command_line/terminal.hpp"

namespace zbs::command_line {

using listing::harmless_line;

listing::Listing listing_of(const std::vector<Check>& checks) {
    listing::Listing listing{"checks", {"CHECK", "VERDICT", "FOUND", "REMEDY"}};
    for (const Check& check : checks) {
        listing.rows.push_back({check.name, to_string(check.verdict), check.found, check.remedy});
        listing.items.push_back(encode(check));
    }
    return listing;
}

std::string text_of(const std::vector<Check>& checks, bool has_colour) {
    std::string text;
    for (const Check& check : checks) {
        const Colour colour = check.verdict == CheckResult::kOk     ? Colour::kGreen
                              : check.verdict == CheckResult::kWarn ? Colour::kYellow
                                                                    : Colour::kRed;
        const std::string word = to_string(check.verdict);
        text += coloured(word, colour, has_colour) + std::string(6 - word.size(), ' ') + harmless_line(check.name) +
                ": " + harmless_line(check.found) + "\n";
        if (!check.remedy.empty()) text += "      -> " + harmless_line(check.remedy) + "\n";
    }
    return text;
}

}  // namespace zbs::command_line
