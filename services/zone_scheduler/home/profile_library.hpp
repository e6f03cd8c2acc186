#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/common/messages/application.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/application_store.hpp"
#include "services/common/ports/storage/profile_store.hpp"

namespace zbs {

/// What home has learnt from runs of its users, and what it makes of it for the next one. Runs are of one kind where
/// program (by the digest of its file; by its path where home cannot read the file), argument class, staged input and
/// number of ranks are the same. Lives on the domain's strand.
class ProfileLibrary {
  public:
    /// SHA-256 of a program's file as 64 hexadecimal digits, empty where it cannot be read.
    using DigestOf = std::function<std::string(const std::string& path)>;
    /// `digest_of`: empty where programs are known by their paths only.
    ProfileLibrary(Clock& clock, ProfileStore& store, ApplicationStore& applications, Log& log, DigestOf digest_of = {})
        : clock_(clock), store_(store), applications_(applications), log_(log), digest_of_(std::move(digest_of)) {}

    struct Choice {
        std::shared_ptr<const ApplicationModel> model;  ///< shared with plans that are made in the background
        std::string source = "none";                    ///< `ApplicationPlan::profile`
        std::string learned;
        std::string digest;
        std::optional<Duration> predicted;
        std::vector<ZoneName> last_zones{};  ///< of each rank in the newest of the same runs; empty: not known any more
    };
    /// What to plan an application with: its own model; else what its kind's newest complete runs have in common; else
    /// complete ones of other arguments; else what runs on other numbers of ranks let expect; else nothing. Runs of the
    /// very same program come before those of another file under its path. A store that fails counts as an empty one.
    Choice choose(const Caller& owner, const ApplicationRequest& request);

    /// The profile that a run leaves, not stored yet. `measured` where the run ended by itself.
    Profile of_run(const ProfileId& id, const Application& application, const ApplicationModel& model,
                   std::optional<Duration> measured) const;

    /// Newest first, with the errors of predictions of each kind. Errors: the store's.
    Result<std::vector<ProfileRow>> list(const Caller& owner) const;

    /// The same import again: the same answer. Errors: kInvalidArgument for an id that is not the owner's, and where
    /// there is no program; kIdReused; the store's.
    Result<ProfileSummary> import(const Caller& owner, const ProfileImport& wanted);

  private:
    struct Known;
    std::string digest_of(const std::vector<std::string>& argv) const;
    std::string digest_of(const ApplicationRequest& request) const;
    Choice learn(const Known& known, const ApplicationRequest& request);
    std::vector<ZoneName> zones_of(const ProfileSummary& run) const;
    Choice merged(const Known& known, const std::vector<const ProfileSummary*>& runs) const;
    Choice extrapolated(const Known& known, int ranks) const;

    Clock& clock_;
    ProfileStore& store_;
    ApplicationStore& applications_;
    Log& log_;
    DigestOf digest_of_;
    /// Newest choices first, by what they were made from: an application that waits is planned again and again.
    std::list<std::pair<std::string, Choice>> recent_;
};

}  // namespace zbs
