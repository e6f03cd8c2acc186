#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

struct ApplicationRun;

/// Files of one application on their way to its zones. Lives until its last call is answered.
class InputUpload : public std::enable_shared_from_this<InputUpload> {
  public:
    struct Failure {
        ZoneName zone;  ///< that does not take them; empty where home is the cause
        std::string reason;
        bool is_denial = false;  ///< it never will
    };
    struct Callbacks {
        std::function<bool()> is_unwanted;  ///< asked at every answer: a phase with files can be long
        /// Called once: all zones have all, nobody wants them any more, or one of them failed.
        std::function<void(const std::optional<Failure>&)> ended;
    };
    InputUpload(const ApplicationPorts& ports, const ZoneOffers& zones, std::shared_ptr<ApplicationRun> run,
                Callbacks callbacks);
    void begin();

  private:
    void stage_part(std::size_t part);
    void send_file(std::size_t part, std::size_t file, std::uint64_t offset);
    void staging_failed(std::size_t part, const Error& error);
    void end(const std::optional<Failure>& failure);

    const ApplicationPorts& ports_;
    const ZoneOffers& zones_;
    const std::shared_ptr<ApplicationRun> run_;
    const Callbacks callbacks_;
    Duration until_{};      // steady time
    Duration all_until_{};  // steady time at which even a slow zone has all
    std::set<std::size_t> done_;
    std::size_t parts_ = 0;  // that get files
    std::map<std::size_t, int> setbacks_;
    std::map<std::size_t, std::uint64_t> sent_;  // bytes
    bool ended_ = false;
};

}  // namespace zbs
