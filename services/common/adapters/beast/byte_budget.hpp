#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace zbs::beast {

/// Bounds the bytes of requests and replies that a server keeps for callers of one kind, of each and of all together.
/// Thread-safe.
class ByteBudget : public std::enable_shared_from_this<ByteBudget> {
  public:
    struct Limits {
        std::size_t each = 0;
        std::size_t all = 0;
    };
    explicit ByteBudget(Limits limits) : limits_(limits) {}

    /// The bytes that one connection keeps; its destructor returns all of them.
    class Share {
      public:
        Share() = default;
        Share(Share&& other) noexcept { *this = std::move(other); }
        Share& operator=(Share&& other) noexcept;
        ~Share() { resize(0); }
        /// False, and unchanged, if the budget does not hold so many bytes. A smaller size always fits.
        bool resize(std::size_t bytes);

      private:
        friend class ByteBudget;
        std::shared_ptr<ByteBudget> budget_;
        std::string caller_;
        std::size_t bytes_ = 0;
    };
    /// An empty share of this caller: its name or its address.
    Share share_of(std::string caller);
    std::size_t used() const;

  private:
    bool move(const std::string& caller, std::size_t from, std::size_t to);

    const Limits limits_;
    mutable std::mutex mutex_;
    std::size_t used_ = 0;
    std::unordered_map<std::string, std::size_t> by_caller_;  ///< of those that use something
};

}  // namespace zbs::beast
