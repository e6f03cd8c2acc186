#include "services/node_agent/program/node_config_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/adapters/system/config_file.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/common/messages/names/identity.hpp"

namespace zbs::node_program {
namespace {

std::string name_of(system::ConfigFile& file, const char* key) {
    std::string name = file.required_text(key);
    if (!name.empty() && !is_valid_name(name))
        file.fail(key, "'" + std::string(key) + "' must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit");
    return name;
}

/// One address, or those of several schedulers with commas between, as clients take them.
void read_zone(system::ConfigFile& file, NodeSettings& settings) {
    const std::string text = file.required_text("zone");
    if (text.empty()) return;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        settings.zone_urls.push_back(text.substr(at, end - at));
        at = end + 1;
        if (!settings.zone_urls.back().starts_with("https://"))
            return file.fail(
                "zone",
                "'zone' must be the zone's address, https://HOST:PORT, or those of its schedulers with commas "
                "between: agents and zones speak TLS");
        if (auto good = cpprest::parse_service_url(settings.zone_urls.back()); !good)
            return file.fail("zone", "'zone': " + good.error().message);
    }
}

void read_listen(system::ConfigFile& file, NodeSettings& settings) {
    std::tie(settings.listen_address, settings.listen_port) = file.address("listen", "127.0.0.1:0", 8101);
    settings.advertised_host = file.text("advertise", settings.listen_address);
    if (auto good = check_advertised_host(settings.advertised_host); !good)
        file.fail(file.has("advertise") ? "advertise" : "listen",
                  file.has("advertise") ? "'advertise': " + good.error().message
                                        : "'listen' takes all addresses of this machine, so the one that others call "
                                          "must be named: set 'advertise'");
}

}  // namespace

Result<NodeSettings> read_node_settings(const std::string& path, const std::string& program_folder) {
    Result<system::ConfigFile> read = system::ConfigFile::read(path);
    if (!read) return read.error();
    system::ConfigFile& file = *read;
    NodeSettings settings;
    settings.name = MachineName(name_of(file, "name"));
    read_zone(file, settings);
    settings.zone_name = ZoneName(name_of(file, "zone_name"));
    settings.state_folder = system::absolute_path(file.required_text("state"));
    settings.identity = system::absolute_path(file.text("identity", settings.state_folder + "/identity"));
    read_listen(file, settings);
    const std::string run_as = file.text("run_as", geteuid() == 0 ? "accounts" : "self");
    if (run_as != "accounts" && run_as != "self") file.fail("run_as", "'run_as' must be accounts or self");
    settings.run_as_accounts = run_as == "accounts";
    settings.default_account = AccountName(file.text("default_account", ""));
    settings.minimum_uid = static_cast<int>(file.integer("minimum_uid", 1'000, 1, 2'000'000'000));
    settings.hidden_paths = file.texts("hidden_paths");
    settings.require_isolation = file.boolean("require_isolation", false);
    if (file.has("shared_memory")) settings.shared_memory = file.boolean("shared_memory", false);
    settings.step_supervisor = file.text("step_supervisor", program_folder + "/zbs-step");
    settings.step_starter = file.text("step_starter", "");
    if (!settings.step_starter.empty() && !settings.step_starter.starts_with('/'))
        file.fail("step_starter", "'step_starter' must be the absolute path of the socket of 'zbs-step serve'");
    settings.most_input_bytes = static_cast<std::uint64_t>(file.integer("files_MiB", 4'096, 1, limits::kMaxStagedMiB))
                                << 20;
    settings.control_group = file.text("control_group", "auto");
    const bool is_folder = settings.control_group.starts_with('/');
    if (!is_folder && settings.control_group != "auto" && settings.control_group != "none")
        file.fail("control_group", "'control_group' must be auto, none, or the folder of a control group");
    if (auto good = file.finish(); !good) return good.error();
    settings.values = file.values();
    settings.files = file.files();
    return settings;
}

}  // namespace zbs::node_program
