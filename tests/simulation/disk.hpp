#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"

namespace zbs::simulation {

/// The disk of one simulated machine: files in memory that forget what was not synced when the machine crashes. SQLite
/// reaches it through a file system of its own (`install_disks`), so that the services' real storage code runs on it.
class Disk {
  public:
    static constexpr std::size_t kSector = 512;

    /// What a crash leaves: of every file the synced bytes, and of the writes after the last sync each one whole, torn
    /// at a sector, or not at all, in any combination: drives reorder.
    void crash(Rng& rng);
    /// The machine has lost its power in the middle of something: whatever the program still writes is lost.
    void die() { dead_ = true; }
    /// Syncs fail from now on, as on a dying or full disk.
    void fail_syncs(bool fail) { fails_ = fail; }
    /// Syncs are confirmed from now on, and nothing becomes durable.
    void ignore_syncs(bool ignore) { ignores_ = ignore; }
    /// Called at every sync; where the simulation lets it cost time.
    void on_sync(std::function<void()> hook) { on_sync_ = std::move(hook); }  ///< before and after it
    std::uint64_t syncs() const { return syncs_; }

    // What the file system calls.
    struct Write {
        std::size_t offset = 0;
        std::string bytes;
        bool truncates = false;  ///< to `offset`
    };
    struct File {
        std::string durable;          ///< as of the last sync
        std::string current;          ///< as the program sees it
        std::vector<Write> unsynced;  ///< between the two
        bool exists = false;          ///< as the program sees it
        bool exists_durably = false;
    };
    File& open(const std::string& name, bool create);
    bool exists(const std::string& name) const;
    void remove(const std::string& name);
    void write(File& file, std::size_t offset, const char* bytes, std::size_t size);
    void truncate(File& file, std::size_t size);
    bool sync(File& file);  ///< false: it failed

  private:
    std::map<std::string, std::unique_ptr<File>> files_;
    std::function<void()> on_sync_;
    std::uint64_t syncs_ = 0;
    bool fails_ = false;
    bool ignores_ = false;
    bool dead_ = false;
};

/// Makes SQLite's default file system one whose files `/disk/NAME/...` lie on `disks[NAME]`; others do not exist.
/// `disks` is looked at for every file opened and must outlive all databases. Random numbers that SQLite asks for come
/// from a fixed seed.
void install_disks(std::map<std::string, Disk>& disks);

}  // namespace zbs::simulation
