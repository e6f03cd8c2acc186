#pragma once
#include <array>
#include <cstdio>
#include <initializer_list>
#include <string>

#include "algorithms/model/workload.hpp"
#include "studies/claims/claim.hpp"
#include "studies/claims/samples.hpp"

// What the studies of [DaSilva2000] have in common.
namespace zbs::claims::dasilva {

template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::array<char, 512> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
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
    /// `parts`: the claim holds if all of them do; where not, `reason` explains why. Spreads are in `ours`, as "mean ±
    /// deviation". `test`: of tests/golden/DaSilva2000 where empty.
    void add(std::string id, std::string claim, std::string published, std::string ours,
             std::initializer_list<bool> parts, std::string_view reason, std::string test = {});
    void add(Claim claim) { part_.claims.push_back(std::move(claim)); }
    /// `text` in CSV.
    void add_table(const std::string& name, std::string text);

  private:
    const Effort& effort_;
    std::string note_;
    Part part_;
};

}  // namespace zbs::claims::dasilva
