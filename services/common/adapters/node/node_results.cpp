// NodeExecutor and what a step leaves: fetched once it has ended; then its agent forgets it.
#include <algorithm>
#include <utility>

#include "services/common/adapters/node/node_step.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::node {
namespace {

constexpr std::size_t kRemovedAtOnce = 1'000;  ///< files of a step
/// Of what a step leaves: a job could write there without end.
constexpr std::size_t kMostFiles = 4'096;
constexpr std::uint64_t kMostBytes = 128ULL << 20;
constexpr Duration kFetchDeadline = std::chrono::seconds{60};
constexpr std::uint64_t kLeastBytesPerSecond = 1 << 20;  ///< an agent that sends slower is given up
constexpr const char* kNearlyFull = "the disk of its zone is nearly full";

}  // namespace

/// Of what was fetched of it before a restart.
void NodeExecutor::take_room(const Step& step) {
    if (!results_.end_of(step.operation)) return;
    Room& room = *step.wanted->room;
    for (const File& file : results_.list(step.operation, "")) {
        if (!file.fault.empty() || !step.wanted->matches(file.name)) continue;
        room.bytes -= std::min(room.bytes, file.bytes);
        room.files -= std::min<std::size_t>(room.files, 1);
    }
}

void NodeExecutor::end(const SharedStep& step, StepStatus status, bool fetch) {
    step->end = std::move(status);
    step->phase = Step::Phase::kFetching;
    agents_.at(step->machine)->running.erase(step->operation);
    step->fetch_until = clock_.steady_now() + kFetchDeadline;
    if (!fetch) return settle(step);
    results_.clear(step->operation);
    fetch_list(step);
}

void NodeExecutor::fetch_list(const SharedStep& step) {
    agent_of(step->machine)->client->list(step->operation, {}, [this, step](Result<std::vector<StepFile>> files) {
        if (!files && is_passing(files.error()) && clock_.steady_now() < step->fetch_until)
            return later(kPause, [this, step] { fetch_list(step); });
        if (files) step->files = *std::move(files);
        if (!files && step->wanted) leave_out(*step, {"*", 0}, "what it left could not be listed");
        choose_files(step);
        fetch_next(step);
    });
}

/// Profiles first, and of each kind as much as is bounded by itself: output without end costs no profile.
void NodeExecutor::choose_files(const SharedStep& step) {
    const auto is_result = [&](const StepFile& f) { return step->wanted && step->wanted->matches(f.name); };
    const auto is_output = [&](const StepFile& f) {
        return (f.name.starts_with("out.") || f.name.starts_with("err.")) && !is_result(f);
    };
    std::erase_if(step->files, [&](const StepFile& f) {
        const bool own = std::ranges::any_of(options_.wanted_files,
                                             [&f](const std::string& begin) { return f.name.starts_with(begin); });
        return !is_result(f) && (!own || f.bytes == 0);
    });
    std::ranges::stable_sort(step->files, {}, is_output);
    std::uint64_t left_of[] = {kMostBytes, options_.most_output_bytes};
    std::size_t left_out = 0, own_files = 0;
    std::uint64_t sum = 0;
    std::vector<StepFile> chosen;
    for (StepFile& file : step->files) {
        if (is_result(file)) {
            if (!take_result(*step, file)) continue;
        } else {
            std::uint64_t& left = left_of[is_output(file) ? 1 : 0];
            const bool fits =
                is_output(file) ? left > 0 : file.bytes <= std::min<std::uint64_t>(left, limits::kMaxReplyBytes);
            if (!fits || own_files >= kMostFiles) {
                ++left_out;
                continue;
            }
            file.bytes = std::min(file.bytes, left);  // of output its beginning, at least
            left -= file.bytes;
            ++own_files;
        }
        sum += file.bytes;
        chosen.push_back(std::move(file));
    }
    step->files = std::move(chosen);
    step->all_until = clock_.steady_now() + kFetchDeadline +
                      std::chrono::seconds{static_cast<std::int64_t>(sum / kLeastBytesPerSecond)};
    if (left_out > 0)
        log_.warn("results_left_out", {{"operation", step->operation}, {"files", std::to_string(left_out)}});
}

/// Whether this result is to be fetched; what is too much is only listed.
bool NodeExecutor::take_result(Step& step, const StepFile& file) {
    Room& room = *step.wanted->room;
    const bool is_much = file.bytes > step.wanted->file_bytes || file.bytes > room.bytes || room.files == 0;
    const bool is_full = !is_much && !results_.has_space(awaited_ + file.bytes);
    if (is_much || is_full) {
        if (step.told_left_out++ < limits::kMaxStagingNotes)
            leave_out(step, file, is_full ? kNearlyFull : "it is more than its zone takes from the machines of a part");
        return false;
    }
    room.bytes -= file.bytes;
    --room.files;
    awaited_ += file.bytes;
    return true;
}

void NodeExecutor::leave_out(const Step& step, const StepFile& file, const std::string& why) {
    log_.warn("result_left_out", {{"operation", step.operation}, {"file", file.name}, {"reason", why}});
    if (auto noted = results_.leave_out(step.operation, {file.name, file.bytes, why}); !noted)
        log_.warn("step_result_not_kept", {{"operation", step.operation}, {"reason", noted.error().message}});
}

void NodeExecutor::fetch_next(const SharedStep& step) {
    const Duration now = clock_.steady_now();
    if (step->file >= step->files.size()) return settle(step);
    if (now >= step->fetch_until || now >= step->all_until) {
        log_.warn("results_late",
                  {{"operation", step->operation}, {"files", std::to_string(step->files.size() - step->file)}});
        while (step->file < step->files.size()) next_file(*step, "it did not come in time");
        return settle(step);
    }
    const StepFile& file = step->files[step->file];
    if (file.bytes == 0) return take_bytes(step, std::string{});
    agent_of(step->machine)
        ->client->read(step->operation, file.name, step->offset,
                       std::min<std::uint64_t>(limits::kMaxLogChunkBytes, file.bytes - step->offset),
                       [this, step](const Result<std::string>& bytes) {
                           if (!bytes && is_passing(bytes.error()))
                               return later(kPause, [this, step] { fetch_next(step); });
                           take_bytes(step, bytes);
                       });
}

void NodeExecutor::take_bytes(const SharedStep& step, const Result<std::string>& bytes) {
    const StepFile& file = step->files[step->file];
    step->fetch_until = clock_.steady_now() + kFetchDeadline;
    if (!bytes) {
        next_file(*step, bytes.error().message);
    } else if (bytes->empty() && file.bytes > 0) {
        next_file(*step, "its agent sends less of it than it told");
    } else if (step->wanted && step->wanted->matches(file.name) && !results_.has_space(bytes->size())) {
        next_file(*step, kNearlyFull);
    } else if (auto kept = results_.append(step->operation, file.name, *bytes); !kept) {
        next_file(*step, "its zone cannot keep it");
    } else {
        step->offset += bytes->size();
        if (step->offset >= file.bytes) next_file(*step, {});
    }
    fetch_next(step);
}

/// A file that did not come whole is left out: half a profile is none.
void NodeExecutor::next_file(Step& step, const std::string& fault) {
    const StepFile& file = step.files[step.file];
    const bool is_result = step.wanted && step.wanted->matches(file.name);
    if (is_result) awaited_ -= std::min(awaited_, file.bytes);
    if (!fault.empty()) {
        results_.drop(step.operation, file.name);
        if (is_result) {
            leave_out(step, file, fault);
            step.wanted->room->bytes += file.bytes;
            ++step.wanted->room->files;
        }
    }
    ++step.file;
    step.offset = 0;
}

void NodeExecutor::settle(const SharedStep& step) {
    if (auto kept = results_.finish(step->operation, step->end); !kept)
        log_.warn("step_result_not_kept", {{"operation", step->operation}, {"reason", kept.error().message}});
    step->phase = Step::Phase::kEnded;
    if (!step->is_telling) forget_at_agent(step);
}

/// Nothing of it is needed there any more.
void NodeExecutor::forget_at_agent(const SharedStep& step) {
    Agent* const agent = agent_of(step->machine);
    if (agent == nullptr) return later(kLongPause, [this, step] { forget_at_agent(step); });
    agent->client->remove(step->operation, kRemovedAtOnce, [this, step](const Result<StepRemoval>& removal) {
        const bool is_done =
            removal ? removal->complete : removal.error().code != ErrorCode::kConflict && !is_passing(removal.error());
        if (!is_done) later(pause_for(step->machine), [this, step] { forget_at_agent(step); });
    });
}

}  // namespace zbs::node
