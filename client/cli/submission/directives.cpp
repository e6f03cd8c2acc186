#include "client/cli/submission/directives.hpp"

#include <algorithm>
#include <cctype>

namespace zbs::cli {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The mark of another scheduler with which a line begins: "#SBATCH". Of a letter that is no name, as in "#$ -N x" of
/// Grid Engine, a blank must follow.
std::string_view foreign_mark(std::string_view line) {
    for (const std::string_view mark : {"#SBATCH", "#PBS", "#BSUB", "#$", "#COBALT", "#MSUB", "#OAR", "#PJM", "#QSUB",
                                        "#flux:", "#FLUX:", "#@", "#CONDOR"})
        if (line.starts_with(mark) && (line.size() == mark.size() || is_blank(line[mark.size()]))) return mark;
    return {};
}

/// The options of a comment that is no "#ZBS" line for its blanks or small letters only: of "# zbs -n 2" and "#ZBS-n 2"
/// "-n 2". Empty of other comments, also of "# zbs-zone", "# zbs - text" and "##ZBS -n 2".
std::string_view mistyped_options(std::string_view line) {
    const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    const auto is_letter = [&line](std::size_t at) {
        return at < line.size() && std::isalpha(static_cast<unsigned char>(line[at])) != 0;
    };
    skip_blanks();
    line.remove_prefix(1);  // the #
    skip_blanks();
    for (const char letter : {'z', 'b', 's'}) {
        if (!is_letter(0) || std::tolower(static_cast<unsigned char>(line[0])) != letter) return {};
        line.remove_prefix(1);
    }
    skip_blanks();
    const bool is_short = line.starts_with('-') && is_letter(1) && !is_letter(2);
    const bool is_long = line.starts_with("--") && is_letter(2);
    return is_short || is_long ? line : std::string_view{};
}

/// The words of a line as a shell would take them, without expansion. Errors without a place.
Result<std::vector<std::string>> split_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // Between "..." a backslash stays in front of letters that have no meaning there.
        const bool escapes = quote == 0 || (quote == '"' && i + 1 < text.size() &&
                                            std::string_view("$`\"\\").find(text[i + 1]) != std::string_view::npos);
        if (c == '\\' && escapes) {
            if (++i == text.size()) return invalid("the backslash at the end of the line has nothing behind it");
            word += text[i];
            in_word = true;
        } else if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (is_blank(c)) {
            if (in_word) words.push_back(std::move(word));
            word.clear();
            in_word = false;
        } else if (c == '#' && !in_word) {
            break;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (quote != 0) return invalid(std::string("the quote ") + quote + " does not end");
    if (in_word) words.push_back(std::move(word));
    return words;
}

}  // namespace

Result<ScriptHead> read_script_head(std::string_view text) {
    ScriptHead head;
    const bool whole = text.size() <= kMaxScriptHead;
    text = text.substr(0, kMaxScriptHead);
    if (!text.starts_with("#!") || text.find('\0') != std::string_view::npos) return head;
    head.is_script = true;
    std::size_t number = 0;
    bool is_below = false;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos && !whole) break;
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto first = std::ranges::find_if_not(line, is_blank);
        if (first == line.end()) continue;
        constexpr std::string_view kMark = "#ZBS";
        const bool is_ours = line.starts_with(kMark) && (line.size() == kMark.size() || is_blank(line[kMark.size()]));
        is_below = is_below || *first != '#';  // the first command
        if (is_below) {
            if (!is_ours) continue;
            head.too_late = number;
            break;
        }
        if (const std::string mark(foreign_mark(line));
            !mark.empty() && std::ranges::find(head.foreign, mark) == head.foreign.end())
            head.foreign.push_back(mark);
        if (!is_ours) {
            if (const std::string_view options = mistyped_options(line); !options.empty())
                head.mistyped.push_back({number, std::string(options)});
            continue;
        }
        const std::string where = "line " + std::to_string(number);
        Result<std::vector<std::string>> words = split_words(line.substr(kMark.size()));
        if (!words) return invalid(words.error().message, where);
        if (words->empty()) continue;
        if (head.directives.size() == kMaxDirectives)
            return invalid("more than " + std::to_string(kMaxDirectives) + " directives", where);
        head.directives.push_back({number, *std::move(words)});
    }
    return head;
}

}  // namespace zbs::cli
