#pragma once
#include <memory>
#include <string>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/codec/json.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// Calls to the running zone with the operator's key (or, without TLS, the local token) from its state folder.
class OperatorClient {
  public:
    /// Errors: a zone that is not running, keys that cannot be read.
    static Result<std::unique_ptr<OperatorClient>> connect(const std::string& config_path);
    Result<codec::Json> call(const std::string& method, const std::string& path, const codec::Json& body = {});

  private:
    OperatorClient() = default;
    std::unique_ptr<openssl::TrustStore> trust_;
    std::unique_ptr<openssl::KeyFolder> keys_;
    std::unique_ptr<cpprest::HttpCaller> caller_;
    ServiceAddress zone_;
};

}  // namespace zbs::zone_program
