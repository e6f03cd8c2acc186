#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/random_variates.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/model/workload.hpp"

namespace zbs {

/// What all generators share. Every generator is a pure function of its options; times and run times are whole seconds,
/// so that a workload written as SWF is the same workload.
struct GeneratorOptions {
    std::int64_t jobs = 10'000;     ///< 0 .. kMaxGeneratedJobs
    std::int32_t processors = 128;  ///< of the machine
    /// Users ask for the run time times a uniform number in 1 .. this; 1: exact estimates. At most 1000.
    double most_overestimate = 1;
    std::uint64_t seed = 1;
};
inline constexpr std::int64_t kMaxGeneratedJobs = 50'000'000;
/// Longest run time and mean gap, in seconds; a walltime may be most_overestimate times as long.
inline constexpr double kMaxGeneratedRuntime_s = 1e9;

/// Errors of all generators, kInvalidArgument: an option out of its range, named; kTooLarge: submit times beyond 1e12
/// s.

/// Sizes, run times and gaps uniform, each independent of the others.
struct UniformWorkload {
    GeneratorOptions common;
    std::int32_t least_size = 1;
    std::int32_t most_size = 0;  ///< 0: the machine
    std::int64_t least_runtime_s = 1;
    std::int64_t most_runtime_s = 7200;
    double mean_gap_s = 3600;  ///< between submissions: uniform in 0 .. twice this
};
Result<Workload> generate(const UniformWorkload& options);

/// The model of [Feitelson1996, section 2]: harmonic sizes with powers of two preferred, two-stage hyperexponential run
/// times that grow with the size, and jobs that are run again and again by their users. Which sizes the paper prefers,
/// and how much, it tailors by hand; here it is powers of two by one factor. The unit of its run times is open; here it
/// is `unit_s`.
struct Feitelson96Workload {
    GeneratorOptions common;
    double size_order = 1.5;         ///< the probability of size n falls as n^-order
    double power_of_two_weight = 8;  ///< times that of its neighbours, >= 1
    double unit_s = 600;             ///< run times have means of short_mean and long_mean units
    double short_mean = 1;
    double long_mean = 7;
    /// The probability of the short stage is base - slope * n / processors.
    double short_base = 0.95;
    double short_slope = 0.20;
    double repeat_order = 2.5;       ///< a job is run r times with probability proportional to r^-order
    std::int32_t most_repeats = 64;  ///< 1: every job once
    double mean_gap_s = 1200;        ///< of the Poisson stream of first runs
};
/// A repeated run has the size and the run time of the first, is submitted when the one before it would have ended on
/// an empty machine, and has the same `Job::user`.
Result<Workload> generate(const Feitelson96Workload& options);

/// The model of [LublinFeitelson2003]: sizes two-stage uniform in their logarithm, run times hyper-gamma in theirs with
/// a branch that depends on the size, gaps gamma in theirs with a daily cycle in half hours. The parameters of the
/// authors' program m_lublin99.
struct LublinWorkload {
    enum class Types : std::uint8_t {
        kAll,    ///< one stream with the parameters of all jobs together
        kBatch,  ///< batch jobs only, as the next
        kInteractive,
        kBoth,  ///< two streams; `Job::queue` distinguishes them as in m_lublin99: 0 interactive, 1 batch
    };
    GeneratorOptions common;
    Types types = Types::kAll;
    double gap_factor = 1;  ///< stretches the time between submissions, not the days: divides the load
};
Result<Workload> generate(const LublinWorkload& options);

/// One range of sizes of a hyper-Erlang workload.
struct SizeClass {
    std::int32_t least = 1;  ///< processors, 1 <= least <= most
    std::int32_t most = 1;
    HyperErlang gap;      ///< seconds between submissions of this class
    HyperErlang runtime;  ///< seconds
    std::int64_t memory_bytes = 0;

    bool operator==(const SizeClass&) const = default;
};
/// The model of [JannEtAl1997]: for each range of sizes an independent stream with hyper-Erlang gaps and run times; the
/// sizes of a range are drawn uniformly. Of the classes only those that fit the machine whole take part. `Job::queue`
/// is the index of the class.
struct HyperErlangWorkload {
    GeneratorOptions common;
    std::vector<SizeClass> classes;  ///< at most kMaxSizeClasses
    double gap_factor = 1;
};
inline constexpr std::size_t kMaxSizeClasses = 1000;
Result<Workload> generate(const HyperErlangWorkload& options);

/// Reads a parameter file: the line `zbs-hyper-erlang/1`, then one line a class, '#' starts a comment:
///
///     sizes 3-4  gap rates P L1 L2 N  runtime mean M cv C  memory_mb 8
///
/// Either variable is written as `rates P L1 L2 N` (probability of the first branch, rates per second, order),
/// `moments E1 E2 E3` (raw, seconds) or `mean M cv C` (the third moment is that of a gamma variable). `memory_mb`, of a
/// task, in MiB, may be left out. Errors have `SOURCE:LINE` as pointer.
Result<std::vector<SizeClass>> parse_size_classes(std::string_view text, std::string_view source);
/// An example in that format, made up by us: the size ranges of [JannEtAl1997], two fifths of the jobs on one
/// processor, 17,440 jobs in 79 days as in the log they fitted. The published tables are not public.
std::string_view example_size_classes();

/// The generator of Adaptive SCOJO [Huang2004, chapter 6 and table 7-2]: short, medium and long jobs, uniform sizes
/// and run times within the class, uniform gaps 1 .. 2 T. `Job::queue` is the class (0 short, 1 medium, 2 long),
/// `Job::priority` 10, 5, 0; `Job::group` repeats the flexibility (0 rigid, 1 moldable, 2 malleable) for formats that
/// have no word for it.
struct ScojoWorkload {
    enum class Table : std::uint8_t { kWorkload1, kWorkload2 };
    GeneratorOptions common = {.jobs = 8000, .processors = 64};
    Table table = Table::kWorkload1;
    /// T, seconds; 0: sum over the classes of (share x mean size) (share x mean run time) / processors, the formula as
    /// printed, which counts a class's share twice.
    double mean_gap_s = 0;
};
Result<Workload> generate(const ScojoWorkload& options);

/// A generator as its users see it.
struct GeneratorInfo {
    struct Option {
        std::string_view name;
        std::string default_value;
        std::string_view meaning;  ///< one sentence, with the accepted range
    };
    std::string_view name;
    std::string_view summary;
    std::vector<Option> options;
};
/// All generators, by name.
std::span<const GeneratorInfo> workload_generators();

/// The workload of generator `name` with `options`, name and value each. `parameters` is the text of the hyper-Erlang
/// parameter file; empty: the example. Errors, kInvalidArgument, each with the nearest word that exists: no such
/// generator or option, an option given twice, a value out of its range.
struct GeneratorRequest {
    std::string name;
    std::vector<std::pair<std::string, std::string>> options;
    std::uint64_t seed = 1;
    std::string_view parameters;
    std::string_view parameters_source = "parameters";
};
Result<Workload> generate(const GeneratorRequest& request);
/// The same jobs one after the other; besides errors of `add`, an error may come after some of them.
Result<void> generate(const GeneratorRequest& request, const AddJob& add);
/// What the request says of the machine and the number of jobs; errors as above.
Result<GeneratorOptions> common_options(const GeneratorRequest& request);

}  // namespace zbs
