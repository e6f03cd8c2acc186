#include "services/common/http/trace.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <random>

namespace zbs::http {
namespace {

/// "VV-TRACE ID-PARENT ID-FF": 2, 32, 16 and 2 digits.
constexpr std::size_t kParent = 36, kFlags = 53, kSize = 55;

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }
bool is_zero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

template <class Map, class Queue>
void keep_newest(Map& map, Queue& oldest) {
    if (oldest.size() <= TraceBook::kMax) return;
    map.erase(oldest.front());
    oldest.pop_front();
}

}  // namespace

TraceContext read_traceparent(std::string_view header) {
    if (header.size() < kSize || header[2] != '-' || header[kParent - 1] != '-' || header[kFlags - 1] != '-') return {};
    const std::string_view version = header.substr(0, 2), id = header.substr(3, 32);
    const std::string_view parent = header.substr(kParent, 16), flags = header.substr(kFlags, 2);
    if (!std::ranges::all_of(std::initializer_list<std::string_view>{version, id, parent, flags}, is_hex)) return {};
    if (version == "ff" || is_zero(id) || is_zero(parent)) return {};
    // A later version may have more behind a dash.
    if (header.size() > kSize && (version == "00" || header[kSize] != '-')) return {};
    const char low = flags[1];
    const int bits = low >= 'a' ? low - 'a' + 10 : low - '0';
    return {std::string(id), (bits & 1) != 0};
}

std::string traceparent_of(const TraceContext& trace) {
    thread_local std::mt19937_64 random{std::random_device{}()};
    std::uint64_t call = random();
    while (call == 0) call = random();
    char text[64];
    std::snprintf(text, sizeof text, "00-%.32s-%016" PRIx64 "-%s", trace.id.c_str(), call,
                  trace.is_sampled ? "01" : "00");
    return text;
}

void TraceBook::record(const ApplicationId& application, const TraceContext& trace) {
    if (trace.id.empty() || !traces_.emplace(application, trace).second) return;
    oldest_.push_back(application);
    keep_newest(traces_, oldest_);
}

void TraceBook::record(const PartId& part, const ApplicationId& application) {
    if (!traces_.contains(application) || !parts_.emplace(part, application).second) return;
    oldest_parts_.push_back(part);
    keep_newest(parts_, oldest_parts_);
}

TraceContext TraceBook::of(const ApplicationId& application) const {
    const auto at = traces_.find(application);
    return at == traces_.end() ? TraceContext{} : at->second;
}

TraceContext TraceBook::of(const PartId& part) const {
    const auto at = parts_.find(part);
    return at == parts_.end() ? TraceContext{} : of(at->second);
}

}  // namespace zbs::http
