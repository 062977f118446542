// The address sanitizer ends the process where `new` finds no memory. The extension has to answer with an
// exception there, so that its callers get a MemoryError. This library, loaded before the sanitizer's, brings
// that back. The sanitizer still watches the memory, which comes from its malloc.
#include <cstdlib>
#include <new>

namespace {

void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

void* aligned(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  return posix_memalign(&memory, static_cast<std::size_t>(alignment), size) ? nullptr : memory;
}

}  // namespace

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void* operator new(std::size_t size) { return or_throw(std::malloc(size ? size : 1)); }
EXPORTED void* operator new[](std::size_t size) { return or_throw(std::malloc(size ? size : 1)); }
EXPORTED void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size ? size : 1);
}
EXPORTED void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size ? size : 1);
}
EXPORTED void* operator new(std::size_t size, std::align_val_t a) { return or_throw(aligned(size, a)); }
EXPORTED void* operator new[](std::size_t size, std::align_val_t a) { return or_throw(aligned(size, a)); }

EXPORTED void operator delete(void* p) noexcept { std::free(p); }
EXPORTED void operator delete[](void* p) noexcept { std::free(p); }
EXPORTED void operator delete(void* p, std::size_t) noexcept { std::free(p); }
EXPORTED void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
EXPORTED void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
EXPORTED void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
EXPORTED void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
EXPORTED void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
EXPORTED void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
EXPORTED void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
