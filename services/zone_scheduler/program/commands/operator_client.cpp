#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/system/wall_clock.hpp"

#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::zone_program {
namespace {

using system::wall_clock;

std::string first_line(std::string text) {
    text.resize(std::min(text.find('\n'), text.size()));
    return text;
}

/// As the running zone has written it down; of several schedulers the active one did.
Result<std::string> active_address(const ZoneSettings& settings, const StateFolder& state,
                                   const std::string& config_path) {
    auto address = process::read_file(state.address());
    if (address) return first_line(*std::move(address));
    return Error{
        ErrorCode::kUnavailable,
        "zone " + settings.zone.zone.name + " has never run; start it with 'zbs-zone run --config " + config_path + "'",
        state.address()};
}

/// Where the scheduler of this host listens.
Result<std::string> own_address(const ZoneSettings& settings, const StateFolder& state) {
    if (settings.listen_port == 0)
        return invalid("'listen' names no port, so nobody knows where this host's scheduler is; give one", "listen");
    std::string host = settings.listen_address;
    if (host == "0.0.0.0") host = "127.0.0.1";
    if (host == "::") host = "::1";
    return (state.has_identity() ? "https://" : "http://") + HostPort{host, settings.listen_port}.text();
}

}  // namespace

Result<std::unique_ptr<OperatorClient>> OperatorClient::connect(const std::string& config_path, Audience audience) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    const StateFolder state{settings->state_folder};
    const Result<std::string> address =
        audience == Audience::kThisHost ? own_address(*settings, state) : active_address(*settings, state, config_path);
    if (!address) return address.error();
    std::unique_ptr<OperatorClient> client(new OperatorClient);
    client->zone_ = {*address, settings->zone.self()};
    const bool with_tls = client->zone_.url.starts_with("https://");
    if (with_tls != state.has_identity()) {
        return Error{ErrorCode::kConflict,
                     with_tls
                         ? "zone " + settings->zone.zone.name +
                               " was started with keys that are not here any more; put them back, or start it again"
                         : "zone " + settings->zone.zone.name +
                               " was started before it had its keys; start it again, so that it uses them",
                     state.identity()};
    }
    cpprest::HttpCallerOptions options;
    if (state.has_identity()) {
        client->trust_ = std::make_unique<openssl::TrustStore>(wall_clock);
        auto keys = openssl::KeyFolder::open(state.operator_identity(), wall_clock);
        if (!keys) return keys.error();
        client->keys_ = *std::move(keys);
        if (auto pinned = client->trust_->pin(settings->zone.organisation, client->keys_->bundle()); !pinned)
            return pinned.error();
        options.tls = std::make_shared<openssl::TlsClient>(*client->keys_, *client->trust_);
    } else {
        options.self = {CallerKind::kOperator, settings->zone.organisation, "operator"};
        options.local_token = process::read_file(state.local_token()).value_or("");
    }
    client->caller_ = std::make_unique<cpprest::HttpCaller>(std::move(options));
    return client;
}

Result<codec::Json> OperatorClient::call(const std::string& method, const std::string& path, const codec::Json& body) {
    return http::read_answer(caller_->call({zone_, method, path, body.is_null() ? std::string{} : codec::dump(body)}),
                             "; is the zone running? Start it with 'zbs-zone run'");
}

Error point_to_option(Error error, const Places& places) {
    for (const auto& [member, word] : places)
        if (error.pointer == member || error.pointer.starts_with(member + "/")) return error.pointer = word, error;
    return error;
}

OperatorCommand::OperatorCommand(const std::string* config_path, int* ending)
    : command_line::OperatorCommand{"zbs-zone", config_path, kWhichZone, ending} {}

std::optional<codec::Json> OperatorCommand::call(const command_line::Output& output, const std::string& method,
                                                 const std::string& path, const codec::Json& body,
                                                 const Places& places) const {
    if (!can_begin(output)) return std::nullopt;
    auto client = OperatorClient::connect(*service);
    Result<codec::Json> answer = client ? (*client)->call(method, path, body) : Result<codec::Json>(client.error());
    if (answer) return *std::move(answer);
    fail(point_to_option(answer.error(), places), output);
    return std::nullopt;
}

}  // namespace zbs::zone_program
