#include "dispatch.h"

#include <atomic>
#include <stdexcept>

#if defined(__x86_64__) || defined(_M_X64)
#define IALSPP_X86 1
#include <cpuid.h>
#endif

namespace ialspp {

namespace baseline {
extern const Kernels kKernels;
}
#ifdef IALSPP_X86
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
namespace avx512vnni {
extern const Kernels kKernels;
}
#endif

namespace {

struct Choice {
  const Kernels* kernels;
  bool (*present)();
};

bool always() { return true; }

#ifdef IALSPP_X86
bool bit(unsigned value, int position) { return (value >> position) & 1; }

// Which registers the operating system saves: bits 1 and 2 stand for AVX, 5 to 7 for AVX-512.
uint64_t saved_states() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !bit(c, 27)) return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

bool has_avx2() {
  unsigned a, b, c, d;
  if ((saved_states() & 0x6) != 0x6) return false;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !bit(c, 12) || !bit(c, 29)) return false;  // FMA, F16C
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && bit(b, 5);
}

bool has_avx512() {
  unsigned a, b, c, d;
  if (!has_avx2() || (saved_states() & 0xe6) != 0xe6) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && bit(b, 16) && bit(b, 17) && bit(b, 30) &&
         bit(b, 31);  // F, DQ, BW, VL
}

bool has_avx512vnni() {
  unsigned a, b, c, d;
  return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && bit(c, 11);
}

// AMD's family 19h has AVX-512 in units of 256 bits: Zen 4, where it has AVX-512 at all.
bool has_zen4() {
  unsigned a, b, c, d;
  if (!has_avx512vnni() || !__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx) return false;
  return __get_cpuid(1, &a, &b, &c, &d) && ((a >> 8) & 0xf) + ((a >> 20) & 0xff) == 0x19;
}

// There, converting a vector of 512 bits from half precision takes longer than converting two of 256.
Kernels zen4_kernels() {
  Kernels kernels = avx512vnni::kKernels;
  kernels.name = "zen4";
  kernels.half = avx2::kKernels.half;
  return kernels;
}
#endif

const std::vector<Choice>& choices() {
#ifdef IALSPP_X86
  static const Kernels zen4 = zen4_kernels();
#endif
  static const std::vector<Choice> all = {
      {&baseline::kKernels, always},
#ifdef IALSPP_X86
      {&avx2::kKernels, has_avx2},
      {&avx512::kKernels, has_avx512},
      {&avx512vnni::kKernels, has_avx512vnni},
      {&zen4, has_zen4},
#endif
  };
  return all;
}

const Kernels* best() {
  const Kernels* found = nullptr;
  for (const Choice& choice : choices())
    if (choice.present()) found = choice.kernels;
  return found;
}

std::atomic<const Kernels*>& chosen() {
  static std::atomic<const Kernels*> kernels{best()};
  return kernels;
}

std::vector<std::string> names(bool only_present) {
  std::vector<std::string> found;
  for (const Choice& choice : choices())
    if (!only_present || choice.present()) found.emplace_back(choice.kernels->name);
  return found;
}

}  // namespace

std::vector<std::string> available_isas() { return names(true); }
std::vector<std::string> known_isas() { return names(false); }

void select_isa(const std::string& name) {
  for (const Choice& choice : choices())
    if (name == choice.kernels->name && choice.present()) {
      chosen() = choice.kernels;
      return;
    }
  throw std::invalid_argument("instruction set not available: " + name);
}

const Kernels& kernels() { return *chosen(); }

bool has_carryless_products() {
#ifdef IALSPP_X86
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && bit(c, 1);
#else
  return false;
#endif
}

}  // namespace ialspp
