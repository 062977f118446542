#include "dictionary.h"

#include <algorithm>
#include <charconv>
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

// Eight bytes of a text as a number that sorts like them; bytes after its end are 0.
uint64_t sortable(std::string_view text) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) word = word << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0);
  return word;
}

size_t common_prefix(std::string_view a, std::string_view b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

std::optional<int64_t> as_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view digits = text.substr(text.starts_with('-'));
  const bool usual = !digits.starts_with('0') || text == "0";
  if (error != std::errc() || end != text.data() + text.size() || !usual) return std::nullopt;
  return value;
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

std::vector<int32_t> Dictionary::order() const {
  // Most ids differ within eight bytes after what all have in common. Only those that do not are compared
  // where they are, which is a cache miss each.
  size_t common = size() ? (*this)[0].size() : 0;
  for (int64_t number = 1; number < size(); ++number)
    common = std::min(common, common_prefix((*this)[0], (*this)[number]));
  struct Key {
    uint64_t start;
    int32_t number;
  };
  std::vector<Key> keys(size());
  for (int64_t number = 0; number < size(); ++number)
    keys[number] = {sortable((*this)[number].substr(common)), static_cast<int32_t>(number)};
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    return a.start != b.start ? a.start < b.start : (*this)[a.number] < (*this)[b.number];
  });
  std::vector<int32_t> numbers(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) numbers[i] = keys[i].number;
  return numbers;
}

std::optional<std::vector<int64_t>> Dictionary::integers() const {
  std::vector<int64_t> found(size());
  for (int64_t number = 0; number < size(); ++number) {
    const std::optional<int64_t> integer = as_integer((*this)[number]);
    if (!integer) return std::nullopt;
    found[number] = *integer;
  }
  return found;
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
