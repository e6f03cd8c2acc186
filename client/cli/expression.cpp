#include "client/cli/expression.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"

namespace zbs::cli {
namespace {

constexpr std::string_view kWordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/@+";

/// The numbers of "4.1.10"; none where it is no version. `may_end` allows what follows them, as in "4.2rc1".
std::optional<std::vector<std::uint64_t>> version_of(std::string_view text, bool may_end) {
    std::vector<std::uint64_t> parts;
    for (;;) {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        const auto number = parse_number<std::uint64_t>(text.substr(0, digits));
        if (!number) return std::nullopt;
        parts.push_back(*number);
        text.remove_prefix(digits);
        const bool goes_on = text.size() > 1 && text[0] == '.' && text[1] >= '0' && text[1] <= '9';
        if (!goes_on) break;
        text.remove_prefix(1);
    }
    if (!text.empty() && !may_end) return std::nullopt;
    while (parts.size() > 1 && parts.back() == 0) parts.pop_back();
    return parts;
}

bool compares(const std::string& have, const std::string& operation, const std::string& want) {
    const auto right = version_of(want, false);
    const auto left = right ? version_of(have, true) : std::nullopt;
    if (operation == "=" || operation == "!=") return left ? left == right : have == want;
    if (!left) return false;
    if (operation == "<") return *left < *right;
    if (operation == "<=") return *left <= *right;
    if (operation == ">") return *left > *right;
    return *left >= *right;
}

}  // namespace

class ExpressionParser {
  public:
    ExpressionParser(std::string_view text, std::span<const std::string_view> names) : text_(text), names_(names) {}

    Result<Expression> parse() {
        if (text_.size() > Expression::kMaxBytes)
            return Error{ErrorCode::kTooLarge, "is longer than " + std::to_string(Expression::kMaxBytes) + " bytes",
                         "--where"};
        next();
        expression_.root_ = either(0);
        if (!error_.has_value() && now_.kind != Token::Kind::kEnd)
            fail(now_, "'and', 'or' or the end is expected here");
        if (error_) return *error_;
        return std::move(expression_);
    }

  private:
    struct Token {
        enum class Kind { kEnd, kWord, kText, kSign } kind = Kind::kEnd;
        std::string text;
        std::size_t at = 0;  ///< byte
        bool is(std::string_view word) const { return (kind == Kind::kWord || kind == Kind::kSign) && text == word; }
    };
    using Node = Expression::Node;
    using Kind = Expression::Kind;
    static constexpr int kMaxDepth = 100;

    /// Keeps the first fault; what follows comes to an end without another.
    std::size_t fail(const Token& at, const std::string& message) {
        if (!error_) {
            const std::string_view before = text_.substr(0, at.at);
            const auto characters = 1 + std::ranges::count_if(before, [](char c) {
                                        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
                                    });
            const std::string place = at.kind == Token::Kind::kEnd ? " (the end)" : ", '" + at.text + "'";
            error_ = invalid("character " + std::to_string(characters) + place + ": " + message, "--where");
        }
        now_ = {};
        at_ = text_.size();
        return 0;
    }

    void next() {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        now_ = {Token::Kind::kEnd, "", at_};
        if (at_ == text_.size()) return;
        const char c = text_[at_];
        if (c == '\'' || c == '"') {
            const std::size_t end = text_.find(c, at_ + 1);
            if (end == std::string_view::npos) {
                now_ = {Token::Kind::kText, std::string(1, c), at_};
                fail(Token(now_), "this quote is not closed");
                return;
            }
            now_ = {Token::Kind::kText, std::string(text_.substr(at_ + 1, end - at_ - 1)), at_};
            at_ = end + 1;
            return;
        }
        const std::size_t word = std::min(text_.find_first_not_of(kWordBytes, at_), text_.size()) - at_;
        const bool is_double =
            at_ + 1 < text_.size() && text_[at_ + 1] == '=' && (c == '<' || c == '>' || c == '!' || c == '=');
        const std::size_t length = word > 0 ? word : is_double ? 2 : 1;
        now_ = {word > 0 ? Token::Kind::kWord : Token::Kind::kSign, std::string(text_.substr(at_, length)), at_};
        at_ += length;
    }

    std::size_t add(Node node) {
        expression_.nodes_.push_back(std::move(node));
        return expression_.nodes_.size() - 1;
    }

    std::size_t either(int depth) {
        std::size_t left = both(depth);
        while (now_.is("or")) {
            next();
            left = add({Kind::kOr, left, both(depth), {}, {}, {}});
        }
        return left;
    }
    std::size_t both(int depth) {
        std::size_t left = one(depth);
        while (now_.is("and")) {
            next();
            left = add({Kind::kAnd, left, one(depth), {}, {}, {}});
        }
        return left;
    }
    std::size_t one(int depth) {
        if (depth > kMaxDepth) return fail(now_, "more than " + std::to_string(kMaxDepth) + " levels");
        if (now_.is("not")) {
            next();
            return add({Kind::kNot, one(depth + 1), 0, {}, {}, {}});
        }
        if (!now_.is("(")) return comparison();
        const Token open = now_;
        next();
        const std::size_t inner = either(depth + 1);
        if (error_) return 0;
        if (!now_.is(")")) return fail(open, "this parenthesis is not closed");
        next();
        return inner;
    }

    std::size_t comparison() {
        const Token name = now_;
        if (name.kind != Token::Kind::kWord || is_reserved(name))
            return fail(name, "an attribute is expected here: " + joined(names_, ", "));
        if (std::ranges::find(names_, name.text) == names_.end())
            return fail(name, "there is no such attribute" + did_you_mean(name.text, names_));
        next();
        const Token sign = now_;
        static constexpr std::string_view kSigns[] = {"=", "!=", "<", "<=", ">", ">="};
        if (error_) return 0;
        if (sign.kind != Token::Kind::kSign || std::ranges::find(kSigns, sign.text) == std::end(kSigns))
            return fail(sign, "=, !=, <, <=, > or >= is expected behind '" + name.text + "'");
        next();
        const Token value = now_;
        if (error_) return 0;
        if (value.kind != Token::Kind::kText && (value.kind != Token::Kind::kWord || is_reserved(value)))
            return fail(value,
                        "a value is expected behind '" + sign.text + "'; one that is no plain word stands in quotes");
        if (sign.text.find_first_of("<>") != std::string::npos && !version_of(value.text, false))
            return fail(value, "'" + sign.text + "' needs a number or a version, as 4 or 4.1.2");
        next();
        return add({Kind::kCompare, 0, 0, name.text, sign.text, value.text});
    }

    static bool is_reserved(const Token& token) { return token.is("and") || token.is("or") || token.is("not"); }

    std::string_view text_;
    std::span<const std::string_view> names_;
    std::size_t at_ = 0;
    Token now_;
    Expression expression_;
    std::optional<Error> error_;
};

Result<Expression> Expression::parse(std::string_view text, std::span<const std::string_view> names) {
    return ExpressionParser(text, names).parse();
}

std::set<std::string_view> Expression::names() const {
    std::set<std::string_view> used;
    for (const Node& node : nodes_)
        if (node.kind == Kind::kCompare) used.insert(node.name);
    return used;
}

bool Expression::holds(const Attributes& thing, std::size_t at) const {
    const Node& node = nodes_[at];
    switch (node.kind) {
        case Kind::kNot:
            return !holds(thing, node.left);
        case Kind::kAnd:
            return holds(thing, node.left) && holds(thing, node.right);
        case Kind::kOr:
            return holds(thing, node.left) || holds(thing, node.right);
        case Kind::kCompare:
            break;
    }
    const auto [begin, end] = thing.equal_range(node.name);
    const bool is_found = std::any_of(
        begin, end, [&](const auto& attribute) { return compares(attribute.second, node.operation, node.value); });
    return is_found != (node.operation == "!=");
}

}  // namespace zbs::cli
