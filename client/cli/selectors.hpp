#pragma once
#include <string>
#include <vector>

#include "client/cli/context.hpp"

/// How a command line names applications: by an id; `last`, the newest of the caller's; `name=PATTERN`, the caller's
/// whose name is like it (*, ? and [a-z] as in a shell); and where a command takes several, `all` of the caller's that
/// have not ended.
namespace zbs::cli {

/// What a pattern of names, or `all`, means.
enum class SelectionMode {
    kNewest,          ///< the newest of that name; no `all`
    kOpen,            ///< those that have not ended
    kOpenElseNewest,  ///< likewise; of a name that has only ended ones, the newest
};

/// Whether each word can name applications; else says which cannot. Nothing is asked for that.
bool check_selectors(Context& context, const std::vector<std::string>& words, SelectionMode mode);

/// The ids, each once, in the order of the words; none where `all` is the only word and nothing is open. Errors:
/// kNotFound (nothing is named so), those of a call.
Result<std::vector<std::string>> find_selected(const Context& context, client::ZoneClient& zone,
                                               const std::vector<std::string>& words, SelectionMode mode);

/// Whether a word may name more applications than its writer thinks of.
bool may_name_many(const std::vector<std::string>& words);

/// The option or argument `id` of a command, with what completion offers for it.
void add_selector(CLI::App& command, std::string& id);
void add_selectors(CLI::App& command, std::vector<std::string>& ids);

}  // namespace zbs::cli
