# One short call per target. A target whose list of sources is still empty costs nothing.

include(GoogleTest)

# Everything a user of the project needs, without the tests: what `make build` makes.
add_custom_target(product)

# weir_library(weir_x SOURCES a.cpp ... DEPENDS weir_y ...)
function(weir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE weir_contract ${ARG_DEPENDS})
    return()
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC weir_contract ${ARG_DEPENDS} PRIVATE weir_warnings
                                                                            weir_whole_program)
  add_dependencies(product ${name})
endfunction()

# weir_program(x SOURCES a.cpp ... DEPENDS weir_y ...): an executable, if it has sources.
function(weir_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} weir_warnings)
endfunction()

# weir_test(x_test SOURCES x_test.cpp ... DEPENDS weir_y ...): each TEST is one test of ctest.
function(weir_test name)
  weir_program(${name} ${ARGN})
  if(NOT TARGET ${name})
    return()
  endif()
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_precompile_headers(${name} REUSE_FROM weir_test_header)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  gtest_discover_tests(
    ${name} DISCOVERY_MODE POST_BUILD DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${folder} TIMEOUT 600)
endfunction()

# weir_fuzz(x_fuzz SOURCES x_fuzz.cpp ... DEPENDS weir_y ...): a libFuzzer target.
function(weir_fuzz name)
  if(NOT WEIR_FUZZ)
    return()
  endif()
  weir_program(${name} ${ARGN})
  if(TARGET ${name})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

# weir_bench(x_bench SOURCES x_bench.cpp ... DEPENDS weir_y ...): a google-benchmark program.
function(weir_bench name)
  weir_program(${name} ${ARGN})
  if(TARGET ${name})
    target_link_libraries(${name} PRIVATE benchmark::benchmark benchmark::benchmark_main)
    add_dependencies(product ${name})
  endif()
endfunction()
