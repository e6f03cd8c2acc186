#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/ids.hpp"
#include "algorithms/base/text.hpp"
#include "client/api/zone_client.hpp"
#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/listing/rows.hpp"

namespace CLI {
class App;
}
namespace zbs::cli {

/// Exit codes of every command; with `run` and `wait` the program's own code goes through.
using enum command_line::Ending;
using command_line::exit_code_of;
using command_line::kExitCodes;

inline constexpr std::string_view kExitNote =
    "run and wait give the program's own code, 128 + n where signal n ended it, and 143 at the walltime.";

using listing::Cell;
using listing::chosen;
using listing::harmless_line;
using listing::Listing;
using listing::output_formats;
using listing::RowChoice;
using listing::written;

/// What all commands share: global options and the outcome.
struct Context {
    std::string url;                ///< home zone, or several with commas; --url, ZBS_URL
    std::string url_place;          ///< which of the two gives it
    std::string identity;           ///< --identity, ZBS_IDENTITY: a name without TLS, on loopback
    std::string token;              ///< ZBS_TOKEN: and what proves it there
    std::string credentials;        ///< --credentials, ZBS_CREDENTIALS: folder of certificate and key
    std::string proxy;              ///< --proxy, X509_USER_PROXY: a proxy in place of the certificate
    std::string output = "table";   ///< one of output_formats()
    bool output_is_asked = false;   ///< by -o; else ZBS_OUTPUT may have named it, which is about all commands
    bool outlasts_absence = false;  ///< the zone has answered before: a client waits for it while it is away
    RowChoice choice;               ///< of the lists that take `add_list_options`
    int exit_code = kOk;

    /// A client of the home zone, or nothing after saying what is missing.
    std::unique_ptr<client::ZoneClient> connect();
    std::unique_ptr<client::ZoneClient> connect_without_tls();
    /// Whether what --url or ZBS_URL says are addresses. Errors: kInvalidArgument with its place.
    Result<void> check_url() const;
    /// Who calls with `zone`; anonymous where nobody says.
    Caller caller(const client::ZoneClient& zone) const;
    /// A fresh id with the mark of the caller, whose name the zone returns where she uses a proxy. Errors: the zone's.
    Result<Id128> fresh_id(client::ZoneClient& zone) const;
    /// Whether the output is laid out for people, and not for programs.
    bool for_people() const { return output == "table" || output == "wide"; }
    /// Prints the error (as a problem object in the JSON modes), sets the exit code.
    void fail(const Error& error) { fail(error, error.pointer); }
    /// `place`: of the fault, in words of people; programs get the pointer.
    void fail(const Error& error, const std::string& place);
};

/// From now on calls of `zone` wait for it while it is away, and a line on standard error announces that, and its end.
/// `id`: the application that goes on meanwhile; empty: no particular one.
void outlast_absence(client::ZoneClient& zone, const std::string& id, std::function<bool()> is_given_up = {});
/// $XDG_CONFIG_HOME/zbs/credentials, or under ~/.config.
std::string default_credentials_folder();

/// The rows in the format of `-o`; tables fit the terminal.
std::string shown(const Context& context, const Listing& rows);
/// The list, as `-o`, `--columns`, `--sort` and `--filter` ask; a column that is not there is an error.
void print(Context& context, const Listing& listing);
/// One document for programs, an object, with its version; `name` prints its id, name or zone. Not
/// for `for_people()`.
void print_document(const Context& context, const codec::Json& json);
/// Settles on a format that one document can have, and no csv, and no name where it `has_name` not: what -o asks for,
/// or the default where only ZBS_OUTPUT named another. False after saying what it can be. To be asked before anything
/// is done.
bool settle_document_output(Context& context, bool has_name = true);
/// --columns, --sort and --filter of a command that prints a list: `command_line::add_list_options`.
void add_list_options(CLI::App& command, Context& context, const Listing& empty,
                      const std::vector<std::string>& filters = {});
/// --json of all commands, short for -o json; `asked` is what -o of this command line says.
void add_json_flag(CLI::App& app, Context& context, const std::optional<std::string>& asked);
/// -o of a command; `variable` of the environment stands in for it.
void add_output_option(CLI::App& command, Context& context, const char* variable = "");

/// Text from another party for a terminal: control characters become '?', so that no name can drive the terminal.
std::string printable(const std::string& text);
/// Bytes outside ASCII as '?', for text that is not UTF-8.
std::string ascii(std::string text);
/// "1 machine", "2 machines".
std::string counted(std::uint64_t count, const std::string& thing);

/// The traffic matrix of a model as text: rows and columns in `order`, a rule after each position in `blocks` (ends of
/// groups, ascending). Bytes in short form; at most 32 ranks are drawn, larger models print the heaviest pairs.
std::string draw_matrix(const TaskGraph& graph, const std::vector<TaskIndex>& order,
                        const std::vector<std::size_t>& blocks, const std::vector<std::string>& labels);

void add_application_commands(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_fetch_command(CLI::App& app, Context& context);
void add_identity_commands(CLI::App& app, Context& context);
void add_zone_commands(CLI::App& app, Context& context);
void add_peer_commands(CLI::App& app, Context& context);
void add_map_command(CLI::App& app, Context& context);
void add_profile_command(CLI::App& app, Context& context);
void add_queue_command(CLI::App& app, Context& context);
void add_replay_command(CLI::App& app, Context& context);
void add_simulate_command(CLI::App& app, Context& context);
void add_complete_command(CLI::App& app, Context& context);
void add_dashboard_command(CLI::App& app, Context& context);
void add_top_command(CLI::App& app, Context& context);
void add_quickstart_command(CLI::App& app, Context& context);

/// As `zbs --version` prints it.
inline constexpr const char* kProgramVersion = "zbs 0.1.0";

}  // namespace zbs::cli
