#include "algorithms/sim/workload_generators.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <functional>
#include <queue>
#include <type_traits>

#include "algorithms/base/random_variates.hpp"
#include "algorithms/base/rng.hpp"
#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/model/zone_state.hpp"

namespace zbs {
namespace {

constexpr double kMax = kMaxGeneratedRuntime_s;
constexpr double kMaxSubmit_s = 1e12;
constexpr std::int32_t kMaxHarmonicProcessors = 1'000'000;  ///< the table of probabilities has one entry each

template <class Number>
std::string text_of(Number value) {
    char buffer[32];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    ZBS_EXPECTS(error == std::errc{});
    return {buffer, end};
}

/// Goes through the options of a generator: sets those that are given as text, checks all, and lists them.
class OptionWalk {
  public:
    /// `given` must outlive it.
    explicit OptionWalk(std::span<const std::pair<std::string, std::string>> given = {}) : given_(given) {}

    template <class Number>
    void number(std::string_view name, Number& value, std::type_identity_t<Number> least,
                std::type_identity_t<Number> most, std::string_view meaning) {
        if (const std::string* const text = begin(name, meaning)) {
            const std::optional<Number> read = parse_number<Number>(*text);
            if (read && *read >= least && *read <= most)
                value = *read;
            else
                fail(name, "'" + *text + "'; write a " + (std::integral<Number> ? "whole " : "") + "number from " +
                               text_of(least) + " to " + text_of(most) + ": " + std::string(meaning));
        } else if (!(value >= least && value <= most)) {
            fail(name, text_of(value) + " but must lie in " + text_of(least) + " .. " + text_of(most) + ": " +
                           std::string(meaning));
        }
        options.back().default_value = text_of(value);
    }
    template <class Enum>
    void word(std::string_view name, Enum& value, std::span<const std::string_view> choices, std::string_view meaning) {
        if (const std::string* const text = begin(name, meaning)) {
            const auto at = std::ranges::find(choices, *text);
            if (at == choices.end()) return fail(name, "'" + *text + "'" + did_you_mean(*text, choices));
            value = static_cast<Enum>(at - choices.begin());
        }
        const auto index = static_cast<std::size_t>(value);
        if (index >= choices.size())
            return fail(name, std::to_string(index) + " but must lie in 0 .. " + std::to_string(choices.size() - 1) +
                                  ": " + std::string(meaning));
        options.back().default_value = choices[index];
    }

    Result<void> result;
    std::vector<GeneratorInfo::Option> options;  ///< with the values that they have

  private:
    /// The text that is given for the option; null: none.
    const std::string* begin(std::string_view name, std::string_view meaning) {
        options.push_back({name, {}, meaning});
        for (const auto& [given_name, text] : given_)
            if (given_name == name) return &text;
        return nullptr;
    }
    void fail(std::string_view name, const std::string& what) {
        if (result) result = invalid("option " + std::string(name) + " is " + what);
    }
    std::span<const std::pair<std::string, std::string>> given_;
};

void visit(GeneratorOptions& options, OptionWalk& walk) {
    walk.number("jobs", options.jobs, 0, kMaxGeneratedJobs, "number of jobs");
    walk.number("processors", options.processors, 1, ZoneState::kMaxProcessors, "processors of the machine");
    walk.number("overestimate", options.most_overestimate, 1, 1000,
                "walltimes are the run time times a uniform number from 1 to this");
}
void visit(UniformWorkload& options, OptionWalk& walk) {
    visit(options.common, walk);
    walk.number("min_size", options.least_size, 1, ZoneState::kMaxProcessors, "processors of the smallest job");
    walk.number("max_size", options.most_size, 0, ZoneState::kMaxProcessors,
                "processors of the largest job; 0: the machine");
    walk.number("min_runtime", options.least_runtime_s, 1, static_cast<std::int64_t>(kMax),
                "shortest run time, seconds");
    walk.number("max_runtime", options.most_runtime_s, 1, static_cast<std::int64_t>(kMax), "longest run time, seconds");
    walk.number("gap", options.mean_gap_s, 0, kMax, "mean seconds between submissions");
}
void visit(Feitelson96Workload& options, OptionWalk& walk) {
    visit(options.common, walk);
    walk.number("size_order", options.size_order, 0, 20, "probability of size n falls as n^-order");
    walk.number("power_of_two", options.power_of_two_weight, 1, 1e6, "weight of sizes that are powers of two");
    walk.number("unit", options.unit_s, 1e-3, kMax, "seconds of the unit of run times");
    walk.number("short_mean", options.short_mean, 1e-6, 1e6, "mean of the short run times, units");
    walk.number("long_mean", options.long_mean, 1e-6, 1e6, "mean of the long run times, units");
    walk.number("short_base", options.short_base, 0, 1, "probability of a short run time for small jobs");
    walk.number("short_slope", options.short_slope, 0, 1, "what that loses up to the size of the machine");
    walk.number("repeat_order", options.repeat_order, 0, 20, "probability of r runs falls as r^-order");
    walk.number("repeats", options.most_repeats, 1, 100'000, "most runs of one job");
    walk.number("gap", options.mean_gap_s, 0, kMax, "mean seconds between first runs (Poisson)");
}
constexpr std::string_view kLublinTypes[] = {"all", "batch", "interactive", "both"};
void visit(LublinWorkload& options, OptionWalk& walk) {
    visit(options.common, walk);
    walk.word("type", options.types, kLublinTypes,
              "all: one stream with common parameters; batch, interactive: that stream; both: the two together");
    walk.number("gap_factor", options.gap_factor, 1e-3, 1e3,
                "seconds between submissions times this: divides the load; days keep their length");
}
void visit(HyperErlangWorkload& options, OptionWalk& walk) {
    visit(options.common, walk);
    walk.number("gap_factor", options.gap_factor, 1e-3, 1e3,
                "seconds between submissions times this: divides the load");
}
constexpr std::string_view kScojoTables[] = {"1", "2"};
void visit(ScojoWorkload& options, OptionWalk& walk) {
    visit(options.common, walk);
    walk.word("workload", options.table, kScojoTables, "1 or 2, the columns of table 7-2");
    walk.number("gap", options.mean_gap_s, 0, kMax, "T, mean seconds between submissions; 0: the formula");
}

template <class Workload>
Result<void> check(Workload options) {
    OptionWalk walk;
    visit(options, walk);
    return walk.result;
}

/// Hands over jobs in the order of submission, numbered from 1.
class Collector {
  public:
    Collector(const GeneratorOptions& common, const AddJob& add)
        : common_(common), add_(add), estimates_(common.seed ^ 0x5fd1c3a7e2b94d68ULL) {}

    /// No more jobs are wanted, or possible.
    bool full() const { return jobs_ >= common_.jobs || !result_; }

    /// `details` has what the job is besides its times. Submissions come in order; those of one second stay so.
    void add(double submit_s, double runtime_s, Job details) {
        if (full()) return;
        const double submit = std::floor(submit_s);
        if (!(submit <= kMaxSubmit_s)) {
            result_ = Error{ErrorCode::kTooLarge,
                            "jobs would be submitted after more than 1e12 seconds: ask for fewer jobs or shorter gaps",
                            {}};
            return;
        }
        const double runtime = std::clamp(std::round(runtime_s), 1.0, kMax);
        double walltime = runtime;
        // A stream of its own: the jobs are the same with exact estimates.
        if (common_.most_overestimate > 1)
            walltime = std::ceil(runtime * (1 + (common_.most_overestimate - 1) * estimates_.uniform()));
        details.id = JobId{++jobs_};
        details.submit = Time{std::chrono::seconds{static_cast<std::int64_t>(submit)}};
        details.walltime = std::chrono::seconds{static_cast<std::int64_t>(walltime)};
        ZBS_EXPECTS(last_submission_ <= details.submit);
        last_submission_ = details.submit;
        result_ = add_({details, std::chrono::seconds{static_cast<std::int64_t>(runtime)}});
    }
    Result<void> finish() && { return std::move(result_); }

  private:
    const GeneratorOptions& common_;
    const AddJob& add_;
    Rng estimates_;
    std::int64_t jobs_ = 0;
    Time last_submission_{};
    Result<void> result_;
};

/// Index i with probability weights[i] / sum.
class DiscreteVariable {
  public:
    explicit DiscreteVariable(std::vector<double> weights) : upto_(std::move(weights)) {
        double sum = 0;
        for (double& weight : upto_) weight = sum += weight;
    }
    std::size_t draw(Rng& rng) const {
        const double at = rng.uniform() * upto_.back();
        const auto found = std::upper_bound(upto_.begin(), upto_.end(), at);
        return std::min(static_cast<std::size_t>(found - upto_.begin()), upto_.size() - 1);
    }

  private:
    std::vector<double> upto_;
};

std::int64_t draw_between(Rng& rng, std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
}

Result<void> stream(const UniformWorkload& options, const AddJob& add) {
    if (const Result<void> good = check(options); !good) return good.error();
    const std::int32_t most_size = options.most_size == 0 ? options.common.processors : options.most_size;
    if (options.least_size > most_size || most_size > options.common.processors)
        return invalid("sizes must ascend and fit the machine: min_size " + std::to_string(options.least_size) +
                       ", max_size " + std::to_string(most_size) + ", processors " +
                       std::to_string(options.common.processors));
    if (options.least_runtime_s > options.most_runtime_s)
        return invalid("min_runtime " + std::to_string(options.least_runtime_s) + " exceeds max_runtime " +
                       std::to_string(options.most_runtime_s));
    Rng rng(options.common.seed);
    Collector collector(options.common, add);
    double submit_s = 0;
    while (!collector.full()) {
        submit_s += 2 * options.mean_gap_s * rng.uniform();
        const auto size = static_cast<std::int32_t>(draw_between(rng, options.least_size, most_size));
        const std::int64_t runtime_s = draw_between(rng, options.least_runtime_s, options.most_runtime_s);
        collector.add(submit_s, static_cast<double>(runtime_s), {.processors = size});
    }
    return std::move(collector).finish();
}

Result<void> stream(const Feitelson96Workload& options, const AddJob& add) {
    if (const Result<void> good = check(options); !good) return good.error();
    const std::int32_t processors = options.common.processors;
    if (processors > kMaxHarmonicProcessors)
        return invalid("option processors is " + std::to_string(processors) + ", but this model takes at most " +
                       std::to_string(kMaxHarmonicProcessors));
    if (options.short_slope > options.short_base)
        return invalid("option short_slope exceeds short_base: the probability would fall below zero");
    std::vector<double> size_weights, repeat_weights;
    for (std::int32_t n = 1; n <= processors; ++n)
        size_weights.push_back(std::pow(n, -options.size_order) *
                               (std::has_single_bit(static_cast<std::uint32_t>(n)) ? options.power_of_two_weight : 1));
    for (std::int32_t r = 1; r <= options.most_repeats; ++r)
        repeat_weights.push_back(std::pow(r, -options.repeat_order));
    const DiscreteVariable sizes(std::move(size_weights)), repeats(std::move(repeat_weights));

    struct Run {
        double submit_s;
        std::int64_t user;  ///< in the order of first runs
        std::int64_t left;  ///< runs after this one
        std::int32_t size;
        double runtime_s;
        bool operator>(const Run& other) const {
            return submit_s != other.submit_s ? submit_s > other.submit_s : user > other.user;
        }
    };
    std::priority_queue<Run, std::vector<Run>, std::greater<>> pending;
    Rng rng(options.common.seed);
    Collector collector(options.common, add);
    std::int64_t users = 0;
    const auto first_run = [&](double after_s) {
        Run run{.submit_s = after_s + options.mean_gap_s * draw_exponential(rng), .user = users++};
        run.size = static_cast<std::int32_t>(sizes.draw(rng)) + 1;
        const double p = options.short_base - options.short_slope * run.size / processors;
        const double mean = rng.uniform() < p ? options.short_mean : options.long_mean;
        run.runtime_s = mean * options.unit_s * draw_exponential(rng);
        run.left = static_cast<std::int64_t>(repeats.draw(rng));
        return run;
    };
    Run next = first_run(0);
    while (!collector.full()) {
        Run run = next;
        if (!pending.empty() && next > pending.top()) {
            run = pending.top();
            pending.pop();
        } else {
            next = first_run(run.submit_s);
        }
        collector.add(run.submit_s, run.runtime_s,
                      {.processors = run.size, .user = static_cast<std::int32_t>(run.user)});
        if (run.left > 0) {
            --run.left;
            run.submit_s += std::clamp(std::round(run.runtime_s), 1.0, kMax);
            pending.push(run);
        }
    }
    return std::move(collector).finish();
}

/// Parameters of one kind of jobs [LublinFeitelson2003, tables 3, 4, 7], as in m_lublin99.
struct LublinParameters {
    double serial, power_of_two;         ///< probabilities
    double low, middle_below_high;       ///< U_low; U_hi - U_med
    double high_below_machine, early;    ///< log2(processors) - U_hi; U_prob
    double a1, b1, a2, b2, pa, pb;       ///< of the logarithm of run times
    double gap_shape, gap_scale, ratio;  ///< of the logarithm of gaps; all hours to rush hours
    double day_shape, day_scale;         ///< of the submissions over the day's half hours
};
constexpr LublinParameters kAllJobs{.serial = 0.244,
                                    .power_of_two = 0.576,
                                    .low = 0.8,
                                    .middle_below_high = 2.5,
                                    .high_below_machine = 0,
                                    .early = 0.86,
                                    .a1 = 4.2,
                                    .b1 = 0.94,
                                    .a2 = 312,
                                    .b2 = 0.03,
                                    .pa = -0.0054,
                                    .pb = 0.78,
                                    .gap_shape = 10.2303,
                                    .gap_scale = 0.4871,
                                    .ratio = 1.0225,
                                    .day_shape = 8.1737,
                                    .day_scale = 3.9631};
constexpr LublinParameters kBatchJobs{.serial = 0.2927,
                                      .power_of_two = 0.6686,
                                      .low = 1.2,
                                      .middle_below_high = 2,
                                      .high_below_machine = 0,
                                      .early = 0.875,
                                      .a1 = 6.57,
                                      .b1 = 0.823,
                                      .a2 = 639.1,
                                      .b2 = 0.0156,
                                      .pa = -0.003,
                                      .pb = 0.6986,
                                      .gap_shape = 6.0415,
                                      .gap_scale = 0.8531,
                                      .ratio = 1.0519,
                                      .day_shape = 6.1271,
                                      .day_scale = 5.2740};
constexpr LublinParameters kInteractiveJobs{.serial = 0.1541,
                                            .power_of_two = 0.625,
                                            .low = 1,
                                            .middle_below_high = 2.5,
                                            .high_below_machine = 1.5,
                                            .early = 0.705,
                                            .a1 = 3.8351,
                                            .b1 = 0.6605,
                                            .a2 = 7.073,
                                            .b2 = 0.6856,
                                            .pa = -0.0118,
                                            .pb = 0.9156,
                                            .gap_shape = 6.5510,
                                            .gap_scale = 0.6621,
                                            .ratio = 0.9797,
                                            .day_shape = 8.9186,
                                            .day_scale = 3.6680};

/// One stream of jobs of a kind.
class LublinStream {
  public:
    static constexpr int kBuckets = 48;
    static constexpr double kBucket_s = 1800;
    static constexpr double kMaxLogGap = 13, kMaxLogRuntime = 12;  ///< 5 days, 2 days: larger draws are repeated
    static constexpr int kDayBegins = 11;                          ///< half hour 11 of the day is the fit's first

    LublinStream(const LublinParameters& parameters, const LublinWorkload& options, std::int32_t queue)
        : parameters_(parameters), gap_factor_(options.gap_factor), processors_(options.common.processors) {
        details_.queue = queue;
        const double machine = std::log2(processors_);
        high_ = machine - parameters.high_below_machine;
        // Machines of a few processors: the stages shrink to what is left of them.
        low_ = std::min(parameters.low, machine);
        high_ = std::max(high_, low_);
        middle_ = std::clamp(high_ - parameters.middle_below_high, low_, high_);
        double sum = 0;
        for (int i = kDayBegins; i < kDayBegins + kBuckets; ++i) {
            const auto cdf = [&](double at) {
                return gamma_distribution(at / parameters.day_scale, parameters.day_shape);
            };
            const double share = cdf(i + 0.5) - cdf(i - 0.5);
            weights_[static_cast<std::size_t>((i - 1) % kBuckets)] = share;
            sum += share;
        }
        for (double& weight : weights_) weight *= kBuckets / sum;
    }

    /// Moves on to the next submission. A gap is spent at the rate of the half hour's weight, so that the hours get
    /// their share of the jobs.
    void advance(Rng& rng) {
        double log_gap;
        do log_gap = parameters_.gap_scale * draw_gamma(rng, parameters_.gap_shape * parameters_.ratio);
        while (log_gap > kMaxLogGap);
        spent_ += gap_factor_ * std::exp(log_gap) / kBucket_s;
        while (spent_ > weight()) {
            spent_ -= weight();
            ++bucket_;
        }
    }
    double submit_s() const { return (static_cast<double>(bucket_) + spent_ / weight()) * kBucket_s; }

    /// Draws what else the job is, and hands it over.
    void emit(Rng& rng, Collector& collector) {
        details_.processors = draw_size(rng);
        const double p = std::clamp(parameters_.pa * details_.processors + parameters_.pb, 0.0, 1.0);
        double log_runtime;
        do
            log_runtime = rng.uniform() < p ? parameters_.b1 * draw_gamma(rng, parameters_.a1)
                                            : parameters_.b2 * draw_gamma(rng, parameters_.a2);
        while (log_runtime > kMaxLogRuntime);
        collector.add(submit_s(), std::floor(std::exp(log_runtime)), details_);
    }

  private:
    double weight() const { return weights_[static_cast<std::size_t>(bucket_ % kBuckets)]; }

    std::int32_t draw_size(Rng& rng) const {
        const double kind = rng.uniform();
        if (kind < parameters_.serial || processors_ == 1) return 1;
        const bool early = rng.uniform() < parameters_.early;
        const double from = early ? low_ : middle_, to = early ? middle_ : high_;
        double log_size = from + (to - from) * rng.uniform();
        if (kind < parameters_.serial + parameters_.power_of_two)
            log_size = std::min(std::round(log_size), std::floor(std::log2(processors_)));
        return std::min(processors_, static_cast<std::int32_t>(std::lround(std::exp2(log_size))));
    }

    const LublinParameters& parameters_;
    double gap_factor_;
    std::int32_t processors_;
    Job details_;
    double low_ = 0, middle_ = 0, high_ = 0;
    std::array<double, kBuckets> weights_{};
    std::int64_t bucket_ = 0;  ///< half hours since the first midnight
    double spent_ = 0;         ///< of this half hour's weight
};

/// Emits from the stream whose next submission is the earliest, the first of equals.
template <class Stream>
Result<void> merge(std::vector<Stream>& streams, Rng& rng, Collector& collector) {
    using Next = std::pair<double, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        streams[i].advance(rng);
        queue.emplace(streams[i].submit_s(), i);
    }
    while (!collector.full()) {
        Stream& stream = streams[queue.top().second];
        stream.emit(rng, collector);
        stream.advance(rng);
        const std::size_t index = queue.top().second;
        queue.pop();
        queue.emplace(stream.submit_s(), index);
    }
    return std::move(collector).finish();
}

class HyperErlangStream {
  public:
    HyperErlangStream(const SizeClass& sizes, std::int32_t queue, double gap_factor)
        : sizes_(sizes), queue_(queue), gap_factor_(gap_factor) {}
    void advance(Rng& rng) { submit_s_ += gap_factor_ * sizes_.gap.draw(rng); }
    double submit_s() const { return submit_s_; }
    void emit(Rng& rng, Collector& collector) const {
        Job details{.queue = queue_, .memory_bytes = sizes_.memory_bytes};
        details.processors = static_cast<std::int32_t>(draw_between(rng, sizes_.least, sizes_.most));
        collector.add(submit_s_, sizes_.runtime.draw(rng), details);
    }

  private:
    const SizeClass& sizes_;
    std::int32_t queue_;
    double gap_factor_;
    double submit_s_ = 0;
};

Result<void> stream(const LublinWorkload& options, const AddJob& add) {
    if (const Result<void> good = check(options); !good) return good.error();
    using Types = LublinWorkload::Types;
    std::vector<LublinStream> streams;
    if (options.types == Types::kAll) streams.emplace_back(kAllJobs, options, -1);
    if (options.types == Types::kInteractive || options.types == Types::kBoth)
        streams.emplace_back(kInteractiveJobs, options, 0);
    if (options.types == Types::kBatch || options.types == Types::kBoth) streams.emplace_back(kBatchJobs, options, 1);
    Rng rng(options.common.seed);
    Collector collector(options.common, add);
    return merge(streams, rng, collector);
}

Result<void> stream(const HyperErlangWorkload& options, const AddJob& add) {
    if (const Result<void> good = check(options); !good) return good.error();
    if (options.classes.size() > kMaxSizeClasses)
        return invalid("a hyper-Erlang workload has at most " + std::to_string(kMaxSizeClasses) + " size classes");
    std::vector<HyperErlangStream> streams;
    for (std::size_t i = 0; i < options.classes.size(); ++i) {
        const SizeClass& sizes = options.classes[i];
        if (sizes.least < 1 || sizes.least > sizes.most || sizes.memory_bytes < 0)
            return invalid("size class " + std::to_string(i + 1) + " must have sizes 1 or more, in ascending order");
        for (const HyperErlang& v : {sizes.gap, sizes.runtime})
            if (const auto good = HyperErlang::make(v.p, v.rate1, v.rate2, v.order); !good) return good.error();
        if (!(sizes.gap.mean() <= kMax && sizes.runtime.mean() <= kMax))
            return invalid("size class " + std::to_string(i + 1) + ": mean gap and run time may be at most 1e9 s");
        if (sizes.most <= options.common.processors)
            streams.emplace_back(sizes, static_cast<std::int32_t>(i), options.gap_factor);
    }
    if (streams.empty())
        return invalid("no size class fits a machine of " + std::to_string(options.common.processors) + " processors");
    Rng rng(options.common.seed);
    Collector collector(options.common, add);
    return merge(streams, rng, collector);
}

Result<void> stream(const ScojoWorkload& options, const AddJob& add) {
    if (const Result<void> good = check(options); !good) return good.error();
    struct Class {
        std::int32_t least_size, most_size;
        std::int64_t after_s, upto_s;  ///< run times (after_s, upto_s]; short ones have 1 s, too
        std::array<double, 3> share;   ///< of all jobs: rigid, moldable, malleable
        double sum() const { return share[0] + share[1] + share[2]; }
    };
    // Which class has which flexibility follows from the margins of table 7-2: rigid jobs may be of any class, moldable
    // ones short or medium, malleable ones medium or long.
    static constexpr Class kTables[2][3] = {
        {{1, 4, 0, 60, {0, 0.40, 0}}, {4, 24, 60, 1800, {0.10, 0.20, 0.10}}, {8, 32, 1800, 3600, {0, 0, 0.20}}},
        {{1, 4, 0, 180, {0, 0.30, 0}}, {4, 24, 180, 3600, {0.05, 0.30, 0}}, {8, 32, 3600, 108000, {0.05, 0, 0.30}}}};
    const auto& classes = kTables[static_cast<std::size_t>(options.table)];
    if (options.common.processors < 32)
        return invalid("option processors is " + std::to_string(options.common.processors) +
                       ", but the jobs of this model have up to 32");
    double gap_s = options.mean_gap_s;
    std::vector<double> shares;
    for (const Class& c : classes) {
        const double mean_size = (c.least_size + c.most_size) / 2.0;
        const double mean_runtime_s = static_cast<double>(std::max<std::int64_t>(c.after_s, 1) + c.upto_s) / 2;
        if (options.mean_gap_s == 0)
            gap_s += c.sum() * mean_size * c.sum() * mean_runtime_s / options.common.processors;
        shares.insert(shares.end(), c.share.begin(), c.share.end());
    }
    const DiscreteVariable kinds(std::move(shares));
    Rng rng(options.common.seed);
    Collector collector(options.common, add);
    double submit_s = 0;
    while (!collector.full()) {
        const std::size_t kind = kinds.draw(rng);
        const Class& c = classes[kind / 3];
        submit_s += 1 + std::max(0.0, 2 * gap_s - 1) * rng.uniform();
        Job details{.priority = 10 - 5 * static_cast<std::int32_t>(kind / 3),
                    .group = static_cast<std::int32_t>(kind % 3),
                    .queue = static_cast<std::int32_t>(kind / 3),
                    .flexibility = static_cast<Flexibility>(kind % 3)};
        details.processors = static_cast<std::int32_t>(draw_between(rng, c.least_size, c.most_size));
        collector.add(submit_s, static_cast<double>(draw_between(rng, c.after_s + 1, c.upto_s)), details);
    }
    return std::move(collector).finish();
}

/// The same in memory.
template <class Options>
Result<Workload> collect(std::string name, const Options& options) {
    Workload made{.name = std::move(name), .processors = options.common.processors};
    Result<void> done = stream(options, [&](const WorkloadJob& entry) {
        // The options are good by now.
        if (made.jobs.empty()) made.jobs.reserve(static_cast<std::size_t>(options.common.jobs));
        made.jobs.push_back(entry);
        return Result<void>{};
    });
    if (!done) return done.error();
    return made;
}

}  // namespace

Result<Workload> generate(const UniformWorkload& options) { return collect("uniform", options); }
Result<Workload> generate(const Feitelson96Workload& options) { return collect("feitelson96", options); }
Result<Workload> generate(const LublinWorkload& options) { return collect("lublin", options); }
Result<Workload> generate(const HyperErlangWorkload& options) { return collect("hyper-erlang", options); }
Result<Workload> generate(const ScojoWorkload& options) { return collect("scojo", options); }

namespace {

/// Words of a line, one after the other.
class Words {
  public:
    explicit Words(std::string_view line) : left_(line.substr(0, line.find('#'))) {}
    /// Empty at the end.
    std::string_view next() {
        const std::size_t begin = left_.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return left_ = {};
        left_.remove_prefix(begin);
        const std::string_view word = left_.substr(0, left_.find_first_of(" \t\r"));
        left_.remove_prefix(word.size());
        return word;
    }
    template <class Number>
    bool number(Number& value) {
        const std::optional<Number> read = parse_number<Number>(next());
        value = read.value_or(value);
        return read.has_value();
    }

  private:
    std::string_view left_;
};

Result<HyperErlang> parse_variable(Words& words, std::string_view what) {
    const std::string_view form = words.next();
    const std::string place = "the " + std::string(what) + " variable ";
    if (form == "rates") {
        double p = 0, rate1 = 0, rate2 = 0;
        int order = 0;
        if (!words.number(p) || !words.number(rate1) || !words.number(rate2) || !words.number(order))
            return invalid(place + "needs four numbers after 'rates': probability, two rates, order");
        return HyperErlang::make(p, rate1, rate2, order);
    }
    if (form == "moments") {
        std::array<double, 3> moments{};
        for (double& moment : moments)
            if (!words.number(moment)) return invalid(place + "needs three numbers after 'moments'");
        return HyperErlang::fit(moments);
    }
    if (form == "mean") {
        double mean = 0, cv = 0;
        if (!words.number(mean) || words.next() != "cv" || !words.number(cv))
            return invalid(place + "is written 'mean M cv C'");
        return HyperErlang::fit_gamma(mean, cv);
    }
    return invalid(place + "is written as 'rates P L1 L2 N', 'moments E1 E2 E3' or 'mean M cv C', not '" +
                   std::string(form) + "'");
}

Result<SizeClass> parse_class(Words& words) {
    SizeClass sizes;
    const std::string_view range = words.next();
    const std::size_t dash = range.find('-');
    sizes.least = parse_number<std::int32_t>(range.substr(0, dash)).value_or(0);
    sizes.most =
        parse_number<std::int32_t>(dash == std::string_view::npos ? range : range.substr(dash + 1)).value_or(0);
    if (sizes.least < 1 || sizes.least > sizes.most || sizes.most > ZoneState::kMaxProcessors)
        return invalid("'" + std::string(range) + "' is no range of sizes; write for example 3-4");
    if (words.next() != "gap") return invalid("the range of sizes must be followed by 'gap' and its variable");
    Result<HyperErlang> variable = parse_variable(words, "gap");
    if (!variable) return variable.error();
    sizes.gap = *variable;
    if (words.next() != "runtime") return invalid("the gap variable must be followed by 'runtime' and its variable");
    variable = parse_variable(words, "runtime");
    if (!variable) return variable.error();
    sizes.runtime = *variable;
    std::string_view word = words.next();
    if (word == "memory_mb") {
        std::int64_t megabytes = 0;
        if (!words.number(megabytes) || megabytes < 0 || megabytes > (std::int64_t{1} << 40))
            return invalid("'memory_mb' must be followed by MiB of a task");
        sizes.memory_bytes = megabytes << 20;
        word = words.next();
    }
    if (!word.empty()) return invalid("'" + std::string(word) + "' is too much; a class ends with memory_mb");
    return sizes;
}

}  // namespace

Result<std::vector<SizeClass>> parse_size_classes(std::string_view text, std::string_view source) {
    std::vector<SizeClass> classes;
    bool titled = false;
    int line_number = 0;
    const auto at = [&](const Error& fault) {
        return Error{fault.code, fault.message, std::string(source) + ":" + std::to_string(line_number)};
    };
    while (!text.empty()) {
        ++line_number;
        const std::size_t end = text.find('\n');
        Words words(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::string_view word = words.next();
        if (word.empty()) continue;
        if (!titled) {
            if (word != "zbs-hyper-erlang/1")
                return at(invalid("a hyper-Erlang parameter file begins with the line zbs-hyper-erlang/1"));
            titled = true;
            continue;
        }
        if (word != "sizes")
            return at(invalid("'" + std::string(word) + "' is unknown here; a line begins with sizes"));
        if (classes.size() == kMaxSizeClasses)
            return at(invalid("more than " + std::to_string(kMaxSizeClasses) + " size classes"));
        const Result<SizeClass> sizes = parse_class(words);
        if (!sizes) return at(sizes.error());
        classes.push_back(*sizes);
    }
    if (classes.empty()) return at(invalid("no size class: add lines that begin with sizes"));
    return classes;
}

std::string_view example_size_classes() {
    // Gaps are 391.4 s, the mean of 17,440 jobs in 79 days, over the class's share of the jobs: 40, 8, 11, 12, 12, 9,
    // 5, 2, 0.8 and 0.2 per cent. Run times grow with the size up to 64 processors; both vary more than an exponential
    // variable, run times of large jobs less than those of small ones. Memory doubles from class to class.
    return "zbs-hyper-erlang/1\n"
           "sizes 1        gap mean 978.5  cv 2.5  runtime mean 5400  cv 2.2  memory_mb 2\n"
           "sizes 2        gap mean 4892   cv 2.5  runtime mean 3600  cv 2.4  memory_mb 4\n"
           "sizes 3-4      gap mean 3558   cv 2.2  runtime mean 4500  cv 2.2  memory_mb 8\n"
           "sizes 5-8      gap mean 3262   cv 2.2  runtime mean 6000  cv 2.0  memory_mb 16\n"
           "sizes 9-16     gap mean 3262   cv 2.0  runtime mean 7200  cv 1.9  memory_mb 32\n"
           "sizes 17-32    gap mean 4349   cv 2.0  runtime mean 8400  cv 1.8  memory_mb 64\n"
           "sizes 33-64    gap mean 7828   cv 1.8  runtime mean 9000  cv 1.7  memory_mb 128\n"
           "sizes 65-128   gap mean 19570  cv 1.8  runtime mean 7200  cv 1.7  memory_mb 256\n"
           "sizes 129-256  gap mean 48925  cv 1.5  runtime mean 5400  cv 1.6  memory_mb 256\n"
           "sizes 257-322  gap mean 195700 cv 1.5  runtime mean 3600  cv 1.5  memory_mb 256\n";
}

namespace {

template <class Workload>
GeneratorInfo info_of(std::string_view name, std::string_view summary) {
    OptionWalk walk;
    Workload defaults;
    visit(defaults, walk);
    return {name, summary, std::move(walk.options)};
}

template <class Options, class Use>
Result<void> with_text(const GeneratorRequest& request, Options options, const Use& use) {
    OptionWalk walk(request.options);
    visit(options, walk);
    options.common.seed = request.seed;
    std::vector<std::string_view> known;
    for (const GeneratorInfo::Option& option : walk.options) known.push_back(option.name);
    for (std::size_t i = 0; i < request.options.size(); ++i) {
        const std::string& name = request.options[i].first;
        if (std::ranges::find(known, name) == known.end())
            return invalid("generator " + request.name + " has no option '" + name + "'" + did_you_mean(name, known));
        for (std::size_t j = 0; j < i; ++j)
            if (request.options[j].first == name)
                return invalid("option " + name + " of generator " + request.name + " is given twice; keep one");
    }
    if (!walk.result) return walk.result.error();
    return use(options);
}

/// Calls `use` with the options of the generator that is named.
template <class Use>
Result<void> with_options(const GeneratorRequest& request, const Use& use) {
    if (!request.parameters.empty() && request.name != "jann")
        return invalid("only generator jann takes a parameter file");
    if (request.name == "uniform") return with_text(request, UniformWorkload{}, use);
    if (request.name == "feitelson96") return with_text(request, Feitelson96Workload{}, use);
    if (request.name == "lublin") return with_text(request, LublinWorkload{}, use);
    if (request.name == "scojo") return with_text(request, ScojoWorkload{}, use);
    if (request.name == "jann") {
        const bool given = !request.parameters.empty();
        Result<std::vector<SizeClass>> classes =
            parse_size_classes(given ? request.parameters : example_size_classes(), request.parameters_source);
        if (!classes) return classes.error();
        return with_text(request, HyperErlangWorkload{.classes = *std::move(classes)}, use);
    }
    std::vector<std::string_view> names;
    for (const GeneratorInfo& known : workload_generators()) names.push_back(known.name);
    return invalid("there is no workload generator '" + request.name + "'" + did_you_mean(request.name, names));
}

}  // namespace

std::span<const GeneratorInfo> workload_generators() {
    static const std::vector<GeneratorInfo> kGenerators = {
        info_of<UniformWorkload>("uniform", "sizes, run times and gaps uniform and independent"),
        info_of<Feitelson96Workload>(
            "feitelson96", "harmonic sizes, powers of two preferred; run times grow with the size; jobs repeated"),
        info_of<LublinWorkload>("lublin", "two-stage uniform sizes, hyper-gamma run times, daily cycle"),
        info_of<HyperErlangWorkload>("jann", "size classes with hyper-Erlang gaps and run times"),
        info_of<ScojoWorkload>("scojo", "short, medium and long jobs of Adaptive SCOJO")};
    return kGenerators;
}

Result<Workload> generate(const GeneratorRequest& request) {
    Result<Workload> made = Workload{};
    Result<void> done = with_options(request, [&](const auto& options) -> Result<void> {
        made = generate(options);
        return made ? Result<void>{} : made.error();
    });
    if (!done) return done.error();
    return made;
}

Result<GeneratorOptions> common_options(const GeneratorRequest& request) {
    GeneratorOptions found;
    Result<void> done = with_options(request, [&](const auto& options) {
        found = options.common;
        return Result<void>{};
    });
    if (!done) return done.error();
    return found;
}

Result<void> generate(const GeneratorRequest& request, const AddJob& add) {
    return with_options(request, [&](const auto& options) { return stream(options, add); });
}

}  // namespace zbs
