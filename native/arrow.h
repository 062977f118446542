// Reads columns of text from Arrow. The structures are those of its C data and C stream interfaces
// (https://arrow.apache.org/docs/format/CDataInterface.html).
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ialspp::arrow {

struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* private_data;
};

struct Array {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

struct Stream {
  int (*get_schema)(Stream*, Schema* out);
  int (*get_next)(Stream*, Array* out);
  const char* (*get_last_error)(Stream*);
  void (*release)(Stream*);
  void* private_data;
};

template <class T>
struct Released : T {
  Released() : T{} {}
  ~Released() {
    if (this->release) this->release(this);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
};

inline bool is_null(const Array& array, int64_t i) {
  const auto* valid = static_cast<const uint8_t*>(array.buffers[0]);
  const int64_t bit = array.offset + i;
  return valid && !(valid[bit / 8] >> (bit % 8) & 1);
}

inline void require_sound(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

// Formats "u" and "U" have offsets into one buffer of characters. How long that buffer is, Arrow does not
// say: it has to be as long as the last offset.
template <class Offset>
std::string_view plain_text(const Array& array, int64_t i) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset + i;
  const auto* characters = static_cast<const char*>(array.buffers[2]);
  require_sound(offsets[0] >= 0 && offsets[0] <= offsets[1],
                "a damaged Arrow array: offsets must not decrease");
  require_sound(characters || offsets[0] == offsets[1], "a damaged Arrow array: it has no characters");
  return {characters ? characters + offsets[0] : "", static_cast<size_t>(offsets[1] - offsets[0])};
}

// Format "vu" has sixteen bytes for each text, with its length and, if there are at most twelve, its
// characters. A longer text is in one of several buffers, whose lengths are in the last one.
inline std::string_view viewed_text(const Array& array, int64_t i) {
  struct View {
    int32_t length;
    char prefix[4];
    int32_t buffer, offset;
  };
  const auto* view = static_cast<const View*>(array.buffers[1]) + array.offset + i;
  const auto length = static_cast<size_t>(view->length);
  if (length <= 12) return {view->prefix, length};
  const int64_t n_texts = array.n_buffers - 3;
  const auto* sizes = static_cast<const int64_t*>(array.buffers[array.n_buffers - 1]);
  require_sound(view->length > 0 && view->buffer >= 0 && view->buffer < n_texts && sizes &&
                    view->offset >= 0 && view->offset <= sizes[view->buffer] - view->length &&
                    array.buffers[2 + view->buffer],
                "a damaged Arrow array: a text must be inside its buffer");
  return {static_cast<const char*>(array.buffers[2 + view->buffer]) + view->offset, length};
}

inline void check_shape(const Array& array) {
  require_sound(array.length >= 0 && array.offset >= 0, "a damaged Arrow array: a length is negative");
  require_sound(array.n_buffers >= 3 && array.buffers, "a damaged Arrow array: buffers are missing");
  require_sound(array.length == 0 || array.buffers[1], "a damaged Arrow array: it has no texts");
}

// Calls visit(n, text) for every chunk of a stream. text(i).data() is null where the value is missing.
template <class Visit>
void for_each_chunk(Stream& stream, const Visit& visit) {
  const auto check = [&](int status) {
    if (status == 0) return;
    const char* why = stream.get_last_error(&stream);
    throw std::runtime_error(why ? why : "an Arrow stream failed");
  };
  Released<Schema> schema;
  check(stream.get_schema(&stream, &schema));
  require_sound(schema.format, "a damaged Arrow stream: its columns have no type");
  const std::string format = schema.format;
  for (;;) {
    Released<Array> chunk;
    check(stream.get_next(&stream, &chunk));
    if (!chunk.release) return;
    const auto with = [&](const auto& read) {
      check_shape(chunk);
      visit(chunk.length, [&](int64_t i) { return is_null(chunk, i) ? std::string_view() : read(chunk, i); });
    };
    if (format == "vu")
      with(viewed_text);
    else if (format == "U")
      with(plain_text<int64_t>);
    else if (format == "u")
      with(plain_text<int32_t>);
    else
      throw std::invalid_argument("a column of text is required, got Arrow format " + format);
  }
}

}  // namespace ialspp::arrow
