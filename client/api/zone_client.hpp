#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/api/credentials.hpp"
#include "client/calls/repeated_call.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/ports/http_client.hpp"

namespace zbs::cpprest {
class HttpCaller;
}

namespace zbs::client {

/// Typed calls to one zone (or registry), waiting for the answer. Repeats calls that are safe to repeat while the
/// service cannot be reached, within `patience`. A zone with several schedulers has several addresses, one after the
/// other with commas: the next is tried where one does not answer or stands by, for half a minute at least. Safe from
/// one thread at a time.
class ZoneClient {
  public:
    /// Without TLS, on loopback: the name and the token that proves it.
    ZoneClient(std::string url, const Caller& self, std::string token,
               std::chrono::milliseconds patience = std::chrono::seconds{10});
    /// `urls`: the zone's addresses, in place of the one that the credentials have; empty: that one.
    explicit ZoneClient(Credentials credentials, std::string urls = {},
                        std::chrono::milliseconds patience = std::chrono::seconds{10});
    ~ZoneClient();
    /// A caller that waits for something of the service, and what it does meanwhile.
    struct Absence {
        std::chrono::milliseconds patience = std::chrono::minutes{30};  ///< but not less than the client's own
        std::function<void(const Error&)> begins;  ///< once in each absence, after two seconds, also of silence
        std::function<void()> ends;                ///< the service answers again
        std::function<bool()> is_given_up;         ///< asked every 0.1 s during an absence; none: never
    };
    /// From now on each call that is safe to repeat waits so for a service that is away.
    void outlast(Absence absence) { absence_ = std::move(absence); }
    /// Whether all of `urls`, with commas between them, are addresses of services, before any is called; no address is
    /// well, too. Errors: kInvalidArgument with what to write instead.
    static Result<void> check_addresses(std::string_view urls);

    /// Safe to repeat: the id is in the request.
    Result<codec::Json> submit(const ApplicationRequest& request);
    Result<ApplicationPlan> dry_run(const ApplicationRequest& request);
    Result<codec::Json> show(const std::string& id);
    /// One page of a list, newest first; `next` of the answer is the `after` of the page behind it. Empty texts: all.
    struct ListQuery {
        std::size_t limit = 100;
        std::string states{};         ///< words with commas between them
        std::string owner{};          ///< URI of a user
        std::optional<Time> since{};  ///< only what the zone took then or later; from 1970 to 9999
        std::string after{};          ///< `next` of the page before; empty: the first page
    };
    Result<codec::Json> list(const ListQuery& query);
    Result<codec::Json> explain(const std::string& id);
    Result<codec::Json> cancel(const std::string& id);
    Result<std::string> assignment(const std::string& id, const std::string& format);
    struct LogChunk {
        std::string bytes;
        std::uint64_t next_offset = 0;
        bool complete = false;
    };
    Result<LogChunk> log(const std::string& id, const std::string& rank, const std::string& stream,
                         std::uint64_t offset);
    Result<ApplicationModel> profile(const std::string& profile_id);
    /// GET of a JSON document, e.g. "/v1/nodes".
    Result<codec::Json> get(const std::string& path);
    /// Its clock, to a second. Errors besides those of a call: kNotFound (the server sends no time).
    Result<Time> clock();
    /// Why it takes no new work, as while it drains; empty: it takes some. Not repeated. Errors: no answer.
    Result<std::string> why_not_ready();
    /// GET of a body that goes on, for an hour at most: `on_piece` as in `HttpCall`, `ended` once, both on any thread.
    /// Not repeated.
    void stream(const std::string& path, std::function<bool(std::string_view)> on_piece,
                std::function<void(Result<HttpAnswer>)> ended);
    /// Any call that is safe to repeat.
    Result<codec::Json> call(const std::string& method, const std::string& path, const codec::Json& body = {});

    /// For calls of any other kind; they are not repeated.
    HttpClient& http() const;
    /// With the address that answered last.
    const ServiceAddress& home() const { return home_; }
    const std::string& url() const { return home_.url; }
    /// Those it calls with; none without TLS.
    const Credentials* credentials() const { return credentials_.get(); }

  private:
    void use_addresses(std::string_view urls);
    /// With what to look at.
    Error unreachable(Error error) const;
    Result<HttpAnswer> await_answer(const HttpCall& call, const std::function<void(const Error&)>& on_silence) const;
    Result<std::string> text(HttpCall call);
    Result<codec::Json> json(const HttpCall& call);
    Result<std::string> text(const std::string& method, const std::string& path, const std::string& body = {});
    Result<codec::Json> json(const std::string& method, const std::string& path, const std::string& body = {});

    ServiceAddress home_;
    HomeAddresses addresses_{""};  ///< of the zone's schedulers
    std::unique_ptr<Credentials> credentials_;
    std::unique_ptr<cpprest::HttpCaller> caller_;
    std::chrono::milliseconds patience_;
    std::optional<Absence> absence_;
    bool is_given_up() const;
    bool is_slow_ = false;  ///< it has answered after a silence: another one is no absence until the call's deadline
    LogChunk last_;
};

/// Hands the home zone the right to run the parts of one application in other organisations' zones: home makes a key,
/// the proxy for it is signed here. May be repeated with the same `id`: the newer proxy takes the place of the older.
/// Nothing is done without TLS. Errors: the zone's.
Result<void> delegate(ZoneClient& zone, const std::string& id, const std::string& application, Duration lifetime);

/// How long an application's delegation should live: its walltime, an hour for the queues, at most 12 hours.
Duration delegation_lifetime(Duration walltime);

}  // namespace zbs::client
