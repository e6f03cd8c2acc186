#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/messages/application.hpp"
#include "services/common/ports/executor.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// How an application ended, for its record.
struct ApplicationEnd {
    ApplicationState state = ApplicationState::kFailed;
    std::string reason;  ///< empty where it completed
    int exit_code = 1;
    std::vector<ApplicationPart> parts;  ///< with reasons that do not contradict `reason`
};

/// Why home itself has ended it; each empty where it has not.
struct EndedByHome {
    std::string stopped;
    std::string cancelled;
};

/// Weighs the reports of the launcher, of the zones and of home. Reads the launcher's output; changes nothing.
/// `silent`: parts whose zones do not answer.
ApplicationEnd find_end(const ZoneConfig& config, Executor& executor, const Application& app,
                        const std::set<PartId>& silent, const EndedByHome& by_home);

/// Whether the reason of a part is that of the application, whatever else its ranks did.
bool ends_application(std::string_view reason);

inline constexpr std::uint64_t kMaxOfErrors = 4'096;  ///< bytes of a rank or launcher, for the reason of its end

bool is_signal(int exit_code);

}  // namespace zbs
