// zbs-registry's commands `backup` and `restore`.
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/sqlite/backup_codec.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/registry/http/registry_routes.hpp"
#include "services/registry/program/registry_client.hpp"

namespace zbs::registry_program {
namespace {

using command_line::Output;

/// The name comes from the keys, which are in no backup.
Result<Caller> name_of(const StateFolder& state) {
    const auto keys = openssl::KeyFolder::open(state.identity(), system::wall_clock);
    if (!keys) return keys.error();
    return (*keys)->name();
}

Result<void> back_up(const StateFolder& state, const Output& output, const std::string& file) {
    const Result<Caller> self = name_of(state);
    if (!self) return self.error();
    const auto made = sqlite::write_backup(sqlite::registry_backups(), {state.database(), state.audit(), to_uri(*self)},
                                           file, system::wall_clock());
    if (!made) return made.error();
    output.print_document(codec::encode_backup(sqlite::document_of(*made), file),
                          file + ": " + sqlite::to_string(*made) + "\n");
    return {};
}

void print_restored(const sqlite::RestoredRegistry& done, const Output& output) {
    std::string more;
    if (done.tokens > 0)
        more += std::to_string(done.tokens) + " open tokens work no more; make new ones ('zbs-registry token')\n";
    more += "zones are listed as soon as they renew\n";
    for (const RemovedFromRegistry& removed : done.removed) {
        more += (removed.zone.empty() ? "organisation " + removed.organisation : "zone " + removed.zone) +
                " was removed since the backup and stays removed\n";
    }
    if (!done.files.kept_audit)
        more +=
            "what was removed since the backup is here again: look at 'zbs-registry zone list' and "
            "'zbs-registry organisation list'\n";
    output.print_document(codec::encode_restored_registry(done.tokens, done.removed, sqlite::document_of(done.files)),
                          sqlite::to_string(done.files, more));
}

Result<void> restore(const StateFolder& state, const Output& output, const std::string& file) {
    const Result<Caller> self = name_of(state);
    if (!self) return self.error();
    if (auto own = process::check_owner(state.path); !own) return own;
    chmod(state.path.c_str(), 0700);
    const auto lock = process::FolderLock::take(state.path);
    if (!lock) return Error{lock.error().code, lock.error().message + "; stop the registry first", {}};
    const auto done =
        sqlite::restore_registry(file, {state.database(), state.audit(), to_uri(*self)}, system::wall_clock(),
                                 [&self](const AuditEntry& entry) { return removal_of(entry, self->organisation); });
    if (!done) return done.error();
    print_restored(*done, output);
    return {};
}

}  // namespace

void add_backup_commands(CLI::App& cli, Options& options, int& exit_code) {
    const auto file = std::make_shared<std::string>();
    CLI::App* backup = cli.add_subcommand(
        "backup",
        "database and audit log into one new file, also while the registry runs; checked before it gets its "
        "name\n\nExample: zbs-registry backup /backup/registry-2026-01-31.db --state /var/lib/zbs-registry");
    backup->add_option("FILE", *file, "must not exist; made with mode 0600: it holds all that the registry knows")
        ->required();
    const auto made = command_line::add_outcome(*backup);
    const auto shared = operator_command(options, exit_code);
    backup->callback(
        [&options, shared, made, file] { shared.run(*made, [&] { return back_up({options.state}, *made, *file); }); });
    CLI::App* again = cli.add_subcommand(
        "restore",
        "a backup in place of the database of a registry that is not running; what was there is kept "
        "beside\n\nExample: zbs-registry restore /backup/registry-2026-01-31.db --state /var/lib/zbs-registry");
    again->add_option("FILE", *file, "made by 'zbs-registry backup' of this registry")->required();
    const auto restored = command_line::add_outcome(*again);
    again->callback([&options, shared, restored, file] {
        shared.run(*restored, [&] { return restore({options.state}, *restored, *file); });
    });
}

}  // namespace zbs::registry_program
