#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"

namespace zbs {

/// One page of a list of applications, by their places, newest first.
struct ApplicationQuery {
    std::optional<Caller> owner;             ///< none: everybody's
    std::optional<ApplicationPlace> after;   ///< only what lies behind this place, be something there or not
    std::optional<Time> since{};             ///< only what was submitted then or later
    std::vector<ApplicationState> states{};  ///< only in one of these, each named once; empty: in any
    std::size_t limit = 100;
};

/// What is needed to remove one that has ended; whole records may hold megabytes.
struct EndedApplication {
    ApplicationId id;
    StepId launcher_step;  ///< empty where it had none
    bool operator==(const EndedApplication&) const = default;
};

/// The applications of a home. Durability and errors: as of `ZoneStore`.
class ApplicationStore {
  public:
    virtual ~ApplicationStore() = default;

    /// kConflict where the id exists or has existed. Its place in lists is settled here, and stays.
    virtual Result<void> insert(const Application& application) = 0;
    virtual Result<void> update(const ApplicationId& id, const ApplicationStatus& status) = 0;
    /// Those with something left to do (`is_open`), by id (oldest first).
    virtual Result<std::vector<Application>> load_open_applications() = 0;
    /// Cost: that of one row, however many there are; likewise `list_applications` for each row of its page, whatever
    /// it is asked.
    virtual Result<std::optional<Application>> find_application(const ApplicationId& id) = 0;
    virtual Result<std::vector<ApplicationSummary>> list_applications(const ApplicationQuery& query) = 0;
    /// How many are in each state: of those with something left to do, and of those that ended after `ended_after`.
    /// Without an `owner` everybody's. Cost: that of the rows that count, of everybody's.
    virtual Result<std::map<ApplicationState, std::size_t>> count_applications(const std::optional<Caller>& owner,
                                                                               Time ended_after) = 0;
    /// Those that ended before `time` and have nothing left to do, longest ago first.
    virtual Result<std::vector<EndedApplication>> ended_applications(Time time, std::size_t limit) = 0;
    /// Forgets all of it but that the id was used.
    virtual Result<void> remove(const ApplicationId& id) = 0;
    virtual Result<bool> was_removed(const ApplicationId& id) = 0;
};

}  // namespace zbs
