// Numbers distinct integers 0, 1, 2, ... in the order in which they are first seen.
#pragma once

#include <cstdint>
#include <vector>

namespace ialspp {

class IntegerDictionary {
 public:
  IntegerDictionary();

  // out_i = the number of keys_i
  void encode(int64_t n, const int64_t* keys, int32_t* out);

  int64_t size() const { return size_; }

  // keys_number = the integer with this number
  void copy_keys(int64_t* keys) const;

 private:
  static uint64_t hash(int64_t key);
  int32_t number_of(int64_t key, uint64_t hash);
  void grow();

  // An open-addressed table that is at most three quarters full. Keys and numbers are apart, because a slot
  // of twelve bytes cannot be aligned: with padding, the largest table of a billion rows would take a third
  // more.
  std::vector<int64_t> keys_;
  std::vector<int32_t> numbers_;  // -1: free
  int64_t size_ = 0;
};

}  // namespace ialspp
