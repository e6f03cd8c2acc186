#include "services/zone_scheduler/peer/part_results.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr Duration kCollectRetry = std::chrono::seconds{1};
/// What is copied at one time: nobody else is answered meanwhile.
constexpr std::size_t kCollectPiece = limits::kMaxFileChunkBytes;
/// What goes to home in one answer.
constexpr std::size_t kAnswerPiece = 512 * 1024;

/// Of an entry that stands for what is in a folder and could not be listed: the folder.
std::optional<std::string> unlisted_folder(const StepFiles::File& file) {
    constexpr std::string_view kAll = "/*";
    if (file.fault.empty() || !file.name.ends_with(kAll)) return std::nullopt;
    return file.name.substr(0, file.name.size() - kAll.size());
}

/// Whether it comes, or is left out and named. A folder is left out if what is in it was not asked for, unless it was
/// made for inputs.
bool is_asked_for(const Staging& staging, const StepFiles::File& file) {
    if (is_own_output(file.name)) return false;
    const auto matches = [&](const std::string& name) {
        return std::ranges::any_of(staging.results,
                                   [&](const std::string& pattern) { return matches_result(pattern, name); });
    };
    if (const std::optional<std::string> folder = unlisted_folder(file))
        return matches(*folder) || std::ranges::any_of(staging.results, [&](const std::string& pattern) {
                   return may_match_in(pattern, *folder);
               });
    if (!file.is_folder) return matches(file.name) || (file.name == "*" && !file.fault.empty());
    return matches(file.name) && !matches(file.name + "/x") &&
           std::ranges::none_of(staging.inputs,
                                [&](const StagedFile& input) { return input.name.starts_with(file.name + "/"); });
}

/// Under this name a result is in the depot: names may be long and have folders.
std::string depot_name(std::size_t index) { return std::to_string(index); }

}  // namespace

/// Results of one part on their way from its folders to the depot.
struct PartResults::Collection {
    PartRecord record;
    std::deque<Found> files;
    std::uint64_t offset = 0;  ///< in the first of them
    std::uint64_t sum = 0;     ///< bytes laid aside
    StagedResults results;

    void leave_out(const std::string& why) {
        results.leave_out(files.front().file.name + ": " + why);
        next();
    }
    void next() {
        files.pop_front();
        offset = 0;
    }
};

/// What came from machines with agents is twice in the zone once it is laid aside.
void PartResults::remove_fetched(const PartRecord& record) {
    if (!record.staging || !record.results) return;
    std::vector<std::string> names;
    for (const ResultFile& file : record.results->files) names.push_back(file.name);
    const std::vector<StepId> staged = staging_.staged_steps(record);
    std::set<StepId> fetched;
    for (std::size_t i = 0; i < staged.size() && i < record.machines.size(); ++i)
        if (config_.agents.contains(record.machines[i])) fetched.insert(staged[i]);
    for (const StepId& step : fetched) {
        if (auto removed = step_files_.remove_files(step, names); !removed)
            log_.warn("results_not_removed", {{"operation", step}, {"reason", removed.error().message}});
    }
}

void PartResults::request(const PartRecord& record) {
    if (!record.staging || record.staging->results.empty()) return;
    const auto staging = std::make_shared<const Staging>(*record.staging);
    const std::vector<StepId> staged = staging_.staged_steps(record);
    const auto room = std::make_shared<MachineFiles::Room>(
        MachineFiles::Room{.bytes = config_.staging.job_bytes, .files = limits::kMaxResultFiles});
    for (const StepId& step : std::set<StepId>(staged.begin(), staged.end()))
        machine_files_.request_results(
            step, {.asks_for = [staging](const StepFiles::File& file) { return is_asked_for(*staging, file); },
                   .file_bytes = config_.staging.file_bytes,
                   .room = room});
}

/// What the patterns ask for, host by host; of one name that of the first host.
std::deque<PartResults::Found> PartResults::search(const PartRecord& record, StagedResults& results) {
    std::deque<Found> found;
    std::set<std::string> names;
    std::set<StepId> searched;
    std::size_t too_many = 0;
    for (const StepId& step : staging_.staged_steps(record)) {
        if (!searched.insert(step).second) continue;
        for (StepFiles::File& file : step_files_.list_all(step)) {
            if (!is_asked_for(*record.staging, file)) continue;
            if (const std::string fault = result_name_fault(file.name); file.fault.empty() && !fault.empty()) {
                file.name = printable_text(file.name, limits::kMaxStagedNameBytes);
                file.fault = fault;
            }
            if (!file.fault.empty()) {
                results.leave_out(unlisted_folder(file).value_or(file.name) + ": " + file.fault);
                continue;
            }
            // Each takes a turn of the zone, and a note: a job may leave millions.
            if (found.size() >= limits::kMaxResultFiles && !names.contains(file.name)) {
                ++too_many;
                continue;
            }
            if (names.insert(file.name).second)
                found.push_back({step, std::move(file)});
            else
                results.leave_out(file.name + ": several machines of zone " + config_.zone.name +
                                  " have left one, and that of the first is taken; give each rank its own name");
        }
    }
    if (too_many > 0) {
        if (results.notes.size() >= limits::kMaxStagingNotes) results.notes.pop_back();
        results.left_out += too_many;
        results.notes.push_back("zone " + config_.zone.name + " hands on " + std::to_string(limits::kMaxResultFiles) +
                                " files of an application, and " + std::to_string(too_many) + " more are left out");
    }
    return found;
}

Result<StagedResults> PartResults::find(const PartRecord& record) {
    const PartId id = record.request.id;
    if (collecting_.contains(id)) return StagedResults{};
    const bool has_none = staging_.files() == nullptr || !record.staging || record.staging->results.empty() ||
                          record.operation.empty() || record.proxies.empty();
    if (has_none) return StagedResults{.complete = true, .files = {}, .notes = {}};
    if (record.results) {
        const Result<std::vector<FileDepot::File>> here = staging_.files()->depot().list(results_shelf(id));
        if (!here) return here.error();
        if (here->size() >= record.results->files.size()) return *record.results;
    }
    if (auto emptied = staging_.files()->depot().remove_shelf(results_shelf(id)); !emptied) return emptied.error();
    auto work = std::make_shared<Collection>(Collection{.record = record});
    work->files = search(record, work->results);
    if (!work->files.empty()) {
        if (auto reached = failpoint::reach(failpoint::Point::kStageResultsFound); !reached) return reached.error();
    }
    collecting_.emplace(id, std::move(work));
    clock_.after(Duration{0}, [this, id] { collect(id); });
    return StagedResults{};
}

/// Collects one piece, then others have their turn. A file that cannot be stored is left out, and home receives the
/// reason.
void PartResults::collect(const PartId& id) {
    Collection& work = *collecting_.at(id);
    if (work.files.empty()) return record_collected(work);
    const StepFiles::File& file = work.files.front().file;
    const auto go_on = [this, id] { clock_.after(Duration{0}, [this, id] { collect(id); }); };
    if (file.bytes > config_.staging.file_bytes) {
        work.leave_out("larger than zone " + config_.zone.name + " hands on (" + of_size(config_.staging.file_bytes) +
                       ")");
        return go_on();
    }
    if (work.offset == 0 &&
        (work.sum + file.bytes > config_.staging.job_bytes || work.results.files.size() >= limits::kMaxResultFiles)) {
        work.leave_out("zone " + config_.zone.name + " hands on at most " + of_size(config_.staging.job_bytes) +
                       " and " + std::to_string(limits::kMaxResultFiles) + " files of an application");
        return go_on();
    }
    const std::string name = depot_name(work.results.files.size());
    const Result<std::string> piece = step_files_.read(work.files.front().step, file.name, work.offset, kCollectPiece);
    const bool is_cut = piece && piece->empty() && work.offset < file.bytes;
    if (!piece || is_cut) {
        static_cast<void>(staging_.files()->depot().remove(results_shelf(id), name));
        work.leave_out("could not be read in zone " + config_.zone.name);
        return go_on();
    }
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece->size(), file.bytes - work.offset));
    const Result<FileDepot::File> laid = staging_.files()->depot().append(
        results_shelf(id), name,
        {.size = file.bytes, .offset = work.offset, .bytes = std::string_view(*piece).substr(0, wanted), .digest = {}});
    if (!laid) {
        log_.warn("result_not_kept", {{"part", to_string(id)}, {"file", file.name}, {"reason", laid.error().message}});
        static_cast<void>(staging_.files()->depot().remove(results_shelf(id), name));
        work.leave_out("zone " + config_.zone.name + " has no room for it");
        return go_on();
    }
    work.offset = laid->bytes;
    if (laid->complete) {
        work.results.files.push_back(
            {.name = file.name, .digest = laid->digest, .size = file.bytes, .executable = file.executable});
        work.sum += file.bytes;
        work.next();
    }
    go_on();
}

void PartResults::record_collected(Collection& work) {
    const PartId id = work.record.request.id;
    PartRecord changed = work.record;
    changed.results = work.results;
    changed.results->complete = true;
    if (auto ok = store_.save(changed); !ok) {
        log_.warn("store_failed", {{"part", to_string(id)}, {"reason", ok.error().message}});
        if (ok.error().code == ErrorCode::kConflict) {  // its record is gone
            collecting_.erase(id);
            return;
        }
        return static_cast<void>(clock_.after(kCollectRetry, [this, id] { collect(id); }));
    }
    staging_.remove_inputs(changed);
    remove_fetched(changed);
    collecting_.erase(id);
}

Result<FileChunk> PartResults::read(const PartRecord& record, const std::string& name, std::uint64_t offset) const {
    const PartId id = record.request.id;
    const Error none{ErrorCode::kNotFound, "part " + to_string(id) + " left no such result", {}};
    if (!record.results || staging_.files() == nullptr) return none;
    for (std::size_t i = 0; i < record.results->files.size(); ++i) {
        const ResultFile& file = record.results->files[i];
        if (file.name != name) continue;
        if (offset > file.size) return invalid("is behind the end of the file", "offset");
        Result<std::string> bytes =
            staging_.files()->depot().read(results_shelf(id), depot_name(i), offset, kAnswerPiece);
        if (!bytes) return bytes.error();
        return FileChunk{.token = 0, .size = file.size, .offset = offset, .bytes = *std::move(bytes)};
    }
    return none;
}

void PartResults::remove(const PartRecord& record) {
    if (!record.results || staging_.files() == nullptr) return;
    // What fails goes in time.
    static_cast<void>(staging_.files()->depot().remove_shelf(results_shelf(record.request.id)));
    remove_fetched(record);
}

}  // namespace zbs
