#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

struct ApplicationRun;

/// Results of one application on their way home, from one zone after the other. Lives until its last call is answered.
class ResultTransfer : public std::enable_shared_from_this<ResultTransfer> {
  public:
    struct Callbacks {
        std::function<bool()> takes_results;  ///< asked at every answer
        /// Called at most once: with the results, or with none where home takes none any more, and the parts all of
        /// whose results are here; not at all if the
        /// application ended meanwhile.
        std::function<void(std::optional<StagedResults>, const std::set<PartId>& brought)> ended;
    };
    ResultTransfer(const ApplicationPorts& ports, const ZoneOffers& zones, std::shared_ptr<ApplicationRun> run,
                   Callbacks callbacks);
    void begin() { ask_results(); }

  private:
    void ask_results();
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
    const Callbacks callbacks_;
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
    StagedResults results_;
};

}  // namespace zbs
