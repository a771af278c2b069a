// The HDF5 library, behind one lock and with ids that close themselves.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

namespace kvloom::storage {

/// Whoever calls the library holds one: calls are serialised, and the library
/// prints nothing while one lives. Declare it before any h5_id.
class h5_session {
public:
  h5_session();
  ~h5_session();
  h5_session(const h5_session&) = delete;
  h5_session& operator=(const h5_session&) = delete;

private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_to_ = nullptr;
};

/// An id of any kind; move-only. Negative: the call that gave it failed.
class h5_id {
public:
  h5_id() = default;
  explicit h5_id(hid_t id) : id_(id) {}
  h5_id(h5_id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  h5_id& operator=(h5_id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~h5_id() { close(); }

  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  /// False if the library could not: a file then may lack bytes.
  bool close();

private:
  hid_t id_ = -1;
};

/// How chunk files are opened and made: bounds V18 (metadata with checksums,
/// no flag left behind by a killed writer), pieces from a page on aligned to
/// pages, no file locks, a close that fails if an id was forgotten.
h5_id chunk_file_access();

} // namespace kvloom::storage
