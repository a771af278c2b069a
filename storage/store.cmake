# Identity of chunks, chunk files, tiers. pkg-config: CMake's own module for HDF5
# wants a C compiler.
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
kvloom_library(storage
  SOURCES identity/chunk_key.cpp identity/miss_reason.cpp
          hdf5/checksum.cpp hdf5/chunk_file.cpp hdf5/chunk_folder.cpp
          hdf5/chunk_layout.cpp hdf5/h5_library.cpp hdf5/kv_form.cpp
          hdf5/raw_file.cpp
          tiers/chunk_store.cpp tiers/slow_disk.cpp tiers/tier_index.cpp
  PUBLIC kvloom_core kvloom_policy
  PRIVATE PkgConfig::HDF5 PkgConfig::XXHASH)
