#include <algorithm>
#include <map>
#include <optional>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/trust/site_policy/account_map.hpp"

namespace zbs {
namespace {

constexpr std::string_view kPoolPrefix = "pool:";
constexpr std::size_t kMaxWords = limits::kMaxPoolAccounts + 3;

std::vector<std::string_view> split_words(std::string_view line) {
    std::vector<std::string_view> words;
    while (words.size() <= kMaxWords) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

/// As it may stand in a message.
std::string quoted(std::string_view word) { return "'" + printable_text(word, 80) + "'"; }

/// 1..64 of [a-z0-9._-] and `*`.
bool is_pattern(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '*';
    });
}

std::optional<std::size_t> number(std::string_view digits) {
    return digits.size() > 5 ? std::nullopt : parse_number<std::size_t>(digits);
}

}  // namespace

/// One pass over the text; pools may be used before the line that makes them.
class AccountMapReader {
  public:
    explicit AccountMapReader(std::string_view file) : file_(file) {}

    Result<AccountMap> read(std::string_view text) {
        if (text.size() > limits::kMaxAccountMapBytes) {
            line_ = 1;
            return too_large("the account map is longer than " + std::to_string(limits::kMaxAccountMapBytes) +
                             " bytes; use patterns and pools instead of a line per user");
        }
        while (!text.empty()) {
            ++line_;
            const std::size_t end = std::min(text.find('\n'), text.size());
            std::string_view line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (auto ok = read_line(line.substr(0, line.find('#'))); !ok) return ok.error();
        }
        if (auto ok = check_pools_used(); !ok) return ok.error();
        if (auto ok = check_single_accounts(); !ok) return ok.error();
        return std::move(map_);
    }

  private:
    Error fault(std::string message, int line = 0) const {
        return invalid(std::move(message), where(line == 0 ? line_ : line));
    }
    Error too_large(std::string message) const { return {ErrorCode::kTooLarge, std::move(message), where(line_)}; }
    std::string where(int line) const { return std::string(file_) + ":" + std::to_string(line); }

    Result<void> read_line(std::string_view line) {
        const std::vector<std::string_view> words = split_words(line);
        if (words.empty()) return {};
        if (words[0] == "pool" && std::find(words.begin(), words.end(), "->") == words.end()) return read_pool(words);
        if (words.size() != 5 || words[3] != "->") {
            return fault(
                "is no line of an account map; write: ORGANISATION USER GROUP -> ACCOUNT | pool:NAME | deny, or: pool "
                "NAME = ACCOUNT...");
        }
        if (map_.lines_.size() >= limits::kMaxAccountMapLines) {
            return too_large("the account map has more than " + std::to_string(limits::kMaxAccountMapLines) +
                             " lines; use patterns and pools instead of a line per user");
        }
        static constexpr const char* kColumns[] = {"organisation", "user", "group"};
        for (std::size_t column = 0; column < 3; ++column) {
            if (!is_pattern(words[column])) {
                return fault(std::string(kColumns[column]) + " " + quoted(words[column]) +
                             " must be 1 to 64 of a-z, 0-9, '.', '_', '-' and '*'");
            }
        }
        Result<AccountDecision> decision = read_target(words[4]);
        if (!decision) return decision.error();
        map_.lines_.push_back({std::string(words[0]), std::string(words[1]), std::string(words[2]), *decision});
        return {};
    }

    Result<AccountDecision> read_target(std::string_view word) const {
        using Kind = AccountDecision::Kind;
        if (word == "deny") return AccountDecision{Kind::kDeny, {}, line_};
        if (word.starts_with(kPoolPrefix)) {
            const std::string_view name = word.substr(kPoolPrefix.size());
            if (!is_valid_name(name)) return bad_pool_name(name);
            return AccountDecision{Kind::kPool, std::string(name), line_};
        }
        if (!is_valid_account(word)) return bad_account(word);
        return AccountDecision{Kind::kAccount, std::string(word), line_};
    }

    Result<void> read_pool(const std::vector<std::string_view>& words) {
        if (words.size() < 4 || words[2] != "=")
            return fault("is no pool; write: pool NAME = ACCOUNT..., for example: pool guests = guest[01-20]");
        if (!is_valid_name(words[1])) return bad_pool_name(words[1]);
        if (map_.pools_.size() >= limits::kMaxAccountPools)
            return too_large("more than " + std::to_string(limits::kMaxAccountPools) + " pools");
        const auto [pool, fresh] = map_.pools_.try_emplace(std::string(words[1]));
        if (!fresh) return fault("pool " + quoted(words[1]) + " is there already; put its accounts on one line");
        for (std::size_t i = 3; i < words.size(); ++i) {
            if (auto ok = add_accounts(words[i], pool->first, pool->second); !ok) return ok;
        }
        return {};
    }

    /// One account, or `name[01-20]`.
    Result<void> add_accounts(std::string_view word, const std::string& pool, std::vector<AccountName>& accounts) {
        const std::size_t open = word.find('[');
        if (open == std::string_view::npos) return add_account(std::string(word), pool, accounts);
        const std::size_t dash = std::min(word.find('-', open), word.size() - 1);
        const std::string_view low = word.substr(open + 1, dash - open - 1);
        const std::string_view high = word.substr(dash + 1, word.size() - dash - 2);
        const auto first = number(low), last = number(high);
        const bool padded = low.size() > 1 && low[0] == '0';
        if (!word.ends_with(']') || !first || !last || *first > *last || high.size() < low.size() ||
            (padded && high.size() != low.size())) {
            return fault("range " + quoted(word) +
                         " must be NAME[FIRST-LAST], numbers of at most 5 digits, FIRST <= LAST, both as long where "
                         "FIRST starts with 0");
        }
        for (std::size_t n = *first; n <= *last; ++n) {
            std::string digits = std::to_string(n);
            if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
            if (auto ok = add_account(std::string(word.substr(0, open)) + digits, pool, accounts); !ok) return ok;
        }
        return {};
    }

    Result<void> add_account(std::string account, const std::string& pool, std::vector<AccountName>& accounts) {
        if (!is_valid_account(account)) return bad_account(account);
        if (accounts.size() >= limits::kMaxPoolAccounts) {
            return too_large("pool '" + pool + "' has more than " + std::to_string(limits::kMaxPoolAccounts) +
                             " accounts");
        }
        if (pool_of_.size() >= limits::kMaxMappedAccounts)
            return too_large("more than " + std::to_string(limits::kMaxMappedAccounts) + " accounts in pools");
        const auto [at, fresh] = pool_of_.emplace(account, pool);
        if (!fresh) {
            return fault("account '" + account + "' is in pool '" + at->second +
                         "' already; two users would meet in it");
        }
        accounts.emplace_back(std::move(account));
        return {};
    }

    Result<void> check_pools_used() const {
        std::vector<std::string_view> names;
        for (const auto& [name, accounts] : map_.pools_) names.push_back(name);
        for (const AccountMap::Line& line : map_.lines_) {
            const AccountDecision& target = line.decision;
            if (target.kind != AccountDecision::Kind::kPool || map_.pools_.contains(target.name)) continue;
            const std::string remedy =
                names.empty() ? "; make it: pool " + target.name + " = ACCOUNT..." : did_you_mean(target.name, names);
            return fault("pool '" + target.name + "' is nowhere in this map" + remedy, target.line);
        }
        return {};
    }

    Result<void> check_single_accounts() const {
        for (const AccountMap::Line& line : map_.lines_) {
            if (line.decision.kind != AccountDecision::Kind::kAccount) continue;
            if (const auto at = pool_of_.find(line.decision.name); at != pool_of_.end()) {
                return fault("account '" + at->first + "' is in pool '" + at->second +
                                 "'; two users would meet in it; name the pool or take the account out of it",
                             line.decision.line);
            }
        }
        return {};
    }

    Error bad_account(std::string_view word) const {
        return fault("account " + quoted(word) +
                     " must be 1 to 32 of a-z, 0-9, '_' and '-', start with a letter or '_', and must not be the "
                     "administrator's");
    }
    Error bad_pool_name(std::string_view word) const {
        return fault("pool name " + quoted(word) + " must be 1 to 64 of a-z, 0-9, '.', '_' and '-'");
    }

    std::string_view file_;
    int line_ = 0;
    AccountMap map_;
    std::map<std::string, std::string, std::less<>> pool_of_;  ///< account -> pool
};

Result<AccountMap> AccountMap::parse(std::string_view text, std::string_view file) {
    return AccountMapReader(file).read(text);
}

}  // namespace zbs
