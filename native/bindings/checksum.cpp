// Checksums of files
#include "checksum.h"

#include "arrays.h"
#include "dispatch.h"
#include "modules.h"

using namespace nb::literals;

namespace ialspp {
namespace {

uint32_t bound_crc32(Array<const uint8_t> data, uint32_t value) {
  require(has_carryless_products(), "this machine has no products without carries");
  const WithoutGil release;
  return crc32(value, data.data(), static_cast<size_t>(length(data)));
}

}  // namespace

void register_checksum(nb::module_& m) {
  m.def("has_crc32", has_carryless_products, "Whether `crc32` works on this machine.");
  m.def("crc32", bound_crc32, "data"_a, "value"_a = 0, "zlib's CRC-32, going on from that of earlier bytes.");
}

}  // namespace ialspp
