#include "storage/hdf5/h5_library.hpp"

namespace kvloom::storage {

namespace {

std::mutex library;

} // namespace

h5_session::h5_session() : lock_(library) {
  // The setting is the thread's own.
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_to_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

h5_session::~h5_session() {
  H5Eset_auto2(H5E_DEFAULT, print_, print_to_);
}

bool h5_id::close() {
  const hid_t id = std::exchange(id_, -1);
  if (id < 0) return true;
  switch (H5Iget_type(id)) {
  case H5I_FILE:
    return H5Fclose(id) >= 0;
  case H5I_DATASET:
    return H5Dclose(id) >= 0;
  case H5I_DATASPACE:
    return H5Sclose(id) >= 0;
  case H5I_DATATYPE:
    return H5Tclose(id) >= 0;
  case H5I_ATTR:
    return H5Aclose(id) >= 0;
  default:
    return H5Pclose(id) >= 0;
  }
}

h5_id chunk_file_access() {
  h5_id access(H5Pcreate(H5P_FILE_ACCESS));
  const bool set
      = access && H5Pset_fclose_degree(access.get(), H5F_CLOSE_SEMI) >= 0
        && H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18)
               >= 0
        && H5Pset_alignment(access.get(), 4096, 4096) >= 0
        && H5Pset_file_locking(access.get(), false, true) >= 0;
  return set ? std::move(access) : h5_id();
}

} // namespace kvloom::storage
