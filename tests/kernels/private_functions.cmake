# Fails if an object compiled for a wide instruction set defines a weak symbol,
# that is an inline function or template of a header.
set(n_wide 0)
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "_(avx2|avx512|amx)\\.cpp\\.o$")
    continue()
  endif()
  math(EXPR n_wide "${n_wide} + 1")
  execute_process(COMMAND ${NM} -C --defined-only ${object}
                  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ [WVu] [^\n]*kvloom[^\n]*|[0-9a-f]+ [WVu] std::[^\n]*"
         weak "${symbols}")
  if(weak)
    message(SEND_ERROR "${object} defines for all paths: ${weak}")
  endif()
endforeach()
if(CMAKE_HOST_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND n_wide EQUAL 0)
  message(SEND_ERROR "no object of a wide instruction set in: ${OBJECTS}")
endif()
