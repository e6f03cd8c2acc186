#pragma once
#include <string>
#include <string_view>

#include "algorithms/base/words.hpp"

namespace zbs {

/// What a zone offers, by kind. The yellow pages of its entry in the registry (`ZoneEntry::categories`) hold each as
/// KIND=VALUE, a kind several times where there are several: "launcher=mpich", "launcher=openmpi".
enum class ZoneOffer {
    kPolicy,    ///< of the queue; "none" where a part that does not fit is rejected
    kSharing,   ///< how parts share processors; "none" where they do not
    kLauncher,  ///< mpich, openmpi, srun
    kMpi,       ///< version of any of the MPI libraries
    kMpich,     ///< version of MPICH
    kOpenMpi,   ///< version of Open MPI
    kBackEnd,   ///< starts the steps: agents, slurm, or the zone itself (local)
    kFeature,   ///< staging, profiles, accounts
};
constexpr auto words_of(ZoneOffer) {
    return std::array{"policy", "sharing", "launcher", "mpi", "mpich", "openmpi", "backend", "feature"};
}

/// The category of every zone, before its offers.
inline constexpr const char* kMpiCategory = "mpi";

inline std::string offer_text(ZoneOffer kind, std::string_view value) {
    return std::string(to_string(kind)) + "=" + std::string(value);
}

}  // namespace zbs
