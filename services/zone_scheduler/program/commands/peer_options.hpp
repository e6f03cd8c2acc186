#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/messages/peering.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace zbs::zone_program {

/// What an operator wrote behind `zbs-zone peer VERB`, as text; what is left out stays as it is here.
struct PeerWish {
    std::string organisation, fingerprint, bundle_file, reason;
    std::string walltime, floor_walltime, hours, weekdays, partitions, account;
    int processors = -1, parts = -1, floor_processors = -1, floor_parts = -1;
    double share = -1, initial_trust = -1;
    int overcommit = 0;
    bool delegation = false, no_delegation = false;
};

/// The options for rights. An empty text is refused with what to write instead: it says neither "all" nor "none".
void add_rights(CLI::App* command, PeerWish& wish);

/// Errors name the option or the file of the bundle.
Result<PeeringChange> change_of(const PeerWish& wish, PeeringVerb verb);

}  // namespace zbs::zone_program
