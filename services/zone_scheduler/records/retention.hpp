#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/steps/step_files.hpp"
#include "services/common/ports/storage/application_store.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/common/ports/storage/zone_store.hpp"
#include "services/zone_scheduler/records/file_library.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// Removes what ended longer ago than `ZoneConfig::results_kept`: the output and raw profiles of applications and
/// parts, then their records, all but their ids. Never what has not ended or still has a part to give back. A little a
/// second, so that nobody waits for it. Lives on the domain's strand.
class Retention {
  public:
    /// `files`: results and files of users, that go with the records, or once nobody uses them; null: none are kept.
    Retention(const ZoneConfig& config, Clock& clock, ApplicationStore& applications, PartStore& parts,
              ClockStore& clock_store, StepFiles& step_files, FileLibrary* files, Log& log)
        : config_(config),
          clock_(clock),
          applications_(applications),
          parts_(parts),
          clock_store_(clock_store),
          step_files_(step_files),
          files_(files),
          log_(log) {}
    void start();

    static constexpr std::size_t kRecordsPerCheck = 20;  ///< of applications, and as many of parts
    static constexpr std::size_t kFilesPerCheck = 500;
    static constexpr Duration kBusy = std::chrono::seconds{1};   ///< between looks while there is something
    static constexpr Duration kIdle = std::chrono::minutes{10};  ///< while there is nothing
    /// A wall clock that jumps by more says nothing of how old something is: nothing is removed for a day.
    static constexpr Duration kBelievableJump = std::chrono::hours{1};
    static constexpr Duration kDistrust = std::chrono::hours{24};
    /// So long a zone may have been off by its clock, which is compared with what it showed when it was last believed.
    static constexpr Duration kBelievablePause = std::chrono::hours{24};
    static constexpr Duration kNoteEvery = std::chrono::hours{1};

  private:
    void look();
    bool clock_is_believable();
    bool compare_with_last_life(Duration ahead);
    void distrust(Duration off, const char* since);
    bool remove_some();
    void remove_shelf(const std::string& shelf);
    void remove_orphans();
    bool has_record(const std::string& shelf) const;
    bool remove_files(const std::vector<StepId>& steps, std::size_t& budget);

    const ZoneConfig& config_;
    Clock& clock_;
    ApplicationStore& applications_;
    PartStore& parts_;
    ClockStore& clock_store_;
    StepFiles& step_files_;
    FileLibrary* files_;
    Log& log_;
    std::optional<Duration> wall_ahead_;  ///< of the monotonic clock, at the last look
    Duration distrusted_until_{};         ///< monotonic
    Duration note_at_{};                  ///< monotonic: when the store next records that the clock is believed
    std::size_t removed_ = 0;             ///< since the last entry in the log
};

}  // namespace zbs
