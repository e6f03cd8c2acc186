#include "services/zone_scheduler/home/application_output.hpp"

#include <algorithm>
#include <utility>

#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/home/application_service.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs {
namespace {

/// What the launcher printed for the user: some lines at most.
std::string launcher_errors(Executor& executor, const StepId& step_id, const std::string& file) {
    constexpr std::size_t kMaxErrors = 1024 * 1024;
    const Result<std::string> text = executor.read(step_id, file, 0, kMaxErrors);
    return text ? mpich::without_own_lines(*text) : std::string{};
}

}  // namespace

Result<ApplicationOutput::LogIndex> ApplicationOutput::logs(const Caller& caller, const ApplicationId& id) const {
    const Result<std::shared_ptr<const Application>> found = applications_.find(caller, id);
    if (!found) return found.error();
    const std::shared_ptr<const Application>& application = *found;
    LogIndex index;
    index.complete = is_final(application->status.state);
    if (application->status.launcher_step.empty()) return index;
    for (const bool error_stream : {false, true}) {
        const std::string prefix = std::string(own_files::of_ranks(error_stream));
        for (const StepId& step : output_steps(*application)) {
            for (const Executor::File& file : executor_.list(step, prefix)) {
                const std::string number = file.name.substr(prefix.size());
                if (file.bytes == 0 || number.empty() || number.size() > 9 ||
                    number.find_first_not_of("0123456789") != std::string::npos)
                    continue;
                index.files.push_back({std::stoi(number), error_stream, file.bytes});
            }
        }
    }
    if (const std::string errors =
            launcher_errors(executor_, application->status.launcher_step, std::string(own_files::kStderr));
        !errors.empty())
        index.files.push_back({-1, true, errors.size()});
    std::sort(index.files.begin(), index.files.end(), [](const LogFile& a, const LogFile& b) {
        return std::pair(a.rank, a.error_stream) < std::pair(b.rank, b.error_stream);
    });
    return index;
}

Result<ApplicationOutput::LogChunk> ApplicationOutput::log(const Caller& caller, const ApplicationId& id, int rank,
                                                           bool error_stream, std::uint64_t offset,
                                                           std::size_t limit) const {
    const Result<std::shared_ptr<const Application>> found = applications_.find(caller, id);
    if (!found) return found.error();
    const std::shared_ptr<const Application>& application = *found;
    if (rank >= application->request.ranks)
        return Error{
            ErrorCode::kNotFound,
            "application " + to_string(id) + " has ranks 0 to " + std::to_string(application->request.ranks - 1),
            {}};
    // The state is read before the bytes: "complete" must not overtake output.
    const bool ended = is_final(application->status.state);
    LogChunk chunk;
    if (!application->status.launcher_step.empty()) {
        const std::string file = rank < 0 ? std::string(own_files::of_step(error_stream))
                                          : std::string(own_files::of_ranks(error_stream)) + std::to_string(rank);
        const StepId step = rank < 0 ? application->status.launcher_step : output_step(*application, rank);
        if (rank < 0 && error_stream) {
            const std::string errors = launcher_errors(executor_, step, file);
            chunk.bytes = errors.substr(std::min<std::uint64_t>(offset, errors.size()), limit);
        } else if (Result<std::string> bytes = executor_.read(step, file, offset, limit)) {
            chunk.bytes = *std::move(bytes);
        }
    }
    chunk.complete = ended && chunk.bytes.size() < limit;
    return chunk;
}

}  // namespace zbs
