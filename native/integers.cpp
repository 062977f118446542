#include "integers.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace ialspp {
namespace {

constexpr size_t kFirstKeys = 1024;
constexpr int32_t kFree = -1;

}  // namespace

IntegerDictionary::IntegerDictionary() : keys_(kFirstKeys), numbers_(kFirstKeys, kFree) {}

uint64_t IntegerDictionary::hash(int64_t key) {
  // Both halves of the product: consecutive ids, and ids with equal low or high bits, are all spread out.
  const auto product =
      static_cast<unsigned __int128>(static_cast<uint64_t>(key) ^ 0x9e3779b97f4a7c15) * 0xd1b54a32d192ed03;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

void IntegerDictionary::encode(int64_t n, const int64_t* keys, int32_t* out) {
  // Hashes are computed ahead of their look-ups, so that the cache misses of a large table overlap.
  constexpr int64_t kAhead = 32;
  uint64_t hashes[kAhead];
  for (int64_t begin = 0; begin < n; begin += kAhead) {
    const int64_t count = std::min(n - begin, kAhead);
    const size_t mask = keys_.size() - 1;
    for (int64_t i = 0; i < count; ++i) {
      hashes[i] = hash(keys[begin + i]);
      __builtin_prefetch(&keys_[hashes[i] & mask]);
      __builtin_prefetch(&numbers_[hashes[i] & mask]);
    }
    for (int64_t i = 0; i < count; ++i) out[begin + i] = number_of(keys[begin + i], hashes[i]);
  }
}

int32_t IntegerDictionary::number_of(int64_t key, uint64_t hash) {
  const size_t mask = keys_.size() - 1;
  size_t slot = hash & mask;
  while (numbers_[slot] != kFree && keys_[slot] != key) slot = (slot + 1) & mask;
  if (numbers_[slot] != kFree) return numbers_[slot];
  if (size_ == std::numeric_limits<int32_t>::max())
    throw std::length_error("more than 2^31 - 1 distinct ids");
  keys_[slot] = key;
  numbers_[slot] = static_cast<int32_t>(size_++);
  if (4 * static_cast<size_t>(size_) > 3 * keys_.size()) grow();
  return static_cast<int32_t>(size_ - 1);
}

void IntegerDictionary::grow() {
  std::vector<int64_t> keys(2 * keys_.size());
  std::vector<int32_t> numbers(keys.size(), kFree);
  const size_t mask = keys.size() - 1;
  for (size_t old = 0; old < keys_.size(); ++old) {
    if (numbers_[old] == kFree) continue;
    size_t slot = hash(keys_[old]) & mask;
    while (numbers[slot] != kFree) slot = (slot + 1) & mask;
    keys[slot] = keys_[old];
    numbers[slot] = numbers_[old];
  }
  keys_.swap(keys);
  numbers_.swap(numbers);
}

void IntegerDictionary::copy_keys(int64_t* keys) const {
  for (size_t slot = 0; slot < keys_.size(); ++slot)
    if (numbers_[slot] != kFree) keys[numbers_[slot]] = keys_[slot];
}

}  // namespace ialspp
