# Finds the CPU half of libtorch inside the PyPI wheel `torch`, without the
# wheel's own TorchConfig.cmake, which demands a CUDA installation.
#
# Input:  KVLOOM_VENV, the Python environment made by scripts/setup.
# Target: TorchCpu::TorchCpu

set(KVLOOM_VENV "${CMAKE_SOURCE_DIR}/.venv" CACHE PATH
    "Python environment that holds the torch wheel (scripts/setup makes it)")
file(GLOB _torch_dirs "${KVLOOM_VENV}/lib/python3*/site-packages/torch")
find_path(TorchCpu_INCLUDE_DIR ATen/ATen.h
          HINTS ${_torch_dirs} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(TorchCpu_LIBRARY torch_cpu
             HINTS ${_torch_dirs} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(TorchCpu_C10_LIBRARY c10
             HINTS ${_torch_dirs} PATH_SUFFIXES lib NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TorchCpu
  REQUIRED_VARS TorchCpu_LIBRARY TorchCpu_C10_LIBRARY TorchCpu_INCLUDE_DIR
  REASON_FAILURE_MESSAGE
    "no torch wheel under KVLOOM_VENV=${KVLOOM_VENV}: run scripts/setup")

if(TorchCpu_FOUND AND NOT TARGET TorchCpu::TorchCpu)
  get_filename_component(_torch_lib_dir ${TorchCpu_LIBRARY} DIRECTORY)
  # libtorch_cpu.so asks for libcudart and libcupti, which the wheels
  # nvidia-cuda-runtime and nvidia-cuda-cupti put beside it.
  file(GLOB _nvidia_dirs "${_torch_lib_dir}/../../nvidia/*/lib")
  add_library(TorchCpu::TorchCpu INTERFACE IMPORTED)
  target_include_directories(TorchCpu::TorchCpu SYSTEM INTERFACE
    ${TorchCpu_INCLUDE_DIR}
    ${TorchCpu_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(TorchCpu::TorchCpu INTERFACE
    ${TorchCpu_LIBRARY} ${TorchCpu_C10_LIBRARY})
  set(_rpath_links "")
  foreach(dir IN LISTS _nvidia_dirs)
    list(APPEND _rpath_links "-Wl,-rpath-link,${dir}")
  endforeach()
  target_link_options(TorchCpu::TorchCpu INTERFACE ${_rpath_links})
endif()
