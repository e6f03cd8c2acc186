#include "services/registry/program/registry_client.hpp"

#include <algorithm>
#include <iostream>

#include "services/common/adapters/command_line/exit_codes.hpp"
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
    const Result<HttpAnswer> answer =
        caller.call({{*address, (*own)->name()}, method, path, body.is_null() ? std::string{} : codec::dump(body)});
    if (!answer) {
        Error error = answer.error();
        if (error.code == ErrorCode::kUnavailable)
            error.message +=
                "; is the registry running? Start it with 'zbs-registry run --state " + options.state + "'";
        return error;
    }
    if (answer->status >= 300) return http::read_problem_of_call(answer->status, answer->body);
    return codec::parse(answer->body);
}

void Printer::fail(const Error& error) const {
    if (output->for_json()) std::cout << http::problem(error).body << "\n";
    *exit_code = registry_program::fail(error);
}

void Printer::not_well(const Error& error) const {
    fail(error);
    *exit_code = command_line::kFailed;
}

bool Printer::can_begin(const Options& options) const {
    Result<void> good = output->check();
    if (good && options.state.empty()) good = invalid("which registry? give --state FOLDER or set ZBS_REGISTRY_STATE");
    if (good) return true;
    fail(good.error());
    *exit_code = command_line::kUsage;
    return false;
}

void Printer::print(const listing::Listing& listing, const Json& whole) const {
    const Result<void> printed = output->print(listing, whole);
    if (printed) return;
    fail(printed.error());
    *exit_code = command_line::kUsage;
}

}  // namespace zbs::registry_program
