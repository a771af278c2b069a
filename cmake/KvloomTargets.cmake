# How targets are declared: kvloom_library(), kvloom_test(), and the flags that
# all of them share.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

find_program(KVLOOM_CCACHE ccache)
if(KVLOOM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KVLOOM_CCACHE})
endif()

add_library(kvloom_flags INTERFACE)
target_include_directories(kvloom_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(kvloom_flags INTERFACE -Wall -Wextra -Wpedantic
                       -Wshadow -Wnon-virtual-dtor -ffp-contract=off)
target_link_libraries(kvloom_flags INTERFACE Threads::Threads)

set(KVLOOM_SANITIZE "" CACHE STRING
    "sanitizers for all targets: empty, address,undefined or thread")
if(KVLOOM_SANITIZE)
  target_compile_options(kvloom_flags INTERFACE
    -fsanitize=${KVLOOM_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(kvloom_flags INTERFACE -fsanitize=${KVLOOM_SANITIZE})
endif()

# kvloom_library(NAME SOURCES a.cpp ... [PUBLIC lib ...] [PRIVATE lib ...])
# A static library `kvloom_NAME`, includes rooted at the top folder. With no
# sources it is an interface library.
function(kvloom_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(arg_SOURCES)
    add_library(kvloom_${name} STATIC ${arg_SOURCES})
    target_link_libraries(kvloom_${name} PUBLIC kvloom_flags ${arg_PUBLIC}
                                         PRIVATE ${arg_PRIVATE})
  else()
    add_library(kvloom_${name} INTERFACE)
    target_link_libraries(kvloom_${name} INTERFACE kvloom_flags ${arg_PUBLIC})
  endif()
endfunction()

# kvloom_test(NAME SOURCES a_test.cpp ... [LIBS lib ...] [LABELS l ...]
#             [TIMEOUT seconds])
# One GoogleTest program `NAME`, registered with ctest as one test.
function(kvloom_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE kvloom_flags ${arg_LIBS} GTest::gtest
                                        GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    KVLOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT}
                       LABELS "${arg_LABELS}")
endfunction()
