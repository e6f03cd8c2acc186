#include "services/zone_scheduler/home/profile_library.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "algorithms/learning/argument_class.hpp"
#include "algorithms/learning/extrapolation.hpp"
#include "algorithms/learning/merge_profiles.hpp"
#include "algorithms/learning/model_error.hpp"
#include "algorithms/learning/run_time.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"

namespace zbs {
namespace {

constexpr std::size_t kRecentChoices = 8;
/// Pairs that are read for one plan: what is more would hold up everybody else.
constexpr std::size_t kMaxPairs = 100'000;
/// Pairs from which another number of ranks is extrapolated, and that it may have.
constexpr std::size_t kMaxExtrapolatedPairs = 10'000;

static_assert(learning::kMaxArgumentClass == limits::kMaxArgumentClassBytes &&
              kMaxProfilesOfAKind > learning::kMergedRuns);

/// Digits of a staged file's digest that are part of the class.
constexpr std::size_t kDigestDigits = 12;

std::string class_of(const std::vector<std::string>& argv) {
    return learning::argument_class(std::span(argv).subspan(argv.empty() ? 0 : 1));
}

/// With the content of the input that travels along, as a program may read its settings from a file.
std::string class_of(const ApplicationRequest& request) {
    std::vector<std::string> words = request.argv;
    for (const StagedFile& file : request.staging.inputs) {
        // Behind a letter digits are part of a name, not a number.
        if (file.name != request.staging.program)
            words.push_back(file.name + "=sha" + file.digest.substr(0, kDigestDigits));
    }
    return class_of(words);
}

}  // namespace

/// Profiles of one program, newest first.
struct ProfileLibrary::Known {
    Caller owner;
    std::string program;
    std::string arguments;
    std::vector<ProfileSummary> runs;
    bool other_file = false;  ///< all are of another file under the same path

    /// Those of the kind's arguments that `fits`, or else complete ones of the arguments of the newest.
    template <class Fits>
    std::pair<std::vector<const ProfileSummary*>, bool> alike(Fits fits) const {
        std::vector<const ProfileSummary*> same, other;
        const std::string* newest = nullptr;
        for (const ProfileSummary& run : runs) {
            if (!fits(run)) continue;
            if (run.arguments == arguments) same.push_back(&run);
            if (!run.complete) continue;
            if (newest == nullptr) newest = &run.arguments;
            if (run.arguments == *newest) other.push_back(&run);
        }
        if (!same.empty()) return {std::move(same), true};
        return {std::move(other), false};
    }
};

/// A staged program is known by what its owner sent.
std::string ProfileLibrary::digest_of(const ApplicationRequest& request) const {
    for (const StagedFile& file : request.staging.inputs)
        if (file.name == request.staging.program) return file.digest;
    return digest_of(request.argv);
}

std::string ProfileLibrary::digest_of(const std::vector<std::string>& argv) const {
    return !digest_of_ || argv.empty() || !argv[0].starts_with('/') ? std::string{} : digest_of_(argv[0]);
}

ProfileLibrary::Choice ProfileLibrary::choose(const Caller& owner, const ApplicationRequest& request) {
    const std::string digest = digest_of(request);
    Choice own{{}, "none", {}, digest, {}};
    Result<std::vector<ProfileSummary>> stored = store_.profiles_of({owner, request.argv[0], digest});
    if (!stored) {
        log_.warn("profiles_unreadable", {{"program", request.argv[0]}, {"reason", stored.error().message}});
        stored = std::vector<ProfileSummary>{};
    }
    Known known{owner, request.argv[0], class_of(request), *std::move(stored), false};
    const auto is_this_file = [&](const ProfileSummary& run) { return !digest.empty() && run.digest == digest; };
    if (std::any_of(known.runs.begin(), known.runs.end(), is_this_file))
        std::erase_if(known.runs, [&](const ProfileSummary& run) { return !is_this_file(run); });
    else
        known.other_file = std::none_of(known.runs.begin(), known.runs.end(), [&](const ProfileSummary& run) {
            return run.digest.empty() || digest.empty();
        });
    std::vector<learning::TimedRun> times;
    for (auto run = known.runs.rbegin(); run != known.runs.rend(); ++run)
        if (run->measured && run->arguments == known.arguments)
            times.push_back({run->ranks, to_seconds(*run->measured)});
    if (const auto seconds = learning::predict_run_time(times, request.ranks))
        own.predicted = std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(std::min(*seconds, limits::kMaxRunSeconds)));

    if (request.model) {
        own.model = std::make_shared<const ApplicationModel>(*request.model);
        own.source = "request";
        return own;
    }
    if (!request.use_profile || known.runs.empty()) return own;
    const std::string made_from = to_uri(owner) + '\n' + request.argv[0] + '\n' + digest + '\n' + known.arguments +
                                  '\n' + std::to_string(request.ranks) + '\n' + to_string(known.runs[0].id);
    const auto at = std::find_if(recent_.begin(), recent_.end(), [&](const auto& r) { return r.first == made_from; });
    if (at != recent_.end()) {
        recent_.splice(recent_.begin(), recent_, at);
    } else {
        recent_.emplace_front(made_from, learn(known, request));
        if (recent_.size() > kRecentChoices) recent_.pop_back();
    }
    Choice choice = recent_.front().second;
    choice.digest = own.digest;
    choice.predicted = own.predicted;
    return choice;
}

ProfileLibrary::Choice ProfileLibrary::learn(const Known& known, const ApplicationRequest& request) {
    const auto [runs, same_arguments] =
        known.alike([&](const ProfileSummary& run) { return run.ranks == request.ranks; });
    Choice choice = runs.empty() ? extrapolated(known, request.ranks) : merged(known, runs);
    const auto add = [&](const char* words) {
        choice.learned = (choice.learned.empty() ? "a run" : choice.learned) + words;
    };
    if (!runs.empty()) choice.last_zones = zones_of(*runs.front());
    if (!runs.empty() && !same_arguments) add(" with other arguments or input");
    if (choice.model && known.other_file) add(", of another file under this path");
    return choice;
}

std::vector<ZoneName> ProfileLibrary::zones_of(const ProfileSummary& run) const {
    if (!run.application) return {};
    const Result<std::optional<Application>> found = applications_.find_application(*run.application);
    if (!found || !*found || !(*found)->status.plan) return {};
    return (*found)->status.plan->zone_of_rank;
}

/// What the newest of these runs have in common.
ProfileLibrary::Choice ProfileLibrary::merged(const Known& known,
                                              const std::vector<const ProfileSummary*>& runs) const {
    const bool complete = std::any_of(runs.begin(), runs.end(), [](const auto* run) { return run->complete; });
    std::vector<Profile> loaded;
    std::size_t pairs = 0;
    for (const ProfileSummary* run : runs) {
        if (run->complete != complete) continue;
        if (loaded.size() == learning::kMergedRuns || pairs > kMaxPairs) break;
        Result<std::optional<Profile>> profile = store_.load_profile(known.owner, run->id);
        if (!profile || !*profile) {
            log_.warn("profile_unreadable",
                      {{"profile", to_string(run->id)}, {"reason", profile ? "it is gone" : profile.error().message}});
            continue;
        }
        pairs += (*profile)->model.graph.edge_count();
        loaded.push_back(**std::move(profile));
    }
    if (loaded.empty()) return {};
    std::vector<learning::MergeInput> inputs;
    for (auto profile = loaded.rbegin(); profile != loaded.rend(); ++profile)
        inputs.push_back({&profile->model.graph, profile->model.complete});
    auto common = learning::merge_profiles(inputs);
    Choice choice;
    choice.model = std::make_shared<const ApplicationModel>(
        ApplicationModel{known.program, common->complete, std::move(common->graph), loaded[0].model.unseen});
    choice.source = to_string(loaded[0].id);
    // One whole run of this kind needs no words.
    if (common->runs > 1) choice.learned = "merged from " + std::to_string(common->runs) + " runs";
    if (!common->complete)
        choice.learned = common->runs > 1 ? choice.learned + " that were cut short" : "a run that was cut short";
    if (!choice.model->unseen.empty())
        choice.learned +=
            (choice.learned.empty() ? "" : ", ") + ("without the messages of " + unseen_text(choice.model->unseen));
    return choice;
}

ProfileLibrary::Choice ProfileLibrary::extrapolated(const Known& known, int ranks) const {
    const auto [runs, same_arguments] = known.alike([](const ProfileSummary& run) { return run.complete; });
    std::map<int, std::vector<const ProfileSummary*>> by_ranks;
    for (const ProfileSummary* run : runs) by_ranks[run->ranks].push_back(run);
    std::vector<Choice> sizes;
    for (const auto& [count, of_size] : by_ranks)
        if (Choice size = merged(known, of_size); size.model) sizes.push_back(std::move(size));
    std::vector<const TaskGraph*> graphs;
    for (const Choice& size : sizes) graphs.push_back(&size.model->graph);
    learning::Extrapolation found = learning::extrapolate_profile(graphs, ranks, {.most_edges = kMaxExtrapolatedPairs});
    Choice choice;
    if (!found.graph) {
        if (!graphs.empty())
            log_.info("profile_not_extrapolated", {{"ranks", std::to_string(ranks)}, {"reason", found.how}});
        choice.learned = graphs.empty() ? "" : "not extrapolated: " + found.how;
        return choice;
    }
    choice.model =
        std::make_shared<const ApplicationModel>(ApplicationModel{known.program, true, *std::move(found.graph)});
    choice.source = to_string(runs[0]->id);
    choice.learned = "extrapolated: " + found.how + (same_arguments ? "" : ", with other arguments or input") +
                     " (confidence " + std::to_string(static_cast<int>(found.confidence * 100)) + " %)";
    return choice;
}

Profile ProfileLibrary::of_run(const ProfileId& id, const Application& application, const ApplicationModel& model,
                               std::optional<Duration> measured) const {
    const std::vector<std::string>& argv = application.request.argv;
    Profile profile{id,
                    application.owner,
                    application.request.id,
                    clock_.now(),
                    {argv[0], model.complete, model.graph, model.unseen}};
    profile.arguments = class_of(application.request);
    // The file may be another by now; what was planned with is what ran.
    if (application.status.plan) {
        profile.digest = application.status.plan->digest;
        profile.predicted = application.status.plan->predicted;
    }
    profile.measured = measured;
    return profile;
}

Result<std::vector<ProfileRow>> ProfileLibrary::list(const Caller& owner) const {
    Result<std::vector<ProfileSummary>> runs = store_.list_profiles(owner);
    if (!runs) return runs.error();
    const auto kind_of = [](const ProfileSummary& run) {
        return std::tuple(run.digest.empty() ? run.program : run.digest, run.arguments, run.ranks);
    };
    std::map<decltype(kind_of(ProfileSummary{})), learning::ModelError> errors;
    for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
        if (run->predicted && run->measured)
            static_cast<void>(errors[kind_of(*run)].observe(to_seconds(*run->predicted), to_seconds(*run->measured)));
    }
    std::vector<ProfileRow> rows;
    for (ProfileSummary& run : *runs) {
        ProfileRow row{.profile = std::move(run), .error = {}};
        if (const auto at = errors.find(kind_of(row.profile)); at != errors.end() && at->second.count() > 0) {
            const learning::ModelError& error = at->second;
            row.error = PredictionError{static_cast<int>(error.count()), error.mean_relative_error(), error.spread(),
                                        error.last_relative_error()};
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Result<ProfileSummary> ProfileLibrary::import(const Caller& owner, const ProfileImport& wanted) {
    if (auto own = check_mark(wanted.id.value, owner); !own) return own.error();
    if (wanted.argv.empty() || wanted.argv[0].empty()) return invalid("must begin with a program", "/argv");
    Profile profile{wanted.id, owner, std::nullopt, clock_.now(), wanted.model};
    profile.model.program = wanted.argv[0];
    profile.digest = digest_of(wanted.argv);
    profile.arguments = class_of(wanted.argv);
    profile.measured = wanted.measured;
    const Result<std::optional<Caller>> taken = store_.profile_owner(wanted.id);
    if (!taken) return taken.error();
    if (*taken) {
        const Error reused{ErrorCode::kIdReused, "another profile has this id; import with a fresh one", "/id"};
        if (**taken != owner) return reused;
        const Result<std::optional<Profile>> before = store_.load_profile(owner, wanted.id);
        if (!before) return before.error();
        if (!*before) return reused;
        // Time and file may have changed since; what was asked for has not.
        profile.at = (*before)->at;
        profile.digest = (*before)->digest;
        if (profile != **before) return reused;
        return summary_of(profile);
    }
    if (auto stored = store_.insert(profile); !stored) return stored.error();
    return summary_of(profile);
}

}  // namespace zbs
