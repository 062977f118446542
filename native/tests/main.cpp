#include "check.h"

int main() {
  int failed = 0;
  for (const Test& test : Test::all()) {
    const int before = Test::failures();
    test.body();
    if (Test::failures() > before) {
      std::printf("FAILED %s\n", test.name);
      ++failed;
    }
  }
  std::printf("%d passed, %d failed\n", static_cast<int>(Test::all().size()) - failed, failed);
  return failed != 0;
}
