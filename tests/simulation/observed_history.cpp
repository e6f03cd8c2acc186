#include "tests/simulation/observed_history.hpp"

#include <algorithm>

namespace zbs::simulation {

std::optional<std::string> ObservedHistory::found(const Question& question, const std::vector<std::string>& log,
                                                  bool cancelled) {
    ++answers_;
    known_ = true;
    const auto common = static_cast<std::ptrdiff_t>(std::min(log.size(), longest_.size()));
    const auto [mine, theirs] = std::mismatch(log.begin(), log.begin() + common, longest_.begin());
    if (mine != log.begin() + common)
        return "its history was " + *theirs + " and is " + *mine + " at change " +
               std::to_string(mine - log.begin() + 1);
    if (log.size() < question.entries)
        return "an answer shows " + std::to_string(log.size()) +
               " changes, one that had come before it was asked for " + std::to_string(question.entries);
    if (question.cancelled && !cancelled) return "an answer forgets that it was cancelled";
    if (cancelled && !cancel_asked_) return "it is cancelled and nobody has asked for that";
    if (cancelled)
        shortest_marked_ = std::min(shortest_marked_.value_or(log.size()), log.size());
    else
        longest_unmarked_ = std::max(longest_unmarked_, log.size());
    if (shortest_marked_ && longest_unmarked_ > *shortest_marked_)
        return "it was cancelled after " + std::to_string(*shortest_marked_) + " changes, and not yet after " +
               std::to_string(longest_unmarked_);
    if (log.size() > longest_.size()) longest_ = log;
    cancelled_ = cancelled_ || cancelled;
    return std::nullopt;
}

std::optional<std::string> ObservedHistory::not_found(const Question& question) const {
    if (!question.known) return std::nullopt;
    return "it is not found, though an answer that had come before showed it";
}

}  // namespace zbs::simulation
