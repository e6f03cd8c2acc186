#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/base/expects.hpp"

namespace zbs {

/// A sorted sequence kept in blocks of up to 64 entries, each with a summary that lets a scan skip the block.
/// Insertion and removal cost O(log n) comparisons and moves inside one block; the list of blocks itself is a vector,
/// which is touched only when a block fills up or becomes empty (once in 32 insertions or more). A scan that can use
/// the summaries looks at n / 32 of them at most.
///
/// `Entry` is trivially copyable and has `auto key() const`, which is unique and gives the order. `Summary` is default
/// constructed for no entries and has `void include(const Entry&)` and `bool exclude(const Entry&)`; exclude answers
/// false where the summary has to be made anew from the entries that are left.
template <class Entry, class Summary>
class SortedBlocks {
  public:
    static constexpr std::size_t kBlockCapacity = 64;

    class Block {
      public:
        std::span<const Entry> entries() const { return {entries_.data() + begin_, end_ - begin_}; }
        const Summary& summary() const { return summary_; }

      private:
        friend class SortedBlocks;
        std::size_t size() const { return end_ - begin_; }
        void remake_summary() {
            summary_ = Summary{};
            for (const Entry& entry : entries()) summary_.include(entry);
        }

        std::array<Entry, kBlockCapacity> entries_;
        std::size_t begin_ = 0, end_ = 0;
        Summary summary_{};
    };
    using Key = decltype(std::declval<const Entry&>().key());

    SortedBlocks() = default;
    SortedBlocks(const SortedBlocks& other) { *this = other; }
    SortedBlocks& operator=(const SortedBlocks& other) {
        if (this == &other) return *this;
        blocks_.clear();
        for (const std::unique_ptr<Block>& block : other.blocks_) blocks_.push_back(std::make_unique<Block>(*block));
        size_ = other.size_;
        return *this;
    }
    SortedBlocks(SortedBlocks&&) noexcept = default;
    SortedBlocks& operator=(SortedBlocks&&) noexcept = default;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// Blocks in order; none is empty.
    std::size_t block_count() const { return blocks_.size(); }
    const Block& block(std::size_t index) const { return *blocks_[index]; }
    /// Precondition of both: not empty.
    const Entry& front() const { return blocks_.front()->entries().front(); }
    const Entry& back() const { return blocks_.back()->entries().back(); }

    void clear() {
        blocks_.clear();
        size_ = 0;
    }

    /// Precondition: no entry of this key is here.
    void insert(const Entry& entry) {
        ++size_;
        std::size_t index = block_of(entry.key());
        if (blocks_.empty())
            blocks_.push_back(take_block());
        else if (index == blocks_.size())
            --index;
        if (blocks_[index]->size() == kBlockCapacity) {
            split(index);
            if (blocks_[index]->entries().back().key() < entry.key()) ++index;
        }
        Block& block = *blocks_[index];
        Entry* const first = block.entries_.data();
        std::size_t place = block.end_;
        while (place > block.begin_ && entry.key() < first[place - 1].key()) --place;
        const bool room_at_end = block.end_ < kBlockCapacity;
        if (room_at_end && (block.begin_ == 0 || block.end_ - place <= place - block.begin_)) {
            std::copy_backward(first + place, first + block.end_, first + block.end_ + 1);
            ++block.end_;
        } else {
            std::copy(first + block.begin_, first + place, first + block.begin_ - 1);
            --block.begin_;
            --place;
        }
        first[place] = entry;
        block.summary_.include(entry);
    }

    /// Removes the entry of this key. Precondition: it is here.
    void erase(const Key& key) {
        const std::size_t index = block_of(key);
        ZBS_EXPECTS(index < blocks_.size());
        Block& block = *blocks_[index];
        Entry* const first = block.entries_.data();
        Entry* const place =
            std::lower_bound(first + block.begin_, first + block.end_, key,
                             [](const Entry& entry, const Key& wanted) { return entry.key() < wanted; });
        ZBS_EXPECTS(place != first + block.end_ && place->key() == key);
        const Entry gone = *place;
        if (place - (first + block.begin_) < (first + block.end_) - place) {
            std::copy_backward(first + block.begin_, place, place + 1);
            ++block.begin_;
        } else {
            std::copy(place + 1, first + block.end_, place);
            --block.end_;
        }
        --size_;
        if (block.begin_ == block.end_) {
            spare_ = std::move(blocks_[index]);
            blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
        } else if (!block.summary_.exclude(gone)) {
            block.remake_summary();
        }
    }

    /// The entry of this key, or nullptr.
    const Entry* find(const Key& key) const {
        const std::size_t index = block_of(key);
        if (index == blocks_.size()) return nullptr;
        const std::span<const Entry> entries = blocks_[index]->entries();
        const auto place = std::lower_bound(entries.begin(), entries.end(), key,
                                            [](const Entry& entry, const Key& wanted) { return entry.key() < wanted; });
        return place != entries.end() && place->key() == key ? &*place : nullptr;
    }

    /// Calls `visit(entry)` in order until it answers false.
    template <class Visit>
    void visit(Visit&& visit) const {
        for (const std::unique_ptr<Block>& block : blocks_)
            for (const Entry& entry : block->entries())
                if (!visit(entry)) return;
    }

    /// The same from the first entry on whose key is not less than `key`.
    template <class Visit>
    void visit_from(const Key& key, Visit&& visit) const {
        for (std::size_t b = block_of(key); b < blocks_.size(); ++b)
            for (const Entry& entry : blocks_[b]->entries())
                if (!(entry.key() < key) && !visit(entry)) return;
    }

    /// A block's entries, to change what neither the key nor the summary looks at.
    std::span<Entry> entries_to_change(std::size_t block) {
        Block& changed = *blocks_[block];
        return {changed.entries_.data() + changed.begin_, changed.size()};
    }

  private:
    /// Index of the first block whose last key is not less than `key`, or the number of blocks.
    std::size_t block_of(const Key& key) const {
        std::size_t low = 0, high = blocks_.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (blocks_[middle]->entries_[blocks_[middle]->end_ - 1].key() < key)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    std::unique_ptr<Block> take_block() {
        if (!spare_) return std::make_unique<Block>();
        spare_->begin_ = spare_->end_ = 0;
        spare_->summary_ = Summary{};
        return std::move(spare_);
    }

    void split(std::size_t index) {
        Block& low = *blocks_[index];
        std::unique_ptr<Block> high = take_block();
        // Entries that come at the end, as in a queue, should leave full blocks behind them.
        const std::size_t keep = index + 1 == blocks_.size() ? kBlockCapacity - 1 : kBlockCapacity / 2;
        std::copy(low.entries_.begin() + static_cast<std::ptrdiff_t>(low.begin_ + keep),
                  low.entries_.begin() + static_cast<std::ptrdiff_t>(low.end_), high->entries_.begin());
        high->end_ = low.end_ - low.begin_ - keep;
        low.end_ = low.begin_ + keep;
        low.remake_summary();
        high->remake_summary();
        blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(high));
    }

    std::vector<std::unique_ptr<Block>> blocks_;
    std::unique_ptr<Block> spare_;
    std::size_t size_ = 0;
};

}  // namespace zbs
