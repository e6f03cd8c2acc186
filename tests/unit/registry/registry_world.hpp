#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "services/registry/domain/registry.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/registry_fakes.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {

/// A registry of organisation `reg` over memory. What zones sign here is a number: that of the entry in `entries`.
class RegistryWorld : public testing::Test {
  protected:
    using Answer = std::optional<Result<ZoneLease>>;

    RegistryWorld() { start(); }
    void start() {
        registry.reset();
        const Time wall = clock ? clock->now() : VirtualClock().now();
        clock = std::make_unique<VirtualClock>(wall);  // a restarted machine: timers are gone, steady time begins anew
        trust = PlainTrust{};
        prover.asked.clear();
        registry = std::make_unique<Registry>(
            config, *clock, store, trust, secrets, prover,
            [this](const SignedText& text) -> Result<ZoneEntry> {
                if (unreadable.contains(text.text)) return Error{ErrorCode::kDenied, "the certificate has expired", {}};
                return entries.at(static_cast<std::size_t>(std::stoi(text.text)));
            },
            log);
        EXPECT_TRUE(registry->resume());
    }

    static Caller zone(const std::string& name, const OrganisationName& organisation = "alpha") {
        return {CallerKind::kZone, organisation, name};
    }
    ZoneEntry entry(const std::string& name, const OrganisationName& organisation = "alpha") {
        return {.name = ZoneName(name),
                .organisation = organisation,
                .contact = "ops",
                .url = "https://" + name + ":1",
                .categories = {"mpi"},
                .lease = std::chrono::seconds{40},
                .issued = clock->now(),
                .bundle = "bundle of " + organisation};
    }
    SignedText sign(const ZoneEntry& signed_entry) {
        entries.push_back(signed_entry);
        return {std::to_string(entries.size() - 1), "chain", "signature"};
    }
    std::string code(const OrganisationName& organisation = "", Duration lifetime = std::chrono::hours{1}) {
        const Result<Registry::Invitation> made = registry->invite(organisation, lifetime);
        EXPECT_TRUE(made);
        return parse_join_token(made->token)->code;
    }
    static std::string verdict(const Answer& answer) {
        if (!answer) return "no answer yet";
        return *answer ? "good" : to_string(answer->error().code);
    }
    /// Asks to come in; the answer is there once the address was proved.
    std::shared_ptr<Answer> ask_in(const std::string& with_code, const ZoneEntry& offered) {
        auto answer = std::make_shared<Answer>();
        registry->enrol(with_code, sign(offered), [answer](const Result<ZoneLease>& lease) { *answer = lease; });
        return answer;
    }
    /// Both, with an address that proves to be good.
    std::string enrol(const std::string& with_code, const ZoneEntry& offered) {
        const auto answer = ask_in(with_code, offered);
        if (!*answer && !prover.asked.empty()) prover.answer();
        return verdict(*answer);
    }
    /// What is found at an address; `listed`: at that of the entry that is there, if that differs.
    using Found = Result<SchedulerRole>;
    static Found nobody() { return Error{ErrorCode::kUnavailable, "nobody answers", {}}; }
    std::string publish(const ZoneEntry& offered, const Found& proved = SchedulerRole::kActive,
                        const Found& listed = nobody()) {
        return publish(zone(offered.name, offered.organisation), offered, proved, listed);
    }
    std::string publish(const Caller& caller, const ZoneEntry& offered, const Found& proved = SchedulerRole::kActive,
                        const Found& listed = nobody()) {
        Answer answer;
        registry->publish(caller, sign(offered), [&answer](const Result<ZoneLease>& lease) { answer = lease; });
        if (!answer && !prover.asked.empty()) prover.answer(proved);
        if (!answer && !prover.asked.empty()) prover.answer(listed);
        return verdict(answer);
    }
    std::vector<std::string> names(const ZoneQuery& query = {}) {
        std::vector<std::string> found;
        for (const SignedText& text : registry->list(query).entries)
            found.push_back(entries.at(static_cast<std::size_t>(std::stoi(text.text))).name);
        return found;
    }

    RegistryConfig config{"reg", "main", "https://reg:1", "bundle of reg"};
    std::vector<ZoneEntry> entries;
    std::set<std::string> unreadable;  ///< texts that no longer verify
    MemoryRegistryStore store;
    SilentLog log;
    PlainTrust trust;
    CountingSecrets secrets;
    HeldProver prover;
    std::unique_ptr<VirtualClock> clock;
    std::unique_ptr<Registry> registry;
};

}  // namespace zbs::test
