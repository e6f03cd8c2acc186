#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zbs::simulation {

/// Judges whether what several clients saw of one application is linearisable: whether all answers could have come from
/// one application that changes at single instants, each answer at an instant between its question and its arrival.
///
/// The application is a log that the service appends to whenever it likes, with a mark that `cancel` sets; of the rest
/// of an answer (plan, parts, start) nothing is judged here. For such a log the following is necessary and sufficient,
/// and is looked at answer by answer: of any two logs one begins the
/// other, and what has the mark is not the shorter; an answer shows no less than any that had arrived before its
/// question was asked; nothing is not found that was acknowledged before; no mark before a cancel was asked for.
/// Cost: O(length of the log) per answer, independent of the number of answers.
class ObservedHistory {
  public:
    /// What had been seen anywhere at the instant of a question.
    struct Question {
        bool known = false;       ///< that the application exists
        std::size_t entries = 0;  ///< of its log
        bool cancelled = false;   ///< the mark
    };
    Question ask() const { return {known_, longest_.size(), cancelled_}; }
    void ask_to_cancel() { cancel_asked_ = true; }

    /// The answer to a submission, a look or a cancellation. What cannot be; none: nothing.
    std::optional<std::string> found(const Question& question, const std::vector<std::string>& log, bool cancelled);
    std::optional<std::string> not_found(const Question& question) const;

    std::size_t answers() const { return answers_; }

  private:
    bool known_ = false;
    bool cancelled_ = false;
    bool cancel_asked_ = false;
    std::vector<std::string> longest_;
    std::size_t longest_unmarked_ = 0;
    std::optional<std::size_t> shortest_marked_;
    std::size_t answers_ = 0;
};

}  // namespace zbs::simulation
