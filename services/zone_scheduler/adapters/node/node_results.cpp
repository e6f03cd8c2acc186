// NodeExecutor and what a step leaves: fetched once it has ended; then its agent forgets it.
#include <algorithm>
#include <utility>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/adapters/node/node_step.hpp"

namespace zbs::node {
namespace {

constexpr std::size_t kRemovedAtOnce = 1'000;  ///< files of a step
/// Of what a step leaves: a job could write there without end.
constexpr std::size_t kMaxFiles = 4'096;
constexpr std::uint64_t kMaxBytes = 128ULL << 20;
constexpr Duration kFetchDeadline = std::chrono::seconds{60};
constexpr std::uint64_t kMinBytesPerSecond = 1 << 20;  ///< an agent that sends slower is given up
constexpr int kKilled = 128 + 9;                       ///< exit code
constexpr const char* kNotKept = "its zone cannot keep it";
constexpr const char* kNearlyFull = "the disk of its zone is nearly full";

StepFiles::File as_file(const StepFile& file) {
    return {file.name, file.bytes, file.fault, file.is_folder, file.executable};
}

bool is_output(const StepFile& file) {
    return file.name.starts_with(own_files::kOut) || file.name.starts_with(own_files::kErr);
}

}  // namespace

/// Whether it is a result.
bool NodeExecutor::is_wanted(const Step& step, const StepFile& file) {
    return step.wanted && result_name_fault(file.name).empty() && step.wanted->asks_for(as_file(file));
}

void NodeExecutor::share_output(const std::vector<StepId>& step_ids) {
    auto room = std::make_shared<std::uint64_t>(options_.most_output_bytes);
    for (const StepId& step_id : std::set<StepId>(step_ids.begin(), step_ids.end())) {
        const SharedStep step = find(step_id);
        if (step == nullptr || step->output_room != nullptr) continue;
        step->output_room = room;
        if (!results_.end_of(step_id)) continue;  // what came of it is fetched anew
        for (const std::string_view begin : {own_files::kOut, own_files::kErr})
            for (const File& file : results_.list(step_id, std::string(begin)))
                if (file.fault.empty()) *room -= std::min(*room, file.bytes);
    }
}

/// Of what was fetched of it before a restart.
void NodeExecutor::take_room(const Step& step) {
    if (!results_.end_of(step.step_id)) return;
    Room& room = *step.wanted->room;
    for (const File& file : results_.list(step.step_id, "")) {
        if (!file.fault.empty() || !step.wanted->asks_for(file)) continue;
        room.bytes -= std::min(room.bytes, file.bytes);
        room.files -= std::min<std::size_t>(room.files, 1);
    }
}

void NodeExecutor::end(const SharedStep& step, StepStatus status, bool fetch) {
    step->end = std::move(status);
    step->phase = Step::Phase::kFetching;
    agents_.at(step->machine)->running.erase(step->step_id);
    step->fetch_until = clock_.steady_now() + kFetchDeadline;
    results_.clear(step->step_id);
    if (fetch) return fetch_list(step);
    if (step->wanted && !step->not_fetched.empty()) leave_out(*step, {"*", 0}, step->not_fetched);
    settle(step);
}

/// Of a step that its agent cannot be asked about any more.
void NodeExecutor::end_without_results(const SharedStep& step, const std::string& why) {
    step->not_fetched = "what it left was not fetched: " + why;
    end(step, {StepStatus::State::kExited, kKilled, why, true}, false);
}

void NodeExecutor::fetch_list(const SharedStep& step) {
    agent_of(step->machine)->client->list(step->step_id, {}, [this, step](Result<std::vector<StepFile>> files) {
        if (!files && is_passing(files.error()) && clock_.steady_now() < step->fetch_until)
            return later(kPause, [this, step] { fetch_list(step); });
        if (files) step->files = *std::move(files);
        step->fetch_until = clock_.steady_now() + kFetchDeadline;
        if (!files && step->wanted) leave_out(*step, {"*", 0}, "what it left could not be listed");
        choose_files(step);
        fetch_next(step);
    });
}

/// Profiles first, and of each kind as much as is bounded by itself: output without end costs no profile.
void NodeExecutor::choose_files(const SharedStep& step) {
    const auto is_result = [&](const StepFile& f) { return is_wanted(*step, f); };
    std::erase_if(step->files, [&](const StepFile& f) {
        const bool is_asked = step->wanted && step->wanted->asks_for(as_file(f));
        std::string fault = f.fault;
        if (fault.empty()) fault = is_asked ? result_name_fault(f.name) : file_name_fault(f.name);
        if (!fault.empty()) {
            if (is_asked && step->reported_left_out++ < limits::kMaxStagingNotes) leave_out(*step, f, fault);
            return true;
        }
        const bool own = std::ranges::any_of(options_.wanted_files, [&f](const std::string& begin) {
            return f.name.starts_with(begin) && f.name.find('/') == f.name.npos;
        });
        return !is_result(f) && (!own || f.bytes == 0);
    });
    std::ranges::stable_sort(step->files, {}, [&](const StepFile& f) { return is_output(f) && !is_result(f); });
    std::uint64_t profile_bytes = kMaxBytes;
    std::size_t left_out = 0;
    std::uint64_t sum = 0;
    std::vector<StepFile> chosen;
    for (StepFile& file : step->files) {
        if (is_result(file)) {
            if (!take_result(*step, file)) continue;
        } else if (!take_own_file(*step, file, profile_bytes)) {
            ++left_out;
            continue;
        }
        sum += file.bytes;
        chosen.push_back(std::move(file));
    }
    step->files = std::move(chosen);
    step->all_until = clock_.steady_now() + kFetchDeadline +
                      std::chrono::seconds{static_cast<std::int64_t>(sum / kMinBytesPerSecond)};
    if (left_out > 0)
        log_.warn("results_left_out", {{"operation", step->step_id}, {"files", std::to_string(left_out)}});
}

/// Whether this profile or output is to be fetched; of output its beginning, at least.
bool NodeExecutor::take_own_file(Step& step, StepFile& file, std::uint64_t& profile_bytes) {
    if (step.output_room == nullptr) step.output_room = std::make_shared<std::uint64_t>(options_.most_output_bytes);
    std::uint64_t& left = is_output(file) ? *step.output_room : profile_bytes;
    const bool fits = is_output(file) ? left > 0 : file.bytes <= std::min<std::uint64_t>(left, limits::kMaxReplyBytes);
    if (!fits || step.own_files >= kMaxFiles) return false;
    file.bytes = std::min(file.bytes, left);
    left -= file.bytes;
    ++step.own_files;
    return true;
}

/// Whether this result is to be fetched; what is too much is only listed.
bool NodeExecutor::take_result(Step& step, const StepFile& file) {
    Room& room = *step.wanted->room;
    const bool is_much = file.bytes > step.wanted->file_bytes || file.bytes > room.bytes || room.files == 0;
    const bool is_full = !is_much && !results_.has_space(awaited_ + file.bytes);
    if (is_much || is_full) {
        if (step.reported_left_out++ < limits::kMaxStagingNotes)
            leave_out(step, file, is_full ? kNearlyFull : "it is more than its zone takes from the machines of a part");
        return false;
    }
    room.bytes -= file.bytes;
    --room.files;
    awaited_ += file.bytes;
    return true;
}

void NodeExecutor::leave_out(const Step& step, const StepFile& file, const std::string& why) {
    log_.warn("result_left_out", {{"operation", step.step_id}, {"file", file.name}, {"reason", why}});
    if (auto noted = results_.leave_out(step.step_id, {file.name, file.bytes, why, file.is_folder}); !noted)
        log_.warn("step_result_not_kept", {{"operation", step.step_id}, {"reason", noted.error().message}});
}

void NodeExecutor::fetch_next(const SharedStep& step) {
    const Duration now = clock_.steady_now();
    if (step->file >= step->files.size()) return settle(step);
    if (now >= step->fetch_until || now >= step->all_until) {
        log_.warn("results_late",
                  {{"operation", step->step_id}, {"files", std::to_string(step->files.size() - step->file)}});
        while (step->file < step->files.size()) next_file(*step, "it did not come in time");
        return settle(step);
    }
    const StepFile& file = step->files[step->file];
    if (file.bytes == 0) return take_bytes(step, std::string{});
    agent_of(step->machine)
        ->client->read(step->step_id, file.name, step->offset,
                       std::min<std::uint64_t>(limits::kMaxLogChunkBytes, file.bytes - step->offset),
                       [this, step](const Result<std::string>& bytes) {
                           if (!bytes && is_passing(bytes.error()))
                               return later(kPause, [this, step] { fetch_next(step); });
                           take_bytes(step, bytes);
                       });
}

void NodeExecutor::take_bytes(const SharedStep& step, const Result<std::string>& bytes) {
    const StepFile& file = step->files[step->file];
    const bool is_result = is_wanted(*step, file);
    step->fetch_until = clock_.steady_now() + kFetchDeadline;
    if (!bytes) {
        next_file(*step, bytes.error().message);
    } else if (bytes->empty() && file.bytes > 0) {
        next_file(*step, "its agent sends less of it than it announced");
    } else if (!results_.has_space(bytes->size())) {
        if (is_output(file) && !is_result)
            cut_output(*step);
        else
            next_file(*step, kNearlyFull);
    } else if (auto kept = results_.append(step->step_id, file.name, *bytes); !kept) {
        next_file(*step, kNotKept);
    } else {
        step->offset += bytes->size();
        if (step->offset >= file.bytes) next_file(*step, {});
    }
    fetch_next(step);
}

/// Of output that the disk has no room for, what has come is kept.
void NodeExecutor::cut_output(Step& step) {
    StepFile& file = step.files[step.file];
    log_.warn("output_cut", {{"operation", step.step_id},
                             {"file", file.name},
                             {"bytes", std::to_string(step.offset)},
                             {"reason", kNearlyFull}});
    *step.output_room += file.bytes - step.offset;
    file.bytes = step.offset;
    next_file(step, step.offset > 0 ? std::string{} : kNearlyFull);
}

/// A file that did not come whole is left out: half a profile is none.
void NodeExecutor::next_file(Step& step, std::string fault) {
    const StepFile& file = step.files[step.file];
    const bool is_result = is_wanted(step, file);
    if (is_result) awaited_ -= std::min(awaited_, file.bytes);
    if (fault.empty() && !results_.keep(step.step_id, file.name, file.executable)) fault = kNotKept;
    if (!fault.empty()) {
        results_.drop(step.step_id, file.name);
        if (is_result) {
            leave_out(step, file, fault);
            step.wanted->room->bytes += file.bytes;
            ++step.wanted->room->files;
        } else if (is_output(file)) {
            *step.output_room += file.bytes;
        }
    }
    ++step.file;
    step.offset = 0;
}

void NodeExecutor::settle(const SharedStep& step) {
    // One that its agent never had is asked about again after a restart: nothing says that it has ended.
    const bool has_ended = step->end.state == StepStatus::State::kExited;
    if (auto kept = has_ended ? results_.finish(step->step_id, step->end) : Result<void>{}; !kept)
        log_.warn("step_result_not_kept", {{"operation", step->step_id}, {"reason", kept.error().message}});
    step->phase = Step::Phase::kEnded;
    if (!step->awaits_stop_answer) forget_at_agent(step);
}

/// Nothing of it is needed there any more.
void NodeExecutor::forget_at_agent(const SharedStep& step) {
    Agent* const agent = agent_of(step->machine);
    if (agent == nullptr) return later(kLongPause, [this, step] { forget_at_agent(step); });
    agent->client->remove(step->step_id, kRemovedAtOnce, [this, step](const Result<StepRemoval>& removal) {
        const bool is_done =
            removal ? removal->complete : removal.error().code != ErrorCode::kConflict && !is_passing(removal.error());
        if (!is_done) later(pause_for(step->machine), [this, step] { forget_at_agent(step); });
    });
}

}  // namespace zbs::node
