#include "dictionary.h"

#include <cstring>
#include <limits>
#include <stdexcept>

namespace ialspp {
namespace {

constexpr size_t kFirstSlots = 1024;

template <class Word>
uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Loads up to eight bytes as one number, without a copy of unknown length: the two halves may overlap.
uint64_t load_at_most_eight(const char* from, size_t bytes) {
  if (bytes >= 4) return load<uint32_t>(from) << 32 | load<uint32_t>(from + bytes - 4);
  if (bytes >= 2) return load<uint16_t>(from) << 16 | load<uint16_t>(from + bytes - 2);
  return bytes ? load<uint8_t>(from) : 0;
}

// Combines both halves of the product, so that every bit of the result depends on every bit of the arguments.
uint64_t mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

Dictionary::Dictionary() : slots_(kFirstSlots, Slot{0, -1}), starts_{0} {}

uint64_t Dictionary::hash(std::string_view text) {
  // Digits of irrational numbers, whose bits have no pattern
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15, kSecond = 0xd1b54a32d192ed03;
  uint64_t state = mix(text.size() ^ kFirst, kSecond);
  const char* at = text.data();
  size_t left = text.size();
  for (; left > 8; left -= 8, at += 8) state = mix(state ^ load<uint64_t>(at), kFirst);
  return mix(state ^ load_at_most_eight(at, left), kSecond);
}

int32_t Dictionary::number_of(std::string_view text, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = first_slot(hash);; slot = (slot + 1) & mask) {
    const Slot found = slots_[slot];
    if (found.number < 0) return add(text, slot, hash);
    if (found.tag == tag(hash) && (*this)[found.number] == text) return found.number;
  }
}

int32_t Dictionary::add(std::string_view text, size_t slot, uint64_t hash) {
  if (size() == std::numeric_limits<int32_t>::max())
    throw std::length_error("more than 2^31 - 1 distinct ids");
  const auto number = static_cast<int32_t>(size());
  characters_.insert(characters_.end(), text.begin(), text.end());
  starts_.push_back(static_cast<int64_t>(characters_.size()));
  hashes_.push_back(hash);
  slots_[slot] = {tag(hash), number};
  if (2 * hashes_.size() > slots_.size()) grow();
  return number;
}

void Dictionary::grow() {
  slots_.assign(2 * slots_.size(), Slot{0, -1});
  const size_t mask = slots_.size() - 1;
  for (size_t number = 0; number < hashes_.size(); ++number) {
    size_t slot = first_slot(hashes_[number]);
    while (slots_[slot].number >= 0) slot = (slot + 1) & mask;
    slots_[slot] = {tag(hashes_[number]), static_cast<int32_t>(number)};
  }
}

}  // namespace ialspp
