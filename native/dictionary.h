// Numbers distinct texts 0, 1, 2, ... in the order in which they are first seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ialspp {

class Dictionary {
 public:
  Dictionary();

  // out_i = the number of text(i), for i = 0 .. n - 1, or -1 where text(i).data() is null
  template <class Text>
  void encode(int64_t n, const Text& text, int32_t* out);

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  std::string_view operator[](int64_t number) const {
    return {characters_.data() + starts_[number], static_cast<size_t>(starts_[number + 1] - starts_[number])};
  }
  int64_t bytes() const { return static_cast<int64_t>(characters_.size()); }

  // The numbers in ascending order of their texts, compared byte by byte
  std::vector<int32_t> order() const;

  // The texts as integers, if every one is written as an integer of 64 bits is: 7, and not 007 or +7
  std::optional<std::vector<int64_t>> integers() const;

 private:
  // A slot of an open-addressed table that is at most half full. The part of the hash beside the number
  // spares most comparisons of texts.
  struct Slot {
    uint32_t tag;
    int32_t number;  // -1: free
  };

  static uint64_t hash(std::string_view text);
  size_t first_slot(uint64_t hash) const { return hash & (slots_.size() - 1); }
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  int32_t number_of(std::string_view text, uint64_t hash);
  int32_t add(std::string_view text, size_t slot, uint64_t hash);
  void grow();

  std::vector<Slot> slots_;
  std::vector<uint64_t> hashes_;  // of each number
  std::vector<char> characters_;  // of all texts, one after the other
  std::vector<int64_t> starts_;
};

template <class Text>
void Dictionary::encode(int64_t n, const Text& text, int32_t* out) {
  // Hashes are computed ahead of their look-ups, so that the cache misses of a large table overlap.
  constexpr int64_t kAhead = 16;
  uint64_t hashes[kAhead];
  for (int64_t begin = 0; begin < n; begin += kAhead) {
    const int64_t count = n - begin < kAhead ? n - begin : kAhead;
    for (int64_t i = 0; i < count; ++i) {
      hashes[i] = hash(text(begin + i));
      __builtin_prefetch(&slots_[first_slot(hashes[i])]);
    }
    for (int64_t i = 0; i < count; ++i) {
      const std::string_view key = text(begin + i);
      out[begin + i] = key.data() ? number_of(key, hashes[i]) : -1;
    }
  }
}

}  // namespace ialspp
