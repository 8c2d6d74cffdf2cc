# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Run by the target `bundle`, see Bundle.cmake.
cmake_minimum_required(VERSION 3.24)
file(REMOVE_RECURSE ${DESTINATION})
file(COPY ${PROGRAMS} DESTINATION ${DESTINATION}/bin)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAMS}
     RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR unresolved
     # The target machine's own are as new or newer.
     POST_EXCLUDE_REGEXES "/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s))\\.so[^/]*$")
if(unresolved)
  message(FATAL_ERROR "not found: ${unresolved}")
endif()
file(COPY ${libraries} DESTINATION ${DESTINATION}/lib FOLLOW_SYMLINK_CHAIN)
file(COPY ${SOURCE}/tests/golden DESTINATION ${DESTINATION}/share)
file(GLOB binaries ${DESTINATION}/bin/* ${DESTINATION}/lib/*)
foreach(binary IN LISTS binaries)
  if(NOT IS_SYMLINK ${binary})
    file(CHMOD ${binary} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    execute_process(COMMAND ${STRIP} --strip-unneeded ${binary} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
