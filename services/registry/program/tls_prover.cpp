#include "services/registry/program/tls_prover.hpp"

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/codec/service_codec.hpp"

namespace zbs::registry_program {
namespace {

constexpr std::chrono::milliseconds kDeadline{5'000};
constexpr std::size_t kMaxReplyBytes = 4'096;

class TlsProver : public AddressProver {
  public:
    TlsProver(const openssl::KeyFolder& keys, openssl::Now now, bool allow_private,
              std::function<void(std::function<void()>)> post)
        : keys_(keys), now_(std::move(now)), allow_private_(allow_private), post_(std::move(post)) {}

    void prove(const ZoneEntry& entry, std::function<void(Result<SchedulerRole>)> respond) override {
        // Believes this one organisation, for this one call.
        auto trust = std::make_shared<openssl::TrustStore>(now_);
        if (auto pinned = trust->pin(entry.organisation, entry.bundle); !pinned)
            return post_([respond, error = pinned.error()] { respond(error); });
        auto tls = std::make_shared<openssl::TlsClient>(keys_, *trust);
        tls->require_newest();
        auto caller = std::make_shared<cpprest::HttpCaller>(
            cpprest::HttpCallerOptions{.self = {},
                                       .local_token = {},
                                       .tls = tls,
                                       .max_reply_bytes = kMaxReplyBytes,
                                       .allow_private_addresses = allow_private_});
        const ServiceAddress zone{entry.url, {CallerKind::kZone, entry.organisation, entry.name}};
        caller->call({zone, "GET", "/livez", {}, kDeadline}, [post = post_, respond, trust, caller,
                                                              url = entry.url](const Result<HttpAnswer>& answer) {
            Result<SchedulerRole> proved = SchedulerRole::kActive;
            if (answer) {
                const Result<codec::Json> health = codec::parse(answer->body);
                if (health && codec::decode_health(*health).status == codec::Health::kStandby)
                    proved = SchedulerRole::kStandby;
            } else {
                // Of the entry, not of the caller that publishes it.
                const bool is_another = answer.error().code == ErrorCode::kUnauthenticated;
                proved = Error{
                    is_another ? ErrorCode::kDenied : answer.error().code,
                    "the address " + url + " could not be proved to be this zone's: " + answer.error().message, "/url"};
            }
            // The caller ends on the strand, not on its own thread.
            post([respond, proved, trust, caller] { respond(proved); });
        });
    }

  private:
    const openssl::KeyFolder& keys_;
    openssl::Now now_;
    bool allow_private_;
    std::function<void(std::function<void()>)> post_;
};

}  // namespace

std::unique_ptr<AddressProver> make_tls_prover(const openssl::KeyFolder& keys, openssl::Now now,
                                               bool allow_private_addresses,
                                               std::function<void(std::function<void()>)> post) {
    return std::make_unique<TlsProver>(keys, std::move(now), allow_private_addresses, std::move(post));
}

}  // namespace zbs::registry_program
