#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Figures of a service for a monitoring system that asks for them now and then. No locks: all of it belongs to one
/// strand, that of who counts.
namespace zbs::metrics {

/// A text that readers know. OpenMetrics is the one with units and an end; older readers know the other only.
enum class TextFormat { kOpenMetrics, kPrometheus };
/// As a header `Accept` asks for it: OpenMetrics where that is among the types (with any weight but 0), or nothing is
/// asked for; else the older text.
TextFormat choose_format(std::string_view accept);
const char* content_type(TextFormat format);

/// What grows only. Begins at 0 with the process.
class Counter {
  public:
    void add(double amount = 1) { value_ += amount; }  ///< >= 0
    double value() const { return value_; }

  private:
    double value_ = 0;
};

class Gauge {
  public:
    void set(double value) { value_ = value; }
    double value() const { return value_; }

  private:
    double value_ = 0;
};

/// How many values were at most so large, for a few fixed bounds.
class Histogram {
  public:
    /// `bounds`: ascending; what is above the last one counts into +Inf.
    explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
    /// Cost: O(log bounds).
    void observe(double value);
    const std::vector<double>& bounds() const { return bounds_; }
    const std::vector<std::uint64_t>& counts() const { return counts_; }  ///< by bucket, not summed up
    double sum() const { return sum_; }

  private:
    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_;
    double sum_ = 0;
};

/// Name and meaning of a family: `name` without what the text adds (_total, _bucket), ending in its unit where it has
/// one; `labels` are the names of the labels of each of its series.
struct Description {
    std::string name;
    std::string help;
    std::string unit{};
    std::vector<std::string> labels{};
    /// Series at most: labels that others choose (zones, say) must not fill the memory. Those beyond share one whose
    /// labels are all "other".
    std::size_t max_series = 256;
};

using Labels = std::vector<std::string>;

/// All series of one name.
template <class T>
class Family {
  public:
    Family(Description description, T fresh) : description_(std::move(description)), fresh_(std::move(fresh)) {}
    /// The series with these values of the labels, in their order; made where it is not there.
    T& at(Labels values = {}) {
        if (!series_.contains(values) && series_.size() >= description_.max_series)
            values.assign(description_.labels.size(), "other");
        return series_.try_emplace(std::move(values), fresh_).first->second;
    }
    /// Forgets all series; for gauges that are read anew.
    void clear() { series_.clear(); }
    const Description& description() const { return description_; }
    const std::map<Labels, T>& series() const { return series_; }

  private:
    Description description_;
    T fresh_;
    std::map<Labels, T> series_;
};

/// All families of a service.
class Registry {
  public:
    /// What they return lives as long as the registry. Names are ours; two of one name are a mistake in the program.
    Family<Counter>& counter(Description description);
    Family<Gauge>& gauge(Description description);
    Family<Histogram>& histogram(Description description, std::vector<double> bounds);
    /// Constant facts as labels, e.g. a version.
    void info(const std::string& name, const std::string& help,
              const std::vector<std::pair<std::string, std::string>>&);

    /// Cost: that of its length, which is in proportion to the number of series.
    std::string text(TextFormat format) const;

  private:
    struct AnyFamily {
        virtual ~AnyFamily() = default;
        virtual void write(TextFormat format, std::string& text) const = 0;
    };
    template <class T>
    struct Entry;
    template <class T>
    Family<T>& add(Description description, T fresh, const char* type);

    std::map<std::string, std::unique_ptr<AnyFamily>> families_;  ///< by name
};

}  // namespace zbs::metrics
