# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# gdnplan_library(NAME SOURCES ... HEADERS ... PUBLIC ... PRIVATE ... PRECOMPILED KIND)
# One layer or part of one: library gdnplan_NAME, alias gdnplan::NAME. HEADERS are its public headers below
# include/; each is also compiled alone (CMAKE_VERIFY_INTERFACE_HEADER_SETS).
function(gdnplan_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(gdnplan_${name} STATIC ${ARG_SOURCES})
  add_library(gdnplan::${name} ALIAS gdnplan_${name})
  set_target_properties(gdnplan_${name} PROPERTIES EXPORT_NAME ${name})
  if(ARG_HEADERS)
    target_sources(gdnplan_${name} PUBLIC FILE_SET HEADERS
                   BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}/include FILES ${ARG_HEADERS})
  endif()
  target_link_libraries(gdnplan_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE}
                        $<BUILD_INTERFACE:gdnplan_warnings>)
  target_compile_features(gdnplan_${name} PUBLIC cxx_std_20)
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED plain)
  endif()
  gdnplan_precompile(gdnplan_${name} ${ARG_PRECOMPILED})
endfunction()
