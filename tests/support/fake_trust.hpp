#pragma once
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/ports/trust.hpp"

namespace zbs::test {

/// Trust without cryptography: a bundle is any text that starts with "BUNDLE" (bound to org-x where it
/// starts with "BUNDLE of org-x"), a chain is "URI|BUNDLE...", a signature
/// is a digest that everybody could make. Checks what the domain relies on: purpose, text, signer, bundle.
class FakeTrust : public TrustBundles {
  public:
    static std::string digest(const std::string& text) {
        char out[32];
        std::snprintf(out, sizeof out, "%016zx", std::hash<std::string>{}(text));
        return out;
    }
    static SignedText sign(const Caller& signer, const std::string& bundle, std::string_view purpose,
                           const std::string& text) {
        std::string chain = to_uri(signer) + "|" + bundle;
        std::string signature = digest(std::string(purpose) + "|" + text + "|" + chain);
        return {text, std::move(chain), std::move(signature)};
    }

    Result<std::string> fingerprint(std::string_view bundle) const override {
        if (!bundle.starts_with("BUNDLE")) return Error{ErrorCode::kInvalidArgument, "is no bundle", {}};
        return "sha256:" + std::string(48, '0') + digest(std::string(bundle));
    }
    Result<BundleNames> names_in(std::string_view bundle) const override {
        if (auto good = fingerprint(bundle); !good) return good.error();
        constexpr std::string_view kBound = "BUNDLE of ";
        if (!bundle.starts_with(kBound))
            return BundleNames{.organisations = {}, .unbound = {"CA of " + std::string(bundle)}};
        bundle.remove_prefix(kBound.size());
        return BundleNames{.organisations = {std::string(bundle.substr(0, bundle.find(' ')))}, .unbound = {}};
    }
    Result<void> pin(const OrganisationName& organisation, const std::string& bundle) override {
        if (auto good = fingerprint(bundle); !good) return good.error();
        pinned_[organisation] = bundle;
        return {};
    }
    void unpin(const OrganisationName& organisation) override { pinned_.erase(organisation); }
    std::optional<std::string> bundle(const OrganisationName& organisation) const override {
        const auto at = pinned_.find(organisation);
        if (at == pinned_.end()) return std::nullopt;
        return at->second;
    }
    std::vector<OrganisationName> organisations() const override {
        std::vector<OrganisationName> all;
        for (const auto& [organisation, bundle] : pinned_) all.push_back(organisation);
        return all;
    }
    Result<void> set_revocations(const OrganisationName&, const std::string&) override { return {}; }
    bool is_revoked(const OrganisationName&, std::string_view) const override { return false; }

    Result<CertificateInfo> verify_text(std::string_view purpose, const SignedText& text,
                                        std::optional<std::string_view> bundle_pem) const override {
        const auto denied = [](const char* why) { return Error{ErrorCode::kDenied, why, {}}; };
        const std::size_t bar = text.chain.find('|');
        if (bar == std::string::npos) return denied("no chain");
        const auto signer = parse_identity(text.chain.substr(0, bar));
        if (!signer) return denied("the signer has no name");
        const std::optional<std::string> believed =
            bundle_pem ? std::optional<std::string>(*bundle_pem) : bundle(signer->organisation);
        if (!believed || *believed != text.chain.substr(bar + 1)) return denied("the chain leads to another bundle");
        if (text.signature != digest(std::string(purpose) + "|" + text.text + "|" + text.chain))
            return denied("the signature is bad");
        return CertificateInfo{.name = *signer};
    }
    Result<DelegationInfo> verify_delegation(std::string_view, const SignedText&) const override { return none(); }
    Result<DelegationInfo> verify_renewal(std::string_view, const SignedText&) const override { return none(); }

  private:
    static Error none() { return {ErrorCode::kDenied, "no delegations in this world", {}}; }
    std::map<OrganisationName, std::string> pinned_;
};

/// Keys of a zone in `FakeTrust`'s world; they only sign.
class FakeKeys : public OwnKeys {
  public:
    FakeKeys(Caller name, std::string bundle) : name_(std::move(name)), bundle_(std::move(bundle)) {}
    const Caller& name() const override { return name_; }
    std::string chain() const override { return to_uri(name_) + "|" + bundle_; }
    std::string bundle() const override { return bundle_; }
    Result<SignedText> sign(std::string_view purpose, std::string text) const override {
        return FakeTrust::sign(name_, bundle_, purpose, text);
    }
    bool can_issue() const override { return false; }
    Result<Issued> issue(std::string_view, const Caller&, Duration) const override { return no(); }
    Result<std::string> make_revocations(const std::vector<Revoked>&, std::uint64_t) const override { return no(); }
    Result<ProxyRequest> make_proxy_request() const override { return no(); }
    Result<Derived> derive_proxy(std::string_view, std::string_view, const std::string&, Duration) const override {
        return no();
    }
    Result<SignedText> sign_with_proxy(std::string_view, std::string, std::string_view, std::string) const override {
        return no();
    }

  private:
    static Error no() { return {ErrorCode::kUnavailable, "these keys only sign", {}}; }
    Caller name_;
    std::string bundle_;
};

}  // namespace zbs::test
