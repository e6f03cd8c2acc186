#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::test {

/// AuditLog in memory; passes the same contract suite as the one on disk. Its hashes distinguish entries but prove
/// nothing. While `fault` is set nothing becomes durable.
class MemoryAuditLog : public AuditLog {
  public:
    std::optional<Error> fault;
    bool rides = false;  ///< its entries become durable with the journal

    Result<void> append(const AuditEntry& entry, AuditUrgency urgency) override {
        const auto stored = [](const std::string& text) { return printable_text(text, limits::kMaxAuditTextBytes); };
        AuditRecord record{durable_.size() + pending_.size() + 1,
                           {entry.at, stored(entry.who), stored(entry.action), stored(entry.object),
                            stored(entry.decision), stored(entry.request_id), stored(entry.detail)},
                           {}};
        record.hash = hash_of(record);
        pending_.push_back(std::move(record));
        if (urgency != AuditUrgency::kNow && pending_.size() < 64) return {};
        Result<void> written = flush();
        if (!written) pending_.pop_back();
        return written;
    }
    Result<void> flush() override {
        if (pending_.empty()) return {};
        if (fault) return *fault;
        durable_.insert(durable_.end(), pending_.begin(), pending_.end());
        pending_.clear();
        return {};
    }
    Result<std::vector<AuditRecord>> read(std::uint64_t from, std::size_t limit) override {
        if (auto ok = flush(); !ok) return ok.error();
        std::vector<AuditRecord> rows;
        for (const AuditRecord& record : durable_) {
            if (record.number >= from && rows.size() < std::min(limit, limits::kMaxAuditRows)) rows.push_back(record);
        }
        return rows;
    }
    bool rides_on_journal() const override { return rides; }
    AuditHead head() const override {
        return durable_.empty() ? AuditHead{} : AuditHead{durable_.size(), durable_.back().hash};
    }

    /// What is durable, for tests that look without flushing.
    const std::vector<AuditRecord>& durable() const { return durable_; }

  private:
    static std::string hash_of(const AuditRecord& record) {
        const AuditEntry& e = record.entry;
        const std::string all = std::to_string(record.number) + "\n" + std::to_string(to_microseconds(e.at)) + "\n" +
                                e.who + "\n" + e.action + "\n" + e.object + "\n" + e.decision + "\n" + e.request_id +
                                "\n" + e.detail;
        std::string text = std::to_string(std::hash<std::string>{}(all));
        return std::string(64 - text.size(), '0') + text;
    }

    std::vector<AuditRecord> durable_;
    std::vector<AuditRecord> pending_;
};

}  // namespace zbs::test
