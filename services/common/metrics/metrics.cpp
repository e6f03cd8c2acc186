#include "services/common/metrics/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs::metrics {
namespace {

constexpr std::string_view kOpenType = "application/openmetrics-text";

std::string number_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;  // the shortest that reads back the same
    return {digits.begin(), end};
}

/// In OpenMetrics the bound of a bucket is a number with a point, so that a bucket has one name only.
std::string bound_text(double bound) {
    std::string text = number_text(bound);
    if (text.find_first_of(".eIN") == std::string::npos) text += ".0";
    return text;
}

std::string escape(std::string_view text, bool quotes) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || (quotes && c == '"')) out += '\\';
        out += c;
    }
    return out;
}

/// `{a="1",b="2"}` or nothing.
std::string labels_text(const std::vector<std::string>& names, const Labels& values,
                        const std::pair<std::string, std::string>& more = {}) {
    std::string text;
    const auto add = [&text](const std::string& name, const std::string& value) {
        text += (text.empty() ? "{" : ",") + name + "=\"" + escape(value, true) + "\"";
    };
    for (std::size_t i = 0; i < names.size(); ++i) add(names[i], values[i]);
    if (!more.first.empty()) add(more.first, more.second);
    return text.empty() ? text : text + "}";
}

void write_sample(std::string& text, const std::string& name, const std::string& labels, const std::string& value) {
    text.append(name).append(labels).append(" ").append(value).append("\n");
}

void write_series(std::string& text, const Description& family, const Labels& values, const Counter& counter) {
    write_sample(text, family.name + "_total", labels_text(family.labels, values), number_text(counter.value()));
}
void write_series(std::string& text, const Description& family, const Labels& values, const Gauge& gauge) {
    write_sample(text, family.name, labels_text(family.labels, values), number_text(gauge.value()));
}
void write_series(std::string& text, const Description& family, const Labels& values, const Histogram& histogram) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
        below += histogram.counts()[i];
        const std::string bound = i < histogram.bounds().size() ? bound_text(histogram.bounds()[i]) : "+Inf";
        write_sample(text, family.name + "_bucket", labels_text(family.labels, values, {"le", bound}),
                     std::to_string(below));
    }
    const std::string labels = labels_text(family.labels, values);
    write_sample(text, family.name + "_sum", labels, number_text(histogram.sum()));
    write_sample(text, family.name + "_count", labels, std::to_string(below));
}

/// What comes before the series of a family.
void write_head(TextFormat format, std::string& text, const Description& family, std::string type) {
    std::string name = family.name;
    if (format == TextFormat::kPrometheus) {  // there the name of a counter is that of its samples
        if (type == "counter") name += "_total";
        if (type == "info") name += "_info", type = "gauge";
    }
    text.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    if (format == TextFormat::kOpenMetrics && !family.unit.empty())
        text.append("# UNIT ").append(name).append(" ").append(family.unit).append("\n");
    // Older readers know no escaped quote in a help text.
    text.append("# HELP ").append(name).append(" ");
    text.append(escape(family.help, format == TextFormat::kOpenMetrics)).append("\n");
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

}  // namespace

TextFormat choose_format(std::string_view accept) {
    if (trimmed(accept).empty()) return TextFormat::kOpenMetrics;
    while (!accept.empty()) {
        const std::size_t end = std::min(accept.find(','), accept.size());
        const std::string_view item = accept.substr(0, end);
        accept.remove_prefix(std::min(end + 1, accept.size()));
        const std::size_t type_end = std::min(item.find(';'), item.size());
        const bool refused = item.find("q=0") != std::string_view::npos && item.find("q=0.") == std::string_view::npos;
        if (trimmed(item.substr(0, type_end)) == kOpenType && !refused) return TextFormat::kOpenMetrics;
    }
    return TextFormat::kPrometheus;
}

const char* content_type(TextFormat format) {
    return format == TextFormat::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

void Histogram::observe(double value) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    sum_ += value;
}

template <class T>
struct Registry::Entry final : AnyFamily {
    Entry(Description description, T fresh, const char* kind)
        : family(std::move(description), std::move(fresh)), type(kind) {}
    void write(TextFormat format, std::string& text) const override {
        if (family.series().empty()) return;  // a head alone says nothing
        write_head(format, text, family.description(), type);
        Description named = family.description();
        if (std::string_view(type) == "info") named.name += "_info";
        for (const auto& [values, series] : family.series()) write_series(text, named, values, series);
    }
    Family<T> family;
    const char* type;
};

template <class T>
Family<T>& Registry::add(Description description, T fresh, const char* type) {
    const std::string name = description.name;
    auto entry = std::make_unique<Entry<T>>(std::move(description), std::move(fresh), type);
    Family<T>& family = entry->family;
    ZBS_EXPECTS(families_.emplace(name, std::move(entry)).second);
    return family;
}

Family<Counter>& Registry::counter(Description description) {
    return add(std::move(description), Counter{}, "counter");
}
Family<Gauge>& Registry::gauge(Description description) { return add(std::move(description), Gauge{}, "gauge"); }
Family<Histogram>& Registry::histogram(Description description, std::vector<double> bounds) {
    ZBS_EXPECTS(std::ranges::is_sorted(bounds));
    return add(std::move(description), Histogram(std::move(bounds)), "histogram");
}

void Registry::info(const std::string& name, const std::string& help,
                    const std::vector<std::pair<std::string, std::string>>& facts) {
    Description description{.name = name, .help = help};
    Labels values;
    for (const auto& [label, value] : facts) {
        description.labels.push_back(label);
        values.push_back(value);
    }
    add(std::move(description), Gauge{}, "info").at(std::move(values)).set(1);
}

std::string Registry::text(TextFormat format) const {
    std::string text;
    for (const auto& [name, family] : families_) family->write(format, text);
    if (format == TextFormat::kOpenMetrics) text += "# EOF\n";
    return text;
}

}  // namespace zbs::metrics
