#include "services/node_agent/step/own_limits.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "services/common/messages/steps/job_limits.hpp"

namespace zbs::step {
namespace {

constexpr std::array<std::pair<std::string_view, __rlimit_resource>, 10> kResources = {{{"as", RLIMIT_AS},
                                                                                        {"core", RLIMIT_CORE},
                                                                                        {"cpu", RLIMIT_CPU},
                                                                                        {"data", RLIMIT_DATA},
                                                                                        {"fsize", RLIMIT_FSIZE},
                                                                                        {"memlock", RLIMIT_MEMLOCK},
                                                                                        {"nofile", RLIMIT_NOFILE},
                                                                                        {"nproc", RLIMIT_NPROC},
                                                                                        {"rss", RLIMIT_RSS},
                                                                                        {"stack", RLIMIT_STACK}}};

std::string text_of(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); }

std::string set(const JobLimit& limit) {
    for (const auto& [name, resource] : kResources) {
        if (name != limit.name) continue;
        const rlim_t wanted = limit.value ? static_cast<rlim_t>(*limit.value) : RLIM_INFINITY;
        rlimit now{};
        getrlimit(resource, &now);
        const std::string what = "cannot set the limit " + limit.name + " to " + text_of(wanted) + ": ";
        if (wanted > now.rlim_max) return what + "the most that is allowed here is " + text_of(now.rlim_max);
        const rlimit soft{wanted, now.rlim_max};
        if (setrlimit(resource, &soft) != 0) return what + std::strerror(errno);
    }
    return {};
}

}  // namespace

std::string set_own_limits(const std::function<const char*(const char* name)>& variable) {
    if (const char* text = variable(kUmaskVariable)) {
        const Result<unsigned> mask = parse_umask(text);
        if (!mask) return std::string(kUmaskVariable) + " " + mask.error().message;
        umask(static_cast<mode_t>(*mask));
    }
    const char* text = variable(kLimitsVariable);
    const Result<std::vector<JobLimit>> limits = parse_job_limits(text == nullptr ? "" : text);
    if (!limits) return std::string(kLimitsVariable) + ": " + limits.error().message;
    for (const JobLimit& limit : *limits)
        if (std::string fault = set(limit); !fault.empty()) return fault;
    return {};
}

}  // namespace zbs::step
