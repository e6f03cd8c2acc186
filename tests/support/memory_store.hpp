#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/storage/zone_store.hpp"

namespace zbs::test {

template <class Record>
class MemoryRecordTable : public RecordTable<Record> {
  public:
    std::optional<Error> fault;  ///< while set, every call fails and changes nothing
    Result<void> save(const Record& record) override {
        if (fault) return *fault;
        records_.insert_or_assign(key_of(record), record);
        return {};
    }
    Result<void> remove(const std::string& key) override {
        if (fault) return *fault;
        records_.erase(key);
        return {};
    }
    Result<std::vector<Record>> load() override {
        if (fault) return *fault;
        std::vector<Record> all;
        for (const auto& [key, record] : records_) all.push_back(record);
        return all;
    }

  private:
    std::map<std::string, Record> records_;
};

/// ZoneStore in memory; passes the same contract suite as the one on disk. It outlives the service that uses it, so a
/// test can start a second service on it as after a crash. While `fault` is set every call fails and changes nothing.
class MemoryZoneStore : public ZoneStore {
  public:
    std::optional<Error> fault;
    int writes = 0;                  ///< calls that changed something
    std::function<void()> on_write;  ///< called after each of them, if set

    Result<void> insert(const Application& application) override {
        if (fault) return *fault;
        if (removed_applications_.contains(application.request.id) ||
            !applications_.emplace(application.request.id, application).second)
            return taken("application");
        return wrote();
    }
    Result<void> update(const ApplicationId& id, const ApplicationStatus& status) override {
        if (fault) return *fault;
        if (const auto at = applications_.find(id); at != applications_.end()) at->second.status = status;
        return wrote();
    }
    Result<std::vector<Application>> load_open_applications() override {
        if (fault) return *fault;
        return chosen(applications_, [](const Application& a) { return is_open(a.status); });
    }
    Result<std::optional<Application>> find_application(const ApplicationId& id) override {
        if (fault) return *fault;
        return found(applications_, id);
    }
    Result<std::vector<ApplicationSummary>> list_applications(const ApplicationQuery& query) override {
        if (fault) return *fault;
        std::vector<ApplicationSummary> rows;
        for (const auto& [id, application] : applications_) {
            const ApplicationSummary row = summary_of(application);
            if ((!query.owner || row.owner == *query.owner) && (!query.after || place_of(row) < *query.after) &&
                (!query.since || row.submitted >= *query.since) &&
                (query.states.empty() || std::ranges::count(query.states, row.state)))
                rows.push_back(row);
        }
        std::ranges::sort(rows, std::greater{}, place_of);
        if (rows.size() > query.limit) rows.resize(query.limit);
        return rows;
    }
    Result<std::map<ApplicationState, std::size_t>> count_applications(const std::optional<Caller>& owner,
                                                                       Time ended_after) override {
        if (fault) return *fault;
        std::map<ApplicationState, std::size_t> counts;
        for (const auto& [id, a] : applications_)
            if ((!owner || a.owner == *owner) && (is_open(a.status) || changed_at(a.status) > ended_after))
                ++counts[a.status.state];
        return counts;
    }
    Result<std::vector<EndedApplication>> ended_applications(Time time, std::size_t limit) override {
        if (fault) return *fault;
        auto ended = chosen(applications_,
                            [time](const Application& a) { return !is_open(a.status) && changed_at(a.status) < time; });
        std::vector<EndedApplication> rows;
        for (const Application& a :
             first_of(std::move(ended), limit, [](const Application& x) { return changed_at(x.status); }))
            rows.push_back({a.request.id, a.status.launcher_step});
        return rows;
    }
    Result<void> remove(const ApplicationId& id) override {
        if (fault) return *fault;
        removed_applications_.insert(id);
        std::erase_if(events_, [&](const StateEvent& e) { return !e.part && e.application == id; });
        applications_.erase(id);
        return wrote();
    }
    Result<bool> was_removed(const ApplicationId& id) override {
        if (fault) return *fault;
        return removed_applications_.contains(id);
    }

    Result<void> save(const PartRecord& part) override {
        if (fault) return *fault;
        parts_[part.request.id] = part;
        return wrote();
    }
    Result<std::vector<PartRecord>> load_open_parts() override {
        if (fault) return *fault;
        return chosen(parts_, [](const PartRecord& p) { return !is_final(p.status.state); });
    }
    Result<std::optional<PartRecord>> find_part(const PartId& id) override {
        if (fault) return *fault;
        return found(parts_, id);
    }
    Result<std::vector<EndedPart>> ended_parts(Time time, std::size_t limit) override {
        if (fault) return *fault;
        auto ended = chosen(parts_, [time](const PartRecord& p) { return is_final(p.status.state) && p.ended < time; });
        std::vector<EndedPart> rows;
        for (const PartRecord& p : first_of(std::move(ended), limit, [](const PartRecord& x) { return x.ended; }))
            rows.push_back({p.request.id, p.operation, p.proxies});
        return rows;
    }
    Result<std::vector<PartRecord>> recent_parts(Time time, std::size_t limit) override {
        if (fault) return *fault;
        auto ended = chosen(parts_, [time](const PartRecord& p) {
            return is_final(p.status.state) && p.ended > time && !p.operation.empty();
        });
        std::ranges::stable_sort(ended, [](const PartRecord& a, const PartRecord& b) {
            return std::tie(b.ended, b.request.id) < std::tie(a.ended, a.request.id);
        });
        if (ended.size() > limit) ended.erase(ended.begin() + static_cast<std::ptrdiff_t>(limit), ended.end());
        return ended;
    }
    Result<void> remove(const PartId& id) override {
        if (fault) return *fault;
        removed_parts_.insert(id);
        std::erase_if(events_, [&](const StateEvent& e) { return e.part == id; });
        parts_.erase(id);
        return wrote();
    }
    Result<bool> was_removed(const PartId& id) override {
        if (fault) return *fault;
        return removed_parts_.contains(id);
    }
    /// Ended ones, too.
    std::vector<PartRecord> all_parts() const { return values(parts_); }
    std::vector<Application> all_applications() const { return values(applications_); }

    /// From now on no event can be stored.
    void break_events(std::string why) { broken_events_ = std::move(why); }
    Result<void> append(const StateEvent& event) override {
        if (!broken_events_.empty()) return Error{ErrorCode::kInternal, broken_events_, {}};
        if (fault) return *fault;
        if (!events_.empty() && event.id <= events_.back().id) return taken("event");
        events_.push_back(event);
        const auto alike = [&](const StateEvent& e) {
            return e.part == event.part && e.application == event.application;
        };
        if (std::cmp_greater(std::ranges::count_if(events_, alike), kMaxEventsOfOne))
            events_.erase(std::ranges::find_if(events_, alike));
        return {};  // one step with what it tells of, which was counted
    }
    Result<std::vector<StateEvent>> events(const EventQuery& query) override {
        if (fault) return *fault;
        std::vector<StateEvent> some;
        for (const StateEvent& event : events_)
            if (fits(event, query) && some.size() < query.limit) some.push_back(event);
        return some;
    }
    Result<std::uint64_t> last_event() override {
        if (fault) return *fault;
        return events_.empty() ? 0 : events_.back().id;
    }

    Result<std::uint64_t> next_token() override {
        if (fault) return *fault;
        ++writes;
        return ++token_;
    }
    MemoryRecordTable<QueueRecord>& queues() override { return queues_; }

    Result<std::optional<Time>> believed_time() override {
        if (fault) return *fault;
        return believed_;
    }
    Result<void> record_believed_time(Time now) override {
        if (fault) return *fault;
        believed_ = now;
        return {};  // not counted among what changed: nobody can see it
    }

    Result<void> save(const Peer& peer) override {
        if (fault) return *fault;
        peers_[peer.zone] = peer;
        return wrote();
    }
    Result<std::vector<Peer>> load_peers() override {
        if (fault) return *fault;
        return values(peers_);
    }

    Result<void> insert(const Profile& profile) override {
        if (fault) return *fault;
        if (!profiles_.emplace(profile.id, profile).second) return taken("profile");
        const auto give_way = [&](std::size_t most, const auto& alike) {
            std::size_t kept = 0;
            std::vector<ProfileId> old;
            for (auto it = profiles_.rbegin(); it != profiles_.rend(); ++it)
                if (it->second.owner == profile.owner && alike(it->second) && ++kept > most) old.push_back(it->first);
            for (const ProfileId& id : old) profiles_.erase(id);
        };
        const ProfileSummary kind = summary_of(profile);
        give_way(kMaxProfilesOfAKind, [&](const Profile& other) {
            const ProfileSummary s = summary_of(other);
            return std::tie(s.program, s.digest, s.arguments, s.ranks, s.complete) ==
                   std::tie(kind.program, kind.digest, kind.arguments, kind.ranks, kind.complete);
        });
        give_way(kMaxProfilesOfAnOwner, [](const Profile&) { return true; });
        return wrote();
    }
    Result<std::vector<ProfileSummary>> profiles_of(const ProgramQuery& query) override {
        if (fault) return *fault;
        std::vector<ProfileSummary> rows;
        for (auto it = profiles_.rbegin(); it != profiles_.rend() && rows.size() < query.limit; ++it) {
            const Profile& p = it->second;
            if (p.owner == query.owner &&
                (p.model.program == query.program || (!query.digest.empty() && p.digest == query.digest)))
                rows.push_back(summary_of(p));
        }
        return rows;
    }
    Result<std::vector<ProfileSummary>> list_profiles(const Caller& owner) override {
        if (fault) return *fault;
        std::vector<ProfileSummary> all;
        for (auto it = profiles_.rbegin(); it != profiles_.rend() && all.size() < 1000; ++it)
            if (it->second.owner == owner) all.push_back(summary_of(it->second));
        return all;
    }
    Result<std::optional<Caller>> profile_owner(const ProfileId& id) override {
        if (fault) return *fault;
        const auto at = profiles_.find(id);
        return at == profiles_.end() ? std::nullopt : std::optional(at->second.owner);
    }
    Result<std::optional<Profile>> load_profile(const Caller& owner, const ProfileId& id) override {
        if (fault) return *fault;
        const auto at = profiles_.find(id);
        return at != profiles_.end() && at->second.owner == owner ? std::optional(at->second) : std::nullopt;
    }

  private:
    template <class Map>
    static std::vector<typename Map::mapped_type> values(const Map& map) {
        std::vector<typename Map::mapped_type> all;
        for (const auto& [key, value] : map) all.push_back(value);
        return all;
    }
    template <class Map, class Choice>
    static std::vector<typename Map::mapped_type> chosen(const Map& map, Choice choice) {
        std::vector<typename Map::mapped_type> some;
        for (const auto& [key, value] : map)
            if (choice(value)) some.push_back(value);
        return some;
    }
    template <class Map>
    static std::optional<typename Map::mapped_type> found(const Map& map, const typename Map::key_type& key) {
        const auto at = map.find(key);
        return at == map.end() ? std::nullopt : std::optional(at->second);
    }
    template <class Record, class Key>
    static std::vector<Record> first_of(std::vector<Record> all, std::size_t limit, Key key) {
        std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
        if (all.size() > limit) all.resize(limit);
        return all;
    }
    static Error taken(const char* what) {
        return {ErrorCode::kConflict, std::string("an ") + what + " with this id is stored already", {}};
    }
    Result<void> wrote() {
        ++writes;
        if (on_write) on_write();
        return {};
    }

    std::map<ApplicationId, Application> applications_;
    std::vector<StateEvent> events_;
    std::string broken_events_;
    std::map<PartId, PartRecord> parts_;
    std::set<ApplicationId> removed_applications_;
    std::set<PartId> removed_parts_;
    std::map<std::string, Peer> peers_;
    std::map<ProfileId, Profile> profiles_;
    std::uint64_t token_ = 0;
    MemoryRecordTable<QueueRecord> queues_;
    std::optional<Time> believed_;
};

/// SiteStore in memory; passes the same contract suite as the one on disk.
class MemorySiteStore : public SiteStore {
  public:
    MemoryRecordTable<Member>& members() override { return members_; }
    MemoryRecordTable<Block>& blocks() override { return blocks_; }
    MemoryRecordTable<AnnouncedBlocks>& announced_blocks() override { return announced_blocks_; }
    MemoryRecordTable<TrustedOrganisation>& trusted() override { return trusted_; }
    MemoryRecordTable<Delegation>& delegations() override { return delegations_; }
    MemoryRecordTable<PeeringRecord>& peerings() override { return peerings_; }
    MemoryRecordTable<PoolLease>& pool_leases() override { return pool_leases_; }
    Result<std::uint64_t> next_number(const std::string& name) override { return ++numbers_[name]; }

  private:
    MemoryRecordTable<Member> members_;
    MemoryRecordTable<Block> blocks_;
    MemoryRecordTable<AnnouncedBlocks> announced_blocks_;
    MemoryRecordTable<TrustedOrganisation> trusted_;
    MemoryRecordTable<Delegation> delegations_;
    MemoryRecordTable<PeeringRecord> peerings_;
    MemoryRecordTable<PoolLease> pool_leases_;
    std::map<std::string, std::uint64_t> numbers_;
};

/// RegistryStore in memory; likewise.
class MemoryRegistryStore : public RegistryStore {
  public:
    MemoryRecordTable<EnrolledZone>& zones() override { return zones_; }
    MemoryRecordTable<EnrolmentRight>& rights() override { return rights_; }
    MemoryRecordTable<TrustedOrganisation>& organisations() override { return organisations_; }

  private:
    MemoryRecordTable<EnrolledZone> zones_;
    MemoryRecordTable<EnrolmentRight> rights_;
    MemoryRecordTable<TrustedOrganisation> organisations_;
};

}  // namespace zbs::test
