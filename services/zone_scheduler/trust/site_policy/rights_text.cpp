#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "algorithms/base/text.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr int kDayMinutes = 1'440;
constexpr std::size_t kMaxText = 2'048;

int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : 100; }

/// "HH:MM" up to 24:00.
std::optional<int> parse_minutes(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return std::nullopt;
    const int hours = digit(text[0]) * 10 + digit(text[1]);
    const int minutes = digit(text[3]) * 10 + digit(text[4]);
    if (minutes > 59 || hours * 60 + minutes > kDayMinutes) return std::nullopt;
    return hours * 60 + minutes;
}

std::optional<std::size_t> parse_day(std::string_view text) {
    const auto at = std::find(kDays.begin(), kDays.end(), text);
    if (at == kDays.end()) return std::nullopt;
    return static_cast<std::size_t>(at - kDays.begin());
}

std::string clock_text(int minutes) {
    const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    return two(minutes / 60) + ":" + two(minutes % 60);
}

constexpr int kFloorPart = 10;

/// A ceiling with its floor. Ceilings out of range stay visible to `check_rights`.
template <class Number>
void change_pair(Number& floor, Number& ceiling, const std::optional<Number>& new_floor,
                 const std::optional<Number>& new_ceiling) {
    if (new_ceiling) {
        ceiling = *new_ceiling;
        floor = ceiling / kFloorPart + (ceiling % kFloorPart > Number{} ? Number{1} : Number{0});
    }
    if (new_floor) floor = *new_floor;
}

template <class Value>
void change_one(Value& value, const std::optional<Value>& wanted) {
    if (wanted) value = *wanted;
}

}  // namespace

Result<std::vector<DayWindow>> parse_hours(std::string_view text) {
    const Error fault = invalid("must be windows of the day in UTC as 08:00-18:00, several with commas");
    if (text.size() > kMaxText) return fault;
    std::vector<DayWindow> hours;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        if (dash == std::string_view::npos) return fault;
        const auto begin = parse_minutes(part.substr(0, dash)), end = parse_minutes(part.substr(dash + 1));
        if (!begin || !end || *begin == *end || *begin == kDayMinutes) return fault;
        if (*begin < *end) {
            hours.push_back({*begin, *end});
        } else {
            hours.push_back({*begin, kDayMinutes});
            if (*end > 0) hours.push_back({0, *end});
        }
    }
    if (hours.size() > limits::kMaxPeeringHours)
        return invalid("must be at most " + std::to_string(limits::kMaxPeeringHours) + " windows");
    return hours;
}

Result<std::uint8_t> parse_weekdays(std::string_view text) {
    const Error fault = invalid("must be days as mon-fri or sat,sun");
    if (text.size() > kMaxText) return fault;
    unsigned days = 0;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t dash = std::min(part.find('-'), part.size());
        const auto first = parse_day(part.substr(0, dash));
        const auto last = dash == part.size() ? first : parse_day(part.substr(dash + 1));
        if (!first || !last) return fault;
        for (std::size_t day = *first;; day = (day + 1) % kDays.size()) {
            days |= 1U << day;
            if (day == *last) break;
        }
    }
    return static_cast<std::uint8_t>(days);
}

std::string hours_text(const std::vector<DayWindow>& hours) {
    if (hours.empty()) return "all day";
    std::string text;
    for (const DayWindow& window : hours)
        text += (text.empty() ? "" : ",") + clock_text(window.begin) + "-" + clock_text(window.end);
    return text;
}

std::string weekdays_text(std::uint8_t weekdays) {
    if (weekdays == kEveryWeekday) return "every day";
    std::string text;
    for (std::size_t i = 0; i < kDays.size(); ++i) {
        if ((weekdays >> i & 1) != 0) text += (text.empty() ? "" : ",") + std::string(kDays[i]);
    }
    return text;
}

RightsRange default_rights(int zone_processors) {
    return apply(
        {}, {.processors = zone_processors, .walltime = std::chrono::hours{24}, .concurrent_parts = zone_processors});
}

RightsRange apply(RightsRange range, const RightsChange& change) {
    PeeringRights& top = range.ceiling;
    change_pair(range.floor.processors, top.processors, change.floor_processors, change.processors);
    change_pair(range.floor.walltime, top.walltime, change.floor_walltime, change.walltime);
    change_pair(range.floor.concurrent_parts, top.concurrent_parts, change.floor_parts, change.concurrent_parts);
    change_one(top.hours, change.hours);
    change_one(top.weekdays, change.weekdays);
    change_one(top.partitions, change.partitions);
    change_one(top.share, change.share);
    change_one(top.account_rule, change.account_rule);
    change_one(top.require_delegation, change.require_delegation);
    change_one(top.overcommit, change.overcommit);
    return range;
}

}  // namespace zbs
