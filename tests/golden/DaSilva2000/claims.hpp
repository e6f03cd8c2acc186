#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zbs::claims {

/// How much is run. The golden test runs `quick`, the committed page is made with `full`.
struct Effort {
    int seeds = 10;
    double horizon = 1;                 ///< times the thesis's horizons
    double talking_horizon = 0.25;      ///< the same for workloads that communicate every 5 ms: four million events a
                                        ///< simulated minute
    std::int64_t packed_jobs = 30'000;  ///< of the thesis's packing experiment
    int random_sets = 6000;             ///< for the bounds of theorem 4

    static Effort full() { return {}; }
    static Effort quick() { return {2, 0.03, 0.01, 1000, 300}; }
};

/// One claim of [DaSilva2000] beside what we find.
struct Claim {
    std::string id;
    std::string claim;
    std::string published;
    std::string ours;
    std::string verdict;  ///< holds, partly, not
    std::string reason;   ///< where it does not hold
};
struct Table {
    std::string name;  ///< file name without .csv
    std::string text;
};
struct Report {
    std::vector<Claim> claims;
    std::vector<Table> tables;
};

/// A pure function of `effort`. `progress` is told what comes next.
Report make_report(const Effort& effort, const std::function<void(std::string_view)>& progress = {});
/// The report as one text: the claims as a table, and how they were obtained.
std::string page_of(const Report& report, const Effort& effort);
/// The same, followed by the tables.
std::string whole_text_of(const Report& report, const Effort& effort);

}  // namespace zbs::claims
