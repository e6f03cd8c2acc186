#pragma once
#include <array>
#include <cstdio>
#include <string>

#include "algorithms/model/workload.hpp"
#include "studies/claims/claim.hpp"
#include "studies/claims/samples.hpp"

// What the studies of [DaSilva2000] have in common.
namespace zbs::claims::dasilva {

/// `text` with kUndefined in place of what printf makes of numbers that there are not.
std::string without_nan(std::string text);

template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::array<char, 512> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return without_nan(text.data());
}

/// The stream of example_size_classes(), sizes up to the machine: the thesis's own has no public parameters.
Workload jann_workload(std::int32_t processors, std::int64_t jobs, std::uint64_t seed, double gap_factor = 1);

/// Collects the claims of one study.
class Findings {
  public:
    explicit Findings(const Effort& effort) : effort_(effort) {}
    Part take() { return std::move(part_); }

  protected:
    /// What is to be known of every claim that follows.
    void note(std::string text) { note_ = std::move(text); }
    const Effort& effort() const { return effort_; }
    /// Spreads are in `ours`, as "mean ± deviation".
    void add(std::string id, std::string claim, std::string published, std::string ours, const Conditions& conditions,
             const Reason& reason = {}, std::string see = {}, std::string_view remark = {});
    /// `text` in CSV.
    void add_table(const std::string& name, std::string text);

  private:
    const Effort& effort_;
    std::string note_;
    Part part_;
};

}  // namespace zbs::claims::dasilva
