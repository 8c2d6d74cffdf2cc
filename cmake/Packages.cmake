# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Debian packages: cmake --preset package && cmake --build build/package --target package
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The gdnplan authors")
set(CPACK_PACKAGE_CONTACT "The gdnplan authors")
set(CPACK_VERBATIM_VARIABLES ON)
# Else a path such as /etc would be this machine's.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL server client dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME gdnplan-server)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
# useradd
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS passwd)
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS gdnplan-client)
set(CPACK_COMPONENT_SERVER_DESCRIPTION "Service that plans Gated DeltaNet attention metadata
 Plans each step of a hybrid language model once, into buffers that its workers have mapped.")
foreach(script conffiles postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/server/${script})
endforeach()

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME gdnplan-client)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "Tool that asks gdnplan servers for plans, checks them and puts loads on them")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgdnplan-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# What the packages of CMake and pkg-config look for.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libabsl-dev, libgrpc++-dev, libprotobuf-dev, libssl-dev, pkg-config, protobuf-compiler-grpc")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Client library of gdnplan, for engines that have their steps planned")
include(CPack)
