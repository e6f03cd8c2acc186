#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"

#include <algorithm>
#include <chrono>

namespace zbs::slurm {

bool is_operation(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
}

std::string job_name(std::string_view operation) { return "zbs-" + std::string(operation); }

std::string_view operation_of(std::string_view job_name) {
    const std::string_view operation = job_name.starts_with("zbs-") ? job_name.substr(4) : std::string_view{};
    return is_operation(operation) ? operation : std::string_view{};
}

std::string placeholder_script(const HoldSpec& spec, const std::string& commands) {
    const auto seconds = [](Duration d) { return std::to_string(std::chrono::ceil<std::chrono::seconds>(d).count()); };
    std::string script =
        "#!/bin/sh\n"
        "# Holds processors for operation " +
        spec.operation +
        " of the zone based scheduler ZBS; the work itself is started beside it.\n"
        "PATH=" +
        commands + ":/usr/local/bin:/usr/bin:/bin\n";
    if (spec.expiry > Duration{0}) {
        script += "sleep " + seconds(spec.expiry) +
                  "\n"
                  "case \"$(squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%k)\" in\n"
                  "*" +
                  std::string(kHeldComment) +
                  "*) exit 0 ;;  # nobody kept it\n"
                  "esac\n";
    }
    return script + "exec sleep " + seconds(spec.walltime + std::chrono::hours{1}) + "\n";
}

}  // namespace zbs::slurm
