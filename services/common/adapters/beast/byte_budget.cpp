#include "services/common/adapters/beast/byte_budget.hpp"

#include <utility>

namespace zbs::beast {

ByteBudget::Share& ByteBudget::Share::operator=(Share&& other) noexcept {
    if (this == &other) return *this;
    resize(0);
    budget_ = std::move(other.budget_);
    caller_ = std::move(other.caller_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
}

bool ByteBudget::Share::resize(std::size_t bytes) {
    if (budget_ == nullptr || bytes == bytes_) return true;
    if (!budget_->move(caller_, bytes_, bytes)) return false;
    bytes_ = bytes;
    return true;
}

ByteBudget::Share ByteBudget::share_of(std::string caller) {
    Share share;
    share.budget_ = shared_from_this();
    share.caller_ = std::move(caller);
    return share;
}

std::size_t ByteBudget::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

bool ByteBudget::move(const std::string& caller, std::size_t from, std::size_t to) {
    const std::lock_guard lock(mutex_);
    const auto known = by_caller_.find(caller);
    const std::size_t before = known == by_caller_.end() ? 0 : known->second;
    const std::size_t after = before - from + to;
    if (to > from && (after > limits_.each || used_ - from + to > limits_.all)) return false;
    used_ = used_ - from + to;
    if (after == 0) {
        if (known != by_caller_.end()) by_caller_.erase(known);
    } else if (known == by_caller_.end()) {
        by_caller_.emplace(caller, after);
    } else {
        known->second = after;
    }
    return true;
}

}  // namespace zbs::beast
