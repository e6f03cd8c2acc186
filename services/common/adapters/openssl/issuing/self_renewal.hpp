#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::openssl {

/// Keeps a running service's certificate from running out: once two thirds of its life have passed it is renewed where
/// the CA key is at hand, and the server shows the new one to whoever connects from then on; open connections stay.
/// Where it cannot be renewed, the log says so once a day, with what to do. Lives on the domain's strand.
class SelfRenewal {
  public:
    static constexpr Duration kEvery = std::chrono::minutes{1};
    static constexpr Duration kWarnEvery = std::chrono::hours{24};

    /// All but `remedy` must outlive this. `remedy` is the command that puts a certificate made elsewhere in place.
    SelfRenewal(KeyFolder& keys, TlsServer& server, Clock& clock, Log& log, std::string remedy);
    /// Called after each renewal.
    void on_renewed(std::function<void()> callback) { on_renewed_ = std::move(callback); }
    /// Looks now and every `kEvery`. A look at a certificate that is not due costs two comparisons.
    void start();

  private:
    void look();
    Result<void> renew();
    void warn(const std::string& reason);

    KeyFolder& keys_;
    TlsServer& server_;
    Clock& clock_;
    Log& log_;
    std::string remedy_;
    std::function<void()> on_renewed_;
    bool shown_ = true;               ///< the server has the certificate that the folder holds
    std::optional<Duration> warned_;  ///< steady time of the last warning
};

}  // namespace zbs::openssl
