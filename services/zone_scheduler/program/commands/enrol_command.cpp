// zbs-zone enrol: makes the registry known to this zone; the running zone then enrols by itself.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

using system::wall_clock;

Result<void> enrol(const std::string& config_path, const command_line::Output& output, const std::string& text) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    const StateFolder state{settings->state_folder};
    if (!state.has_identity())
        return invalid("a zone in a registry needs certificates; make them with 'zbs-zone init'", state.identity());
    if (auto own = process::check_owner(state.path); !own) return own.error();
    const Result<JoinToken> token = parse_join_token(text);
    if (!token) return token.error();
    if (token->kind != JoinToken::Kind::kZone)
        return invalid("this token logs a user in; it is for 'zbs login --code'");
    if (token->name != "any" && token->name != settings->zone.organisation)
        return invalid("this token is for a zone of '" + token->name + "', this one is of '" +
                       settings->zone.organisation + "'");
    const Result<std::string> bundle = cpprest::fetch_bundle(*token, wall_clock);
    if (!bundle) return bundle.error();
    std::error_code fault;
    std::filesystem::create_directories(state.registry(), fault);
    chmod(state.registry().c_str(), 0700);
    for (const auto& [name, content] : {std::pair<std::string, std::string>{"bundle.pem", *bundle},
                                        {"code", token->code},
                                        {"address", token->url + " " + to_uri(token->service) + "\n"}}) {
        if (!process::write_file(state.registry() + "/" + name, content))
            return Error{ErrorCode::kUnavailable, "cannot be written", state.registry() + "/" + name};
    }
    output.print_document(codec::encode_registry({token->url, token->service}),
                          "the registry is known now; the zone enrols when it starts\n");
    return {};
}

}  // namespace

void add_enrol_command(CLI::App& cli, std::string& config_path, int& exit_code) {
    auto token = std::make_shared<std::string>();
    CLI::App* command = cli.add_subcommand(
        "enrol",
        "join a registry with the word that its operator gave ('zbs-registry token'); takes effect when the zone "
        "starts\n\nExample: zbs-zone enrol zbs-enrol-1+... --config zone.toml");
    command->add_option("TOKEN", *token, "the word, whole")->required();
    const auto output = command_line::add_outcome(*command);
    const OperatorCommand shared{&config_path, &exit_code};
    command->callback(
        [shared, output, token] { shared.run(*output, [&] { return enrol(*shared.service, *output, *token); }); });
}

Result<void> read_registry(const StateFolder& state, ZoneConfig& config, TrustBundles& trust) {
    const auto address = process::read_file(state.registry() + "/address");
    if (!address) return {};
    const std::size_t space = address->find(' ');
    const std::size_t end = std::min(address->find('\n'), address->size());
    const auto who = space < end ? parse_identity(address->substr(space + 1, end - space - 1)) : std::nullopt;
    if (!who) return invalid("names no registry; enrol again with 'zbs-zone enrol'", state.registry());
    const auto bundle = process::read_file(state.registry() + "/bundle.pem");
    if (!bundle)
        return invalid("the registry's bundle is missing; enrol again with 'zbs-zone enrol'", state.registry());
    if (auto pinned = trust.pin(who->organisation, *bundle); !pinned) return pinned.error();
    config.registry = {address->substr(0, space), *who};
    config.registry_code = process::read_file(state.registry() + "/code").value_or("");
    return {};
}

void forget_registry_code(const StateFolder& state) {
    std::error_code ignored;
    std::filesystem::remove(state.registry() + "/code", ignored);
}

}  // namespace zbs::zone_program
