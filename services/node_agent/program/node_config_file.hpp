#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/ports/config_value.hpp"

namespace zbs::node_program {

/// An agent's whole configuration (TOML; see services/node_agent/README.md).
struct NodeSettings {
    MachineName name;
    std::vector<std::string> zone_urls;  ///< https://HOST:PORT, one for each scheduler of the zone
    ZoneName zone_name;                  ///< who has to answer there, of the agent's own organisation
    std::string state_folder;
    std::string identity;  ///< folder with key.pem, certificate.pem, bundle.pem
    std::string listen_address = "127.0.0.1";
    int listen_port = 0;          ///< 0 = any free port
    std::string advertised_host;  ///< what the zone reaches this agent by; default: the listen address
    bool run_as_accounts = false;
    AccountName default_account;
    int minimum_uid = 1'000;
    std::vector<std::string> hidden_paths;
    std::optional<bool> shared_memory;
    bool require_isolation = false;
    std::string step_supervisor;                     ///< path of zbs-step; default: beside this program
    std::string step_starter;                        ///< socket of `zbs-step serve`; empty: it starts steps itself
    std::uint64_t most_input_bytes = 4096ULL << 20;  ///< of the inputs of steps that are kept
    std::string control_group;                       ///< "auto": the one delegated to this program; "none"; or a folder
    std::vector<std::string> files;                  ///< that were read
    std::vector<ConfigValue> values;                 ///< all settings in force, and where they stand

    std::string place_of(const std::string& key) const { return zbs::place_of(values, key); }
};

/// Errors name file and line: unreadable, not TOML, unknown or missing key, value out of range. `program_folder` is
/// where this program lies.
Result<NodeSettings> read_node_settings(const std::string& path, const std::string& program_folder);

}  // namespace zbs::node_program
