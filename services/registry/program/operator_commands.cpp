#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/json.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"
#include "services/registry/program/registry_program.hpp"

namespace zbs::registry_program {
namespace {

using system::wall_clock;

using codec::Json;

/// One call to the running registry, with the operator's key.
Result<Json> call(const Options& options, const std::string& method, const std::string& path, const Json& body = {}) {
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
    if (!answer) return answer.error();
    if (answer->status >= 300) return http::read_problem(answer->status, answer->body);
    return codec::parse(answer->body);
}

void list(const Options& options, int& exit_code) {
    std::string after;
    do {
        const Result<Json> answer = call(options, "GET", "/v1/zones" + (after.empty() ? after : "?after=" + after));
        const auto page = answer ? codec::decode_zone_page(*answer) : Result<ZonePage>(answer.error());
        if (!page) {
            exit_code = fail(page.error());
            return;
        }
        for (const SignedText& text : page->entries) {
            const Result<Json> json = codec::parse(text.text);
            if (json && json->is_object())
                std::cout << json->value("name", "") << "\t" << json->value("organisation", "") << "\t"
                          << json->value("standing", "") << "\t" << json->value("url", "") << "\n";
        }
        after = page->next;
    } while (!after.empty());
}

}  // namespace

void add_operator_commands(CLI::App& cli, Options& options, int& exit_code) {
    auto organisation = std::make_shared<std::string>();
    auto name = std::make_shared<std::string>("registry");
    auto hours = std::make_shared<int>(24);
    auto head = std::make_shared<std::string>();
    CLI::App* init = cli.add_subcommand(
        "init", "keys and certificate of this registry\n\nExample: zbs-registry init --state DIR --organisation grid");
    init->add_option("--organisation", *organisation, "who runs the registry")->required();
    init->add_option("--name", *name, "of the registry")->capture_default_str();
    init->callback([&options, &exit_code, organisation, name] {
        const StateFolder state{options.state};
        std::error_code fault;
        std::filesystem::create_directories(state.path, fault);
        if (auto made = openssl::make_registry(state.identity(), *organisation, *name, wall_clock()); !made) {
            exit_code = fail(made.error());
            return;
        }
        std::cout << "made the identity of spiffe://" << *organisation << "/registry/" << *name << " in "
                  << state.identity() << "\n";
    });
    auto operator_name = std::make_shared<std::string>("operator");
    CLI::App* person = cli.add_subcommand(
        "operator",
        "a new certificate for the operator, before or after the old one has ended; needs the CA key in the registry's "
        "folder and no running registry\n\nExample: zbs-registry operator --state DIR");
    person->add_option("--name", *operator_name, "name in it")->capture_default_str();
    person->callback([&options, &exit_code, operator_name] {
        const StateFolder state{options.state};
        if (auto made = openssl::issue_operator(state.identity(), *operator_name, wall_clock()); !made)
            exit_code = fail(made.error());
        else
            std::cout << "operator '" << *operator_name << "' has a new certificate in " << state.operator_identity()
                      << "\n";
    });
    auto path = std::make_shared<std::string>();
    CLI::App* renew = cli.add_subcommand(
        "renew",
        "put a new certificate for this registry's key in place, made by the organisation's CA elsewhere (a registry "
        "that holds the CA key renews by itself)\n\nExample: zbs-registry renew --certificate new.pem --state DIR");
    renew->add_option("--certificate", *path, "it and what leads to the bundle, PEM, leaf first")->required();
    renew->callback([&options, &exit_code, path] {
        const auto chain = process::read_file(*path, limits::kMaxChainBytes);
        const Result<void> put =
            chain ? openssl::replace_certificate(StateFolder{options.state}.identity(), *chain, wall_clock())
                  : Error{ErrorCode::kNotFound, "cannot be read", *path};
        if (put)
            std::cout << "the new certificate is in place; a running registry takes it with SIGHUP\n";
        else
            exit_code = fail(put.error());
    });
    auto whose = std::make_shared<std::string>();
    CLI::App* token = cli.add_subcommand(
        "token",
        "a one-time word by which one zone enrols ('zbs-zone enrol')\n\nExample: zbs-registry token --state DIR "
        "--for org-a");
    token->add_option("--for", *whose, "only a zone of this organisation; default: of any");
    token->add_option("--hours", *hours, "how long it works")->check(CLI::Range(1, 720))->capture_default_str();
    token->callback([&options, &exit_code, whose, hours] {
        Json wanted = {{"lifetime_s", *hours * 3600}};
        if (!whose->empty()) wanted["organisation"] = *whose;
        const Result<Json> answer = call(options, "POST", "/v1/enrolment-tokens", wanted);
        if (answer)
            std::cout << answer->value("token", "") << "\n";
        else
            exit_code = fail(answer.error());
    });
    cli.add_subcommand("list",
                       "zones that are here: name, organisation, standing, address\n\nExample: zbs-registry "
                       "list --state DIR")
        ->callback([&options, &exit_code] { list(options, exit_code); });
    CLI::App* audit = cli.add_subcommand("audit", "the record of decisions");
    audit->require_subcommand(1);
    CLI::App* verify = audit->add_subcommand(
        "verify", "check that no entry of the record was changed\n\nExample: zbs-registry audit verify --state DIR");
    verify->add_option("--head", *head, "ENTRIES:HASH as printed earlier");
    verify->callback([&options, &exit_code, head] {
        std::optional<AuditHead> expected;
        if (!head->empty()) {
            const Result<AuditHead> read = sqlite::parse_audit_head(*head);
            if (!read) {
                exit_code = fail(read.error());
                return;
            }
            expected = *read;
        }
        const Result<AuditHead> found = sqlite::verify_audit_log(StateFolder{options.state}.audit(), expected);
        if (found)
            std::cout << "good: " << found->entries << " entries; head " << sqlite::to_string(*found) << "\n";
        else
            exit_code = fail(found.error());
    });
}

}  // namespace zbs::registry_program
