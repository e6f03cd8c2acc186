#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

/// Results of one application on their way home, from one zone after the other. Lives until its last call is answered.
class ResultTransfer : public std::enable_shared_from_this<ResultTransfer> {
  public:
    /// `event::ResultsFetched` comes once, unless the application ended meanwhile.
    ResultTransfer(const ApplicationPorts& ports, const ZoneOffers& zones, std::shared_ptr<ApplicationRun> run,
                   ApplyInput apply);
    void begin();

  private:
    void ask_results();
    bool takes_results() const;
    void end(std::optional<StagedResults> results);
    void list_arrived(const ZoneName& zone, const StagedResults& list);
    void bring_file();
    void take_piece(const Result<FileChunk>& piece);
    void next_zone();
    bool is_named(const std::string& pattern) const;
    std::string free_name(const ZoneName& zone) const;
    void take(const ZoneName& zone);
    void next();

    const ApplicationPorts& ports_;
    const ZoneOffers& zones_;
    const std::shared_ptr<ApplicationRun> run_;
    const ApplyInput apply_;
    const Duration patience_;  // with a silent zone
    std::size_t part_ = 0;
    Duration until_{};               // steady time; each piece that comes moves it
    std::vector<ResultFile> files_;  // of this part, still to come
    int setbacks_ = 0;
    std::uint64_t offset_ = 0;
    std::uint64_t sum_ = 0;
    std::set<std::string> matched_;  // patterns
    std::string local_name_;         // of the first of `files_`
    Duration zone_until_{};          // steady time at which even a slow zone has sent them
    bool left_ = false;              // the zone keeps something that has not come
    std::set<PartId> brought_;
    bool is_older_ = false;  // some have come before a restart
    StagedResults results_;
};

}  // namespace zbs
