"""Files on disk: atomic writes, and named arrays in one mapped file with checksums."""
