# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, in the components server, client (the tool) and dev (the client library).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# What gdnplan_generate made.
function(gdnplan_install_generated program manual component)
  string(REGEX MATCH "[0-9]$" section ${manual})
  set(directory ${PROJECT_BINARY_DIR}/generated)
  install(FILES ${directory}/${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
  install(FILES ${directory}/${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          COMPONENT ${component})
  install(FILES ${directory}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
          COMPONENT ${component})
endfunction()

install(TARGETS gdnplan-server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
gdnplan_install_generated(gdnplan-server gdnplan-server.8 server)
install(FILES packaging/server.conf DESTINATION ${CMAKE_INSTALL_SYSCONFDIR}/gdnplan COMPONENT server)
configure_file(packaging/gdnplan-server.service.in generated/gdnplan-server.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/gdnplan-server.service DESTINATION lib/systemd/system COMPONENT server)

install(TARGETS gdnplan RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT client)
gdnplan_install_generated(gdnplan gdnplan.1 client)
install(FILES client/examples/mixed_batch.json DESTINATION ${CMAKE_INSTALL_DATADIR}/gdnplan/examples COMPONENT client)
install(DIRECTORY tests/golden DESTINATION ${CMAKE_INSTALL_DATADIR}/gdnplan COMPONENT client)

# The client library is static, and so are the layers below it, whose headers nobody else includes.
set(gdnplan_archives gdnplan_client gdnplan_wire gdnplan_proto gdnplan_plan)
set(gdnplan_pc_cuda "")
if(GDNPLAN_ENABLE_CUDA)
  list(INSERT gdnplan_archives 3 gdnplan_cuda)
  set(gdnplan_pc_cuda "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
endif()
foreach(target ${gdnplan_archives})
  get_target_property(headers ${target} HEADER_SET)
  set(header_set "")
  if(headers)
    set(header_set FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  endif()
  install(TARGETS ${target} EXPORT gdnplanTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev ${header_set})
endforeach()
set(gdnplan_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gdnplan)
install(EXPORT gdnplanTargets NAMESPACE gdnplan:: DESTINATION ${gdnplan_cmake_dir} COMPONENT dev)
configure_package_config_file(cmake/gdnplanConfig.cmake.in generated/gdnplanConfig.cmake
                              INSTALL_DESTINATION ${gdnplan_cmake_dir})
write_basic_package_version_file(generated/gdnplanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/gdnplanConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/gdnplanConfigVersion.cmake
        DESTINATION ${gdnplan_cmake_dir} COMPONENT dev)

list(TRANSFORM gdnplan_archives PREPEND -l OUTPUT_VARIABLE gdnplan_pc_libs)
list(JOIN gdnplan_pc_libs " " gdnplan_pc_libs)
# Where it stands decides, so that the whole may be moved.
file(RELATIVE_PATH gdnplan_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/gdnplan.pc.in generated/gdnplan.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/gdnplan.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(DIRECTORY proto/gdnplan DESTINATION ${CMAKE_INSTALL_DATADIR}/gdnplan/proto COMPONENT dev
        FILES_MATCHING PATTERN *.proto)
install(FILES client/examples/scheduler.cc client/examples/ten_lines.cc client/examples/worker.cc
        DESTINATION ${CMAKE_INSTALL_DATADIR}/gdnplan/examples COMPONENT dev)
install(DIRECTORY client/examples/python DESTINATION ${CMAKE_INSTALL_DATADIR}/gdnplan/examples COMPONENT dev
        FILES_MATCHING PATTERN *.py)

foreach(package server:gdnplan-server client:gdnplan-client dev:libgdnplan-dev)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright COMPONENT ${component})
endforeach()
