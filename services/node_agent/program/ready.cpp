#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/node_agent/program/node_config_file.hpp"
#include "services/node_agent/program/node_program.hpp"

namespace zbs::node_program {

namespace {

Result<void> ask_agent(const std::string& config_path) {
    const Result<NodeSettings> settings = read_node_settings(config_path, {});
    if (!settings) return settings.error();
    if (settings->listen_port == 0)
        return invalid("'listen' names no port, so nobody knows where this agent is; give one", config_path);
    openssl::TrustStore trust(system::wall_clock);
    const auto keys = openssl::KeyFolder::open(settings->identity, system::wall_clock);
    if (!keys) return keys.error();
    const Caller self = (*keys)->name();
    if (auto pinned = trust.pin(self.organisation, (*keys)->bundle()); !pinned) return pinned.error();
    cpprest::HttpCaller caller(
        {.self = self, .local_token = {}, .tls = std::make_shared<openssl::TlsClient>(**keys, trust)});
    const std::string url = "https://" + HostPort{settings->advertised_host, settings->listen_port}.text();
    const Result<HttpAnswer> answer = caller.call({{url, self}, "GET", "/readyz", {}});
    if (!answer) return answer.error();
    if (answer->status >= 300) return http::read_problem(answer->status, answer->body);
    return {};
}

}  // namespace

void ready(const command_line::OperatorCommand& shared, const command_line::Output& output) {
    if (!shared.can_begin(output)) return;
    const Result<void> done = ask_agent(*shared.service);
    if (!done) return shared.not_well(done.error(), output);
    output.print_document(codec::encode_is_ready(), "");
}

}  // namespace zbs::node_program
