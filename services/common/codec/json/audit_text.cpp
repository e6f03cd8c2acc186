#include "services/common/codec/json/audit_text.hpp"

#include <ctime>

namespace zbs::codec {

std::string utc_text(Time at) {
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
    std::tm parts{};
    char text[32] = "-";
    if (gmtime_r(&seconds, &parts) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

std::string audit_summary_text(const AuditSummary& summary, const std::string& head, bool against_head) {
    std::string text = "good: " + std::to_string(summary.head.entries) + " entries, " + utc_text(summary.first) +
                       " to " + utc_text(summary.last) + "; head " + head + "\n";
    if (summary.latest_loss > 0)
        text += "but entry " + std::to_string(summary.latest_loss) +
                " records that entries were lost before it; 'audit list' shows its detail\n";
    text += against_head ? "nothing was cut off its end since the given head\n"
                         : "that its end was cut off would only show against a head noted earlier: --head\n";
    return text;
}

Json audit_summary(const AuditSummary& summary, const std::string& head, bool against_head) {
    return {{"entries", summary.head.entries},          {"first_us", to_microseconds(summary.first)},
            {"last_us", to_microseconds(summary.last)}, {"head", head},
            {"latest_loss", summary.latest_loss},       {"end_checked", against_head}};
}

}  // namespace zbs::codec
