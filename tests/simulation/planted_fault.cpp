#include "tests/simulation/planted_fault.hpp"

#include <set>
#include <string>
#include <utility>

#include "services/common/codec/json/json.hpp"

namespace zbs::simulation {
namespace {

constexpr std::string_view kParts = "/v1/parts/";
constexpr std::size_t kIdLength = 26;

class WithoutReleases : public HttpClient {
  public:
    WithoutReleases(Host& host, std::unique_ptr<HttpClient> inner) : host_(host), inner_(std::move(inner)) {}

    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        if (!call.path.starts_with(kParts)) return inner_->call(std::move(call), std::move(respond));
        const std::string id = call.path.substr(kParts.size(), kIdLength);
        if (call.path.ends_with("/launch")) launched_.insert(id);
        if (call.method != "DELETE" || launched_.contains(id)) return inner_->call(std::move(call), std::move(respond));
        host_.after(Duration{0}, [respond = std::move(respond)] {
            respond(HttpAnswer{
                404, R"({"type":"about:blank","title":"Not Found","status":404,"detail":"-","code":"not_found"})", {}});
        });
    }

  private:
    Host& host_;
    std::unique_ptr<HttpClient> inner_;
    std::set<std::string> launched_;  ///< ids of parts
};

}  // namespace

void accept_any_token(http::Call& call, const PartService& parts) {
    if (!call.path.starts_with(kParts)) return;
    auto body = codec::parse(call.body);
    if (!body || !body->contains("token")) return;
    for (const PartRecord* part : parts.table().records()) {
        if (to_string(part->request.id) != call.path.substr(kParts.size(), kIdLength)) continue;
        (*body)["token"] = part->status.token;
        call.body = codec::dump(*body);
    }
}

std::unique_ptr<HttpClient> without_releases(Host& host, std::unique_ptr<HttpClient> inner) {
    return std::make_unique<WithoutReleases>(host, std::move(inner));
}

}  // namespace zbs::simulation
