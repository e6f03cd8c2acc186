#pragma once
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/zone_scheduler/adapters/slurm/allocation.hpp"
#include "services/zone_scheduler/adapters/slurm/site.hpp"
#include "services/zone_scheduler/adapters/slurm/slurm_commands.hpp"

namespace zbs::slurm {

struct FoundHold;

/// Which hold is meant: a job of another user under the same name is none of ours.
struct HoldKey {
    std::string operation;
    AccountName user;  ///< as in its HoldSpec
};

struct BackEndSettings {
    std::vector<std::string> submit_options;  ///< more options of sbatch, by the zone's operator: --qos, --mem-per-cpu
};

/// Processors of one Slurm, held for operations. Keeps nothing: Slurm is asked each time, so a restart loses nothing.
/// Every call blocks for as long as the commands take (some 10 ms each; up to their deadline where the controller is
/// slow) and may come from any thread, for one operation from one at a time. Errors of all calls: those of
/// SlurmCommands::run.
class SlurmBackEnd {
  public:
    SlurmBackEnd(SlurmCommands commands, BackEndSettings settings);

    const SlurmCommands& commands() const { return commands_; }

    /// O(nodes): three commands.
    Result<Site> read_site() const;
    Result<std::vector<Node>> read_nodes() const;

    /// Holds processors by a job that does nothing; with a start also by a reservation, where Slurm lets this user make
    /// one. Asks first: an operation that Slurm knows starts nothing twice, and after a submission whose answer was
    /// lost it is asked again. Errors: kInvalidArgument; kRejected where Slurm can never do it (nothing is left
    /// behind); kConflict where the operation's job has ended; kTimeout where it is not known whether there is a hold:
    /// ask again, or release it. One that is forgotten so ends by its own expiry.
    Result<Allocation> hold(const HoldSpec& spec) const;

    /// The hold as it is now, with its processors; none where Slurm does not know it (any more): an ended one is
    /// forgotten after ClusterSettings::remembers.
    Result<std::optional<Allocation>> find(const HoldKey& key) const;
    /// Those of the holds that Slurm knows, in one question. Their nodes have no numbers of processors.
    Result<std::vector<Allocation>> look(const std::vector<HoldKey>& keys) const;

    /// Takes the expiry away. Errors: kNotFound, kConflict where it has ended. To be called so early that it cannot
    /// expire on the way: the caller's clock decides, a hold should get some seconds more than are announced for it.
    Result<void> keep(const HoldKey& key) const;

    enum class ReleaseMode {
        kGently,  ///< SIGTERM, and SIGKILL after the cluster's KillWait
        kAtOnce,  ///< SIGKILL
    };
    /// Gives a hold back and ends all that runs in it; done once `find` says kEnded or nothing. True where there was
    /// something to end. A hold that is not known is no error.
    Result<bool> release(const HoldKey& key, ReleaseMode mode) const;

  private:
    Result<std::vector<FoundHold>> ask(const std::vector<HoldKey>& keys) const;
    Result<std::optional<FoundHold>> ask(const HoldKey& key) const;
    Result<Allocation> with_shares(FoundHold found) const;
    Result<bool> reserve(const HoldSpec& spec, const std::string& owner) const;
    Result<void> submit(const HoldSpec& spec, bool reserved) const;
    Result<Allocation> settle(const HoldSpec& spec) const;
    Result<void> drop_late(const FoundHold& found) const;
    void drop_reservation(const std::string& operation) const;

    SlurmCommands commands_;
    BackEndSettings settings_;
};

}  // namespace zbs::slurm
