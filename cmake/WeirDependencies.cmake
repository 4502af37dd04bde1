# The libraries we use, from Debian's packages, and HiGHS from PyPI. A missing one is named with its
# package.

function(weir_missing what package)
  message(FATAL_ERROR "${what} is missing; install it with: apt-get install ${package}")
endfunction()

# weir_need(CLI11 libcli11-dev)
macro(weir_need name package)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    weir_missing(${name} ${package})
  endif()
endmacro()

weir_need(CLI11 libcli11-dev)
weir_need(fmt libfmt-dev)
weir_need(nlohmann_json nlohmann-json3-dev)
weir_need(simdjson libsimdjson-dev)
weir_need(Threads libc6-dev)

weir_need(PkgConfig pkg-config)
pkg_check_modules(zstd QUIET IMPORTED_TARGET libzstd)
if(NOT zstd_FOUND)
  weir_missing(zstd libzstd-dev)
endif()

# HiGHS, the solver: PyPI's highsbox has headers and library in one folder.
file(GLOB WEIR_HIGHS_FOUND
     "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/highsbox/highs_dist")
set(WEIR_HIGHS_DIR "${WEIR_HIGHS_FOUND}" CACHE PATH "Folder with HiGHS's include/ and lib/")
if(NOT EXISTS "${WEIR_HIGHS_DIR}/include/highs/Highs.h")
  message(FATAL_ERROR "HiGHS is missing; install it with: .venv/bin/pip install highsbox==1.15.1")
endif()
add_library(weir_highs INTERFACE)
target_include_directories(weir_highs SYSTEM INTERFACE "${WEIR_HIGHS_DIR}/include/highs"
                                                       "${WEIR_HIGHS_DIR}/include")
target_link_libraries(weir_highs INTERFACE "${WEIR_HIGHS_DIR}/lib/libhighs.so")
target_link_options(weir_highs INTERFACE "-Wl,-rpath,${WEIR_HIGHS_DIR}/lib")

if(WEIR_BUILD_TESTS)
  find_path(WEIR_GMOCK_INCLUDE gmock/gmock.h)
  if(NOT WEIR_GMOCK_INCLUDE)
    weir_missing(GoogleMock libgmock-dev)
  endif()
  weir_need(GTest libgtest-dev)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    weir_missing(Python python3)
  endif()
endif()

if(WEIR_BUILD_BENCH)
  weir_need(benchmark libbenchmark-dev)
endif()
