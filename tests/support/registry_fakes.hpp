#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/common/ports/address_prover.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs::test {

/// Trust without cryptography: a bundle is any text but the empty one, its fingerprint that text in hexadecimal. A list
/// of revocations is "NUMBER serial serial ...". Texts prove nothing here.
class PlainTrust : public TrustBundles {
  public:
    Result<std::string> fingerprint(std::string_view bundle_pem) const override {
        if (bundle_pem.empty()) return invalid("no bundle");
        std::string digits;
        for (const char c : bundle_pem.substr(0, 32)) {
            digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
            digits += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
        }
        return "sha256:" + digits + std::string(64 - digits.size(), '0');
    }
    Result<BundleNames> names_in(std::string_view) const override { return BundleNames{}; }
    Result<void> pin(const OrganisationName& organisation, const std::string& bundle_pem) override {
        if (bundle_pem.empty()) return invalid("no bundle");
        bundles_[organisation] = bundle_pem;
        return {};
    }
    void unpin(const OrganisationName& organisation) override { bundles_.erase(organisation); }
    std::optional<std::string> bundle(const OrganisationName& organisation) const override {
        const auto at = bundles_.find(organisation);
        return at == bundles_.end() ? std::nullopt : std::optional(at->second);
    }
    std::vector<OrganisationName> organisations() const override {
        std::vector<OrganisationName> names;
        for (const auto& [name, bundle] : bundles_) names.push_back(name);
        return names;
    }
    Result<void> set_revocations(const OrganisationName&, const std::string&) override { return {}; }
    bool is_revoked(const OrganisationName&, std::string_view) const override { return false; }
    Result<CertificateInfo> verify_text(std::string_view, const SignedText&,
                                        std::optional<std::string_view>) const override {
        return invalid("nothing is proved here");
    }
    Result<DelegationInfo> verify_delegation(std::string_view, const SignedText&) const override {
        return invalid("nothing is proved here");
    }
    Result<DelegationInfo> verify_renewal(std::string_view, const SignedText&) const override {
        return invalid("nothing is proved here");
    }

  private:
    std::map<OrganisationName, std::string> bundles_;
};

/// Secrets that a test can name: "a...aa", "a...ab", ...; a digest tells texts apart and proves nothing.
class CountingSecrets : public Secrets {
  public:
    std::string fresh() override {
        std::string code(26, 'a');
        for (int rest = ++count_, at = 25; rest > 0; rest /= 26, --at)
            code[static_cast<std::size_t>(at)] = static_cast<char>('a' + rest % 26);
        return code;
    }
    std::string digest(std::string_view text) const override {
        const std::string number = std::to_string(std::hash<std::string_view>{}(text));
        return std::string(64 - number.size(), '0') + number;
    }

  private:
    int count_ = 0;
};

/// Proofs that a test answers, one by one.
class HeldProver : public AddressProver {
  public:
    struct Asked {
        ZoneEntry entry;
        std::function<void(Result<SchedulerRole>)> respond;
    };
    void prove(const ZoneEntry& entry, std::function<void(Result<SchedulerRole>)> respond) override {
        asked.push_back({entry, std::move(respond)});
    }
    /// Answers the oldest question.
    void answer(const Result<SchedulerRole>& proved = SchedulerRole::kActive) {
        ZBS_EXPECTS(!asked.empty());
        const Asked first = std::move(asked.front());
        asked.erase(asked.begin());
        first.respond(proved);
    }
    std::vector<Asked> asked;
};

}  // namespace zbs::test
