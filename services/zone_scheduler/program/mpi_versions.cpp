#include "services/zone_scheduler/program/mpi_versions.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "services/zone_scheduler/adapters/slurm/command.hpp"

namespace zbs::zone_program {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

bool is_version(std::string_view word) {
    constexpr std::string_view kBytes = "0123456789abcdefghijklmnopqrstuvwxyz.";
    return word.size() <= 32 && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string_view::npos &&
           word.find_first_not_of(kBytes) == std::string_view::npos;
}

/// The first word of "mpirun (Open MPI) 4.1.4" or "HYDRA build details:\n  Version: 4.0.2\n" that is a version.
std::string version_in(std::string_view text) {
    for (std::size_t at = 0; (at = text.find_first_not_of(kBlank, at)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
        if (const std::string_view word = text.substr(at, end - at); is_version(word)) return std::string(word);
        at = end;
    }
    return {};
}

std::string version_of(const std::string& program) {
    if (program.empty()) return {};
    const Result<slurm::CommandOutput> printed = slurm::run({.program = program,
                                                             .arguments = {"--version"},
                                                             .environment = {{"PATH", "/usr/bin:/bin"}},
                                                             .deadline = std::chrono::seconds{5},
                                                             .max_output = 64 * 1024});
    return printed && printed->exit_code == 0 ? version_in(printed->out) : std::string();
}

}  // namespace

void find_mpi_versions(ZoneConfig& zone) {
    zone.mpich_version = version_of(zone.mpiexec);
    zone.openmpi_version = version_of(zone.mpirun);
}

}  // namespace zbs::zone_program
