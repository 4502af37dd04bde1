# The runtime for other projects: find_package(Weir) finds it where it was installed, and in the
# build tree (Weir_DIR).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Weir")
install(TARGETS weir_torch weir_preload EXPORT WeirTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(
  FILES "${PROJECT_SOURCE_DIR}/include/weir/errors.h" "${PROJECT_SOURCE_DIR}/include/weir/torch.h"
        "${PROJECT_SOURCE_DIR}/include/weir/types.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weir")
install(EXPORT WeirTargets NAMESPACE Weir:: DESTINATION "${package}")
export(EXPORT WeirTargets NAMESPACE Weir:: FILE "${PROJECT_BINARY_DIR}/WeirTargets.cmake")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/WeirConfig.cmake.in" "${PROJECT_BINARY_DIR}/WeirConfig.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/WeirConfig.cmake"
              "${PROJECT_BINARY_DIR}/WeirConfigVersion.cmake" DESTINATION "${package}")
