// Memory for floats that starts on a cache line, so that sixteen columns touch one line instead of two. It is
// not initialised.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace ialspp {

class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(int64_t n) : memory_(new (std::align_val_t{64}) float[static_cast<size_t>(n)]) {}

  float* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], Free> memory_;
};

}  // namespace ialspp
