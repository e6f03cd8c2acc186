#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// Calls to the running zone with the operator's key (or, without TLS, the local token) from its state folder.
class OperatorClient {
  public:
    /// Of the schedulers that a zone may have: the active one, or the one of this host, which may stand by.
    enum class Audience { kActive, kThisHost };
    /// Errors: a zone that is not running, keys that cannot be read; of this host: a 'listen' without a port.
    static Result<std::unique_ptr<OperatorClient>> connect(const std::string& config_path,
                                                           Audience whom = Audience::kActive);
    Result<codec::Json> call(const std::string& method, const std::string& path, const codec::Json& body = {});
    const Caller& zone() const { return zone_.who; }

  private:
    OperatorClient() = default;
    std::unique_ptr<openssl::TrustStore> trust_;
    std::unique_ptr<openssl::KeyFolder> keys_;
    std::unique_ptr<cpprest::HttpCaller> caller_;
    ServiceAddress zone_;
};

/// Members of what is sent (pointers into it), and the option or argument that says each.
using Places = std::vector<std::pair<std::string, std::string>>;
/// The same error, with the typed option as its pointer where `places` knows it.
Error point_to_option(Error error, const Places& places);

/// What an operator's command needs: which zone, and where its exit code goes. Both must outlive it.
struct OperatorCommand {
    std::string* config;
    int* exit_code;

    /// Says it, and sets the exit code; where the command prints JSON, also as a problem on standard output.
    void fail(const Error& error, const command_line::Output& output) const;
    /// The same of a command that asks whether all is well: a no is `kFailed`, whatever the fault.
    void not_well(const Error& error, const command_line::Output& output) const;
    /// The answer of the running zone, or nothing after saying what is wrong; nothing is asked where the command could
    /// not print it.
    std::optional<codec::Json> call(const command_line::Output& output, const std::string& method,
                                    const std::string& path, const codec::Json& body = {},
                                    const Places& places = {}) const;
    /// See `Output::print`; what cannot be printed is wrong usage.
    void print(const command_line::Output& output, const listing::Listing& listing, const codec::Json& whole) const;
    /// Whether it is known which zone is meant, and the output can be that of this command; else says why not.
    bool can_begin(const command_line::Output& output) const;
};

}  // namespace zbs::zone_program
