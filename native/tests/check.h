// Just enough to write a test: TEST(name) { CHECK(...); }
#pragma once

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

struct Test {
  const char* name;
  void (*body)();
  static std::vector<Test>& all() {
    static std::vector<Test> tests;
    return tests;
  }
  static int& failures() {
    static int count = 0;
    return count;
  }
  Test(const char* n, void (*b)()) : name(n), body(b) { all().push_back(*this); }
};

#define TEST(name)                             \
  static void name();                          \
  static const Test name##_entry(#name, name); \
  static void name()

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
      ++Test::failures();                                                       \
    }                                                                           \
  } while (false)

inline bool near(double got, double wanted, double tolerance) {
  return std::abs(got - wanted) <= tolerance * std::max(1.0, std::abs(wanted));
}

inline std::vector<float> normals(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 0.5f);
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}
