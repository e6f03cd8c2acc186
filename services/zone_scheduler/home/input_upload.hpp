#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

/// Files of one application on their way to its zones. Lives until its last call is answered.
class InputUpload : public std::enable_shared_from_this<InputUpload> {
  public:
    /// `event::FilesSent` comes once: all zones have all, nobody wants them any more, or one of them failed.
    InputUpload(const ApplicationPorts& ports, const ZoneOffers& zones, std::shared_ptr<ApplicationRun> run,
                ApplyInput apply)
        : ports_(ports), zones_(zones), run_(std::move(run)), apply_(std::move(apply)) {}
    void begin();

  private:
    void stage_part(std::size_t part);
    void send_file(std::size_t part, std::size_t file, std::uint64_t offset);
    void staging_failed(std::size_t part, const Error& error);
    bool is_unwanted() const;
    void record(const ZoneName& zone, bool ok, const std::string& words);
    void end(const event::FilesSent& sent);

    const ApplicationPorts& ports_;
    const ZoneOffers& zones_;
    const std::shared_ptr<ApplicationRun> run_;
    const ApplyInput apply_;
    Duration until_{};      // steady time
    Duration all_until_{};  // steady time at which even a slow zone has all
    std::set<std::size_t> done_;
    std::size_t parts_ = 0;  // that get files
    std::map<std::size_t, int> setbacks_;
    std::map<std::size_t, std::uint64_t> sent_;  // bytes
    bool ended_ = false;
};

}  // namespace zbs
