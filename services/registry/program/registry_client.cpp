#include "services/registry/program/registry_client.hpp"

#include <algorithm>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::registry_program {

using codec::Json;
using system::wall_clock;

Result<Json> call(const Options& options, const std::string& method, const std::string& path, const Json& body) {
    const StateFolder state{options.state};
    auto address = process::read_file(state.address());
    if (!address) {
        return Error{ErrorCode::kUnavailable,
                     "this registry has never run; start it with 'zbs-registry run --state " + options.state + "'",
                     state.address()};
    }
    address->resize(std::min(address->find('\n'), address->size()));
    openssl::TrustStore trust(wall_clock);
    const auto own = openssl::KeyFolder::open(state.identity(), wall_clock);
    if (!own) return own.error();
    const auto keys = openssl::KeyFolder::open(state.operator_identity(), wall_clock);
    if (!keys) return keys.error();
    if (auto pinned = trust.pin((*keys)->name().organisation, (*keys)->bundle()); !pinned) return pinned.error();
    cpprest::HttpCaller caller(
        {.self = {}, .local_token = {}, .tls = std::make_shared<openssl::TlsClient>(**keys, trust)});
    return http::read_answer(
        caller.call({{*address, (*own)->name()}, method, path, body.is_null() ? std::string{} : codec::dump(body)}),
        "; is the registry running? Start it with 'zbs-registry run --state " + options.state + "'");
}

command_line::OperatorCommand operator_command(const Options& options, int& exit_code) {
    return {"zbs-registry", &options.state, "which registry? give --state FOLDER or set ZBS_REGISTRY_STATE",
            &exit_code};
}

}  // namespace zbs::registry_program
