# PyTorch, from the Python environment of the project: WEIR_TORCH is set if it is there, and
# weir_torch_dependency is what a target links that uses it.

set(WEIR_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python"
    CACHE FILEPATH "The Python whose PyTorch the runtime is built for")
execute_process(
  COMMAND "${WEIR_PYTHON}" -c
          "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
  OUTPUT_VARIABLE WEIR_TORCH_DIR
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE WEIR_TORCH_MISSING)
if(WEIR_TORCH_MISSING)
  message(STATUS "PyTorch is not in ${WEIR_PYTHON}: the runtime is not built")
  set(WEIR_TORCH OFF)
  return()
endif()

file(STRINGS "${WEIR_TORCH_DIR}/version.py" version_line REGEX "^__version__ = ")
string(REGEX REPLACE ".*'([0-9.]+).*" "\\1" WEIR_TORCH_VERSION "${version_line}")
if(NOT WEIR_TORCH_VERSION STREQUAL "2.13.0")
  message(
    FATAL_ERROR "PyTorch ${WEIR_TORCH_VERSION} is in ${WEIR_TORCH_DIR}; the runtime is written "
                "for 2.13.0: pip install torch==2.13.0")
endif()
set(WEIR_TORCH ON)

add_library(weir_torch_dependency INTERFACE)
target_include_directories(
  weir_torch_dependency SYSTEM INTERFACE "${WEIR_TORCH_DIR}/include"
                                         "${WEIR_TORCH_DIR}/include/torch/csrc/api/include")
target_link_libraries(weir_torch_dependency INTERFACE "${WEIR_TORCH_DIR}/lib/libtorch_cpu.so"
                                                      "${WEIR_TORCH_DIR}/lib/libc10.so")
target_link_options(weir_torch_dependency INTERFACE "-Wl,-rpath,${WEIR_TORCH_DIR}/lib")
