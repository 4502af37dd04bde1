# What can be chosen when configuring, and the compiler flags that follow from it.

option(WEIR_BUILD_TESTS "Build the tests" ON)
option(WEIR_BUILD_BENCH "Build the benchmarks" OFF)
option(WEIR_BOTH_KEYS "Build the runtime with its second key plan too, and its C++ tests" OFF)
option(WEIR_FUZZ "Build the fuzz targets, and no other test (clang only)" OFF)
option(WEIR_WHOLE_PROGRAM "Optimise the runtime as a whole when it is linked (g++ only)" OFF)
set(WEIR_CHECK_LEVEL "off" CACHE STRING "full: check the whole state after every event")
set_property(CACHE WEIR_CHECK_LEVEL PROPERTY STRINGS off full)
set(WEIR_SANITIZE "" CACHE STRING "Sanitizers for everything we compile, such as address,undefined")
set(WEIR_LIBRARY_DIR "" CACHE PATH "Folder for the runtime; empty: in the build tree")
set(WEIR_COMMAND_DIR "" CACHE PATH "Folder for the weir command; empty: in the build tree")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Paths are rewritten so that two clones of the project share the compiler cache.
find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
                                  "CCACHE_SLOPPINESS=pch_defines,time_macros" "${WEIR_CCACHE}")
endif()

add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE -Wall -Wextra -Wshadow -Wsign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 warns about "text" + std::to_string(n) by mistake (GCC bug 105651).
  target_compile_options(weir_warnings INTERFACE -Wno-restrict)
endif()

# Every object also has plain code, so that nothing but the runtime takes longer to link.
add_library(weir_whole_program INTERFACE)
if(WEIR_WHOLE_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(weir_whole_program INTERFACE -flto=auto -ffat-lto-objects)
  set(WEIR_WHOLE_PROGRAM_LINK -flto=auto)
endif()

# No fused multiply-add: a score must be the same number on every machine.
add_compile_options(-ffp-contract=off "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")

if(WEIR_CHECK_LEVEL STREQUAL "full")
  add_compile_definitions(WEIR_CHECK_FULL=1 _GLIBCXX_ASSERTIONS)
elseif(NOT WEIR_CHECK_LEVEL STREQUAL "off")
  message(FATAL_ERROR "WEIR_CHECK_LEVEL is '${WEIR_CHECK_LEVEL}'; give full or off")
endif()

if(WEIR_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(WEIR_SANITIZE)
  add_compile_options("-fsanitize=${WEIR_SANITIZE}" -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${WEIR_SANITIZE}")
endif()
