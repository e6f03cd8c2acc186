// zbs-zone's commands for operators. Those that change what the zone knows go through its REST interface, so that
// there is one writer and one audit log; `init` and `audit verify` work on files, with or without a running zone.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "services/zone_scheduler/program/commands/doctor_command.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/commands/peer_commands.hpp"
#include "services/zone_scheduler/program/commands/peer_text.hpp"
#include "services/zone_scheduler/program/commands/ready_command.hpp"
#include "services/zone_scheduler/program/storage.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

using system::wall_clock;

using codec::Json;
using command_line::Output;

struct InitOptions {
    std::string operator_name = "operator";
    std::string key, certificate, bundle, ca_key, ca, operator_key, operator_certificate;
};

Result<std::string> read_pem(const std::string& path) {
    if (path.empty()) return std::string{};
    auto text = process::read_file(path, 1024 * 1024);
    if (!text) return Error{ErrorCode::kNotFound, "cannot be read", path};
    return *std::move(text);
}

Result<void> import(const StateFolder& state, const InitOptions& options) {
    openssl::IdentityFiles files;
    openssl::IdentityFiles person;
    const std::pair<const std::string*, std::string*> parts[] = {
        {&options.key, &files.key},           {&options.certificate, &files.chain},
        {&options.bundle, &files.bundle},     {&options.bundle, &person.bundle},
        {&options.ca_key, &files.ca_key},     {&options.ca, &files.ca},
        {&options.operator_key, &person.key}, {&options.operator_certificate, &person.chain}};
    for (const auto& [path, text] : parts) {
        Result<std::string> read = read_pem(*path);
        if (!read) return read.error();
        *text = *std::move(read);
    }
    const bool has_person = !person.key.empty();
    if (auto made = openssl::import_identity(state.identity(), files, wall_clock(),
                                             has_person ? std::string{} : options.operator_name);
        !made || !has_person)
        return made;
    return openssl::import_identity(state.operator_identity(), person, wall_clock());
}

Result<void> init(const std::string& config, const Output& output, const InitOptions& options) {
    const Result<ZoneSettings> settings = load_settings(config);
    if (!settings) return settings.error();
    const StateFolder state{settings->state_folder};
    if (state.has_identity())
        return Error{ErrorCode::kConflict,
                     "this zone has its keys already; nothing was changed (to start anew, move them away)",
                     state.identity()};
    if (auto own = process::check_owner(state.path); !own) return own.error();
    std::error_code fault;
    std::filesystem::create_directories(state.path, fault);
    chmod(state.path.c_str(), 0700);
    const bool imports = !options.key.empty() || !options.certificate.empty() || !options.bundle.empty();
    const Result<void> made =
        imports ? import(state, options)
                : openssl::create_organisation(
                      state.identity(), settings->zone.organisation, settings->zone.name(), wall_clock(),
                      {.hosts = serving_hosts(settings->advertised_host, settings->listen_address),
                       .operator_name = options.operator_name});
    if (!made) return made.error();
    const auto keys = openssl::KeyFolder::open(state.identity(), wall_clock);
    if (!keys) return keys.error();
    const openssl::TrustStore trust(wall_clock);
    const Result<std::string> fingerprint = trust.fingerprint((*keys)->bundle());
    if (!fingerprint) return fingerprint.error();
    const std::string name = to_uri((*keys)->name()), bundle = state.identity() + "/bundle.pem";
    const bool has_operator = std::filesystem::exists(state.operator_identity());
    output.print_document(
        codec::encode(codec::MadeZone{.name = name,
                                      .folder = state.identity(),
                                      .bundle = bundle,
                                      .fingerprint = *fingerprint,
                                      .imported = imports,
                                      .can_issue = (*keys)->can_issue(),
                                      .has_operator = has_operator}),
        std::string(imports ? "imported" : "made") + " the identity of " + name + " in " + state.identity() +
            "\ntrust bundle of " + settings->zone.organisation + ": " + bundle +
            "\nits fingerprint, for other operators to compare:\n  " + *fingerprint + "\n" +
            ((*keys)->can_issue() ? "this zone issues certificates for users: 'zbs-zone user add NAME' once it runs\n"
                                  : "this zone holds no CA key: users get their certificates elsewhere\n") +
            (has_operator ? ""
                          : "no certificate of an operator came along, so no command of an operator will work; init "
                            "takes one with --operator-key and --operator-certificate\n"));
    return {};
}

void add_init(CLI::App& cli, const OperatorCommand& shared) {
    auto options = std::make_shared<InitOptions>();
    CLI::App* init_command = cli.add_subcommand(
        "init",
        "keys, certificate and trust bundle of this zone's organisation, made new or taken from PEM files\n\nExample: "
        "zbs-zone init --config zone.toml");
    init_command->add_option("--operator", options->operator_name, "name in the operator's certificate")
        ->check(command_line::name_of("an operator"))
        ->capture_default_str();
    auto* key = init_command->add_option("--key", options->key, "existing private key of the zone, PEM");
    auto* certificate = init_command->add_option("--certificate", options->certificate,
                                                 "its certificate and what leads to the bundle, PEM, leaf first");
    auto* bundle = init_command->add_option("--bundle", options->bundle, "CA certificates of the organisation, PEM");
    auto* ca_key = init_command->add_option("--ca-key", options->ca_key, "private key of the CA, to issue for users");
    auto* ca = init_command->add_option("--ca", options->ca, "certificate of that CA");
    key->needs(certificate, bundle);
    certificate->needs(key, bundle);
    bundle->needs(key, certificate);
    auto* operator_key = init_command->add_option("--operator-key", options->operator_key,
                                                  "existing private key of the zone's operator, PEM; where the CA key "
                                                  "comes along, one is made");
    auto* operator_certificate = init_command->add_option("--operator-certificate", options->operator_certificate,
                                                          "its certificate and what leads to the bundle, PEM");
    operator_key->needs(operator_certificate, key);
    operator_certificate->needs(operator_key);
    ca_key->needs(ca, key);
    ca->needs(ca_key);
    const auto output = command_line::add_outcome(*init_command);
    init_command->callback(
        [shared, output, options] { shared.run(*output, [&] { return init(*shared.service, *output, *options); }); });
}

/// The settings of a zone that has its keys.
Result<ZoneSettings> load_settings_with_keys(const std::string& config) {
    Result<ZoneSettings> settings = load_settings(config);
    if (!settings) return settings;
    if (const StateFolder state{settings->state_folder}; !state.has_identity())
        return Error{ErrorCode::kNotFound, "this zone has no keys yet; make them with 'zbs-zone init --config FILE'",
                     state.identity()};
    return settings;
}

Result<void> put_certificate(const std::string& config, const Output& output, const std::string& path) {
    const Result<ZoneSettings> settings = load_settings_with_keys(config);
    if (!settings) return settings.error();
    const Result<std::string> chain = read_pem(path);
    if (!chain) return chain.error();
    const StateFolder state{settings->state_folder};
    if (auto own = process::check_owner(state.path); !own) return own;
    if (auto put = openssl::replace_certificate(state.identity(), *chain, wall_clock()); !put) return put;
    output.print_document(codec::encode_folder(state.identity()),
                          "the new certificate is in place; a running zone takes it with SIGHUP\n");
    return {};
}

Result<void> make_operator(const std::string& config, const Output& output, const std::string& name) {
    const Result<ZoneSettings> settings = load_settings_with_keys(config);
    if (!settings) return settings.error();
    const StateFolder state{settings->state_folder};
    if (auto own = process::check_owner(state.path); !own) return own;
    if (auto made = openssl::issue_operator(state.identity(), name, wall_clock()); !made) return made;
    output.print_document(codec::encode_identity(name, state.operator_identity()),
                          "operator '" + name + "' has a new certificate in " + state.operator_identity() + "\n");
    return {};
}

Result<void> make_node(const std::string& config, const Output& output, const std::string& name,
                       const std::string& out) {
    const Result<ZoneSettings> settings = load_settings_with_keys(config);
    if (!settings) return settings.error();
    if (auto made = openssl::issue_node(StateFolder{settings->state_folder}.identity(), name, out, wall_clock()); !made)
        return made;
    const std::string uri = to_uri({CallerKind::kNode, settings->zone.organisation, name});
    output.print_document(
        codec::encode_node_identity(uri, out, settings->zone.zone.name),
        "made the identity of " + uri + " in " + out +
            "\nbring the folder to the machine, name it as 'identity' in the agent's file with zone_name = \"" +
            settings->zone.zone.name + "\", and start 'zbs-node run --config FILE'\n");
    return {};
}

void add_renew(CLI::App& cli, const OperatorCommand& shared) {
    auto path = std::make_shared<std::string>();
    CLI::App* renew = cli.add_subcommand(
        "renew",
        "put a new certificate for this zone's key in place, made by the organisation's CA elsewhere (a zone that "
        "holds the CA key renews by itself)\n\nExample: zbs-zone renew --certificate new.pem --config zone.toml");
    renew->add_option("--certificate", *path, "it and what leads to the bundle, PEM, leaf first")->required();
    const auto output = command_line::add_outcome(*renew);
    renew->callback([shared, output, path] {
        shared.run(*output, [&] { return put_certificate(*shared.service, *output, *path); });
    });
}

void add_operator(CLI::App& cli, const OperatorCommand& shared) {
    auto name = std::make_shared<std::string>("operator");
    CLI::App* command = cli.add_subcommand(
        "operator",
        "a new certificate for the operator, before or after the old one has ended; needs the CA key in the zone's "
        "folder; the zone may run\n\nExample: zbs-zone operator --config zone.toml");
    command->add_option("--name", *name, "name in it")
        ->check(command_line::name_of("an operator"))
        ->capture_default_str();
    const auto output = command_line::add_outcome(*command);
    command->callback([shared, output, name] {
        shared.run(*output, [&] { return make_operator(*shared.service, *output, *name); });
    });
}

void add_node(CLI::App& cli, const OperatorCommand& shared) {
    CLI::App* node = cli.add_subcommand("node", "agents on the machines of this zone");
    node->require_subcommand(1);
    auto name = std::make_shared<std::string>();
    auto out = std::make_shared<std::string>();
    CLI::App* add = node->add_subcommand(
        "add",
        "key and certificate for a node agent, in a new folder to be brought to its machine; needs the CA key in the "
        "zone's folder; the zone may run\n\nExample: zbs-zone node add node-1 --out node-1-identity --config "
        "zone.toml");
    add->add_option("NAME", *name, "1 to 64 of a-z 0-9 . _ -")->required()->check(command_line::name_of("a node"));
    add->add_option("--out", *out, "folder that is made")->required();
    const auto output = command_line::add_outcome(*add);
    add->callback([shared, output, name, out] {
        shared.run(*output, [&] { return make_node(*shared.service, *output, *name, *out); });
    });
}

/// A command that prints what the zone answers there as a list.
void add_list(CLI::App& parent, const OperatorCommand& shared, const char* name, const std::string& help,
              const char* path, listing::Listing (*rows_of)(const Json&)) {
    CLI::App* command = parent.add_subcommand(name, help);
    const auto output = std::make_shared<Output>(Output::Kind::kList);
    output->add_to(*command, rows_of(Json::object()));
    command->callback([shared, output, path, rows_of] {
        const auto answer = shared.call(*output, "GET", path);
        if (answer) shared.print(*output, rows_of(*answer), *answer);
    });
}

/// Says so where nobody of that name is known: the block holds, but is likely not the one that was meant.
void block_subject(const OperatorCommand& shared, const Output& output, OperatorClient& client,
                   const std::string& subject, const std::string& reason) {
    const Result<Json> answer = client.call("POST", "/v1/blocks", codec::encode(codec::NewBlock{subject, reason}));
    if (!answer)
        return shared.fail(point_to_option(answer.error(), {{"/subject", "SUBJECT"}, {"/reason", "--reason"}}), output);
    output.print_document(*answer, "blocked " + subject + "\n");
    if (codec::decode_block_view(*answer).known) return;
    const std::optional<Caller> caller = parse_identity(subject);
    const bool own = caller && caller->organisation == client.zone().organisation;
    std::cerr << "warning: this zone knows no "
              << (own ? "user '" + caller->name : "organisation '" + (caller ? caller->organisation : subject))
              << "'; was another name meant ('zbs-zone " << (own ? "user" : "peer") << " list')? 'zbs-zone unblock "
              << subject << "' takes it back\n";
}

void add_user(CLI::App& cli, const OperatorCommand& shared) {
    CLI::App* user = cli.add_subcommand("user", "users of this organisation");
    user->require_subcommand(1);
    auto name = std::make_shared<std::string>();
    auto groups = std::make_shared<std::vector<std::string>>();
    CLI::App* add = user->add_subcommand("add",
                                         "make a user, or a fresh code for one; prints the one-time word for 'zbs "
                                         "login'\n\nExample: zbs-zone user add ana --group physics --config zone.toml");
    add->add_option("NAME", *name, "1 to 64 of a-z 0-9 . _ -")->required()->check(command_line::name_of("a user"));
    add->add_option("--group", *groups, "a group of hers, for other zones' account maps; may be repeated")
        ->check(command_line::name_of("a group"));
    const auto added = command_line::add_outcome(*add);
    add->callback([shared, added, name, groups] {
        const auto answer = shared.call(*added, "POST", "/v1/users", codec::encode(codec::NewUser{*name, *groups}),
                                        {{"/name", "NAME"}, {"/groups", "--group"}});
        if (!answer) return;
        added->print_document(*answer, "zbs login --code " + codec::decode_invitation(*answer) + "\n");
        std::cerr << "the " << (added->for_people() ? "line" : "token")
                  << " above works once, within 24 hours, for whoever has it: give it to " << *name
                  << " and nobody else\n";
    });
    add_list(*user, shared, "list", "users and their certificates\n\nExample: zbs-zone user list --config zone.toml",
             "/v1/users", users_of);
    CLI::App* revoke = user->add_subcommand("revoke",
                                            "end all certificates of a user, here at once and in all zones within a "
                                            "minute\n\nExample: zbs-zone user revoke "
                                            "ana --config zone.toml");
    revoke->add_option("NAME", *name, "the user")->required()->check(command_line::name_of("a user"));
    const auto revoked = command_line::add_outcome(*revoke);
    revoke->callback([shared, revoked, name] {
        if (!shared.can_begin(*revoked)) return;
        auto client = OperatorClient::connect(*shared.service);
        if (!client) return shared.fail(client.error(), *revoked);
        const Result<Json> answer = (*client)->call("DELETE", "/v1/users/" + http::encode_percent(*name));
        if (answer) {
            const std::size_t certificates = codec::decode_user_view(*answer).certificates;
            return revoked->print_document(
                *answer, "revoked " + *name + " with " + std::to_string(certificates) + " certificates\n");
        }
        if (answer.error().code != ErrorCode::kNotFound) return shared.fail(answer.error(), *revoked);
        // Nobody of this name was made here. A certificate of it may have come from elsewhere, so the name is refused.
        const std::string subject = to_uri({CallerKind::kUser, (*client)->zone().organisation, *name});
        block_subject(shared, *revoked, **client, subject, "revoked by name");
    });
}

CLI::Validator subject_of_block() {
    return {[](const std::string& text) {
                return is_valid_name(text) || parse_identity(text)
                           ? std::string{}
                           : "'" + listing::harmless_line(text) +
                                 "' is no subject; give an organisation's name, or spiffe://ORGANISATION/user/NAME (or "
                                 "/zone/)";
            },
            ""};
}

void add_blocks(CLI::App& cli, const OperatorCommand& shared) {
    auto subject = std::make_shared<std::string>();
    auto reason = std::make_shared<std::string>();
    CLI::App* block = cli.add_subcommand(
        "block",
        "an organisation or a subject gets nothing here any more; an own user loses access in all zones within a "
        "minute\n\nExample: zbs-zone block spiffe://org-b/user/eve --reason 'lost key' --config zone.toml");
    block->add_option("SUBJECT", *subject, "an organisation, or spiffe://ORGANISATION/user/NAME (or /zone/)")
        ->required()
        ->check(subject_of_block());
    block->add_option("--reason", *reason, "for the record");
    const auto blocked = command_line::add_outcome(*block);
    block->callback([shared, blocked, subject, reason] {
        if (!shared.can_begin(*blocked)) return;
        auto client = OperatorClient::connect(*shared.service);
        if (!client) return shared.fail(client.error(), *blocked);
        block_subject(shared, *blocked, **client, *subject, *reason);
    });
    CLI::App* unblock = cli.add_subcommand(
        "unblock",
        "take a block back, and an own user's revocation (certificates that were revoked stay so: 'user add' gives a "
        "fresh code)\n\nExample: zbs-zone unblock org-b --config zone.toml");
    unblock->add_option("SUBJECT", *subject, "as it was blocked")->required()->check(subject_of_block());
    const auto unblocked = command_line::add_outcome(*unblock);
    unblock->callback([shared, unblocked, subject] {
        const auto answer = shared.call(*unblocked, "DELETE", "/v1/blocks?subject=" + http::encode_percent(*subject));
        if (!answer) return;
        unblocked->print_document(*answer, "unblocked " + *subject + "\n");
        for (const std::string& zone : codec::decode_announcers(*answer))
            std::cerr << "note: zone " << zone
                      << " announced it; unblock it there too, if that zone runs, or it announces it again\n";
    });
    add_list(
        cli, shared, "blocks",
        "who is blocked here, by whom and why; also by other zones whose word counts here\n\nExample: zbs-zone blocks "
        "--config zone.toml",
        "/v1/blocks", blocks_of);
}

void add_drain(CLI::App& cli, const OperatorCommand& shared) {
    const auto command = [&](const char* name, const char* help, bool on) {
        CLI::App* drain = cli.add_subcommand(name, help);
        const auto output = command_line::add_outcome(*drain);
        drain->callback([shared, output, on] {
            const auto answer = shared.call(*output, "PUT", "/v1/drain", codec::encode_drain(on));
            if (answer)
                output->print_document(*answer,
                                       on ? "takes no new work; what is here goes on\n" : "takes new work again\n");
        });
    };
    command("drain", "take no new parts, finish what is here\n\nExample: zbs-zone drain --config zone.toml", true);
    command("undrain", "take new parts again\n\nExample: zbs-zone undrain --config zone.toml", false);
}

Result<AuditSummary> verify_audit(const std::string& config_path, const std::optional<AuditHead>& expected) {
    const Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return settings.error();
    return settings->database ? postgresql::verify_audit_log(database_address(*settings), expected)
                              : sqlite::verify_audit_log(StateFolder{settings->state_folder}.audit(), expected);
}

void add_audit(CLI::App& cli, const OperatorCommand& shared) {
    const std::string& config_path = *shared.service;
    const auto get = [&config_path,
                      client = std::shared_ptr<OperatorClient>()](const std::string& path) mutable -> Result<Json> {
        if (!client) {
            auto connected = OperatorClient::connect(config_path);
            if (!connected) return connected.error();
            client = *std::move(connected);
        }
        return client->call("GET", path);
    };
    command_line::add_audit_command(
        cli, shared,
        {.get = get,
         .verify = [&config_path](const auto& expected) { return verify_audit(config_path, expected); },
         .parse_head = sqlite::parse_audit_head,
         .text_of = sqlite::to_string,
         .now = wall_clock,
         .example = "--config zone.toml"});
}

}  // namespace

void add_operator_commands(CLI::App& cli, std::string& config_path, int& exit_code) {
    const OperatorCommand shared{&config_path, &exit_code};
    add_init(cli, shared);
    add_renew(cli, shared);
    add_operator(cli, shared);
    add_node(cli, shared);
    add_user(cli, shared);
    add_blocks(cli, shared);
    add_audit(cli, shared);
    add_ready_command(cli, shared);
    add_drain(cli, shared);
    add_backup_commands(cli, config_path, exit_code);
    add_database_command(cli, config_path, exit_code);
    add_enrol_command(cli, config_path, exit_code);
    add_peer_commands(cli, config_path, exit_code);
    add_doctor_command(cli, config_path, exit_code);
    add_match_command(cli, exit_code);
    add_replay_command(cli, exit_code);
}

}  // namespace zbs::zone_program
