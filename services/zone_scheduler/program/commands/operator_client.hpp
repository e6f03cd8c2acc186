#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/common/adapters/command_line/operator_command.hpp"
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

/// A command of the zone's operator.
struct OperatorCommand : command_line::OperatorCommand {
    OperatorCommand(const std::string* config_path, int* ending);

    /// The answer of the running zone, or nothing after saying what is wrong; nothing is asked where the command could
    /// not print it.
    std::optional<codec::Json> call(const command_line::Output& output, const std::string& method,
                                    const std::string& path, const codec::Json& body = {},
                                    const Places& places = {}) const;
};

}  // namespace zbs::zone_program
