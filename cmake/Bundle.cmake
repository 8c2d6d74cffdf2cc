# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Target `bundle`: a folder that runs on machines with nothing of ours installed. bin/ has server, tool, GPU tests and
# benchmarks, lib/ their shared libraries (all but those of the C and C++ runtimes), share/ the golden batches.
# Programs are listed in the global property GDNPLAN_BUNDLE_PROGRAMS.
get_property(bundle_programs GLOBAL PROPERTY GDNPLAN_BUNDLE_PROGRAMS)
set(bundle_files "")
foreach(program IN LISTS bundle_programs)
  list(APPEND bundle_files "$<TARGET_FILE:${program}>")
endforeach()
add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} "-DPROGRAMS=${bundle_files}" -DDESTINATION=${CMAKE_BINARY_DIR}/bundle
          -DSOURCE=${PROJECT_SOURCE_DIR} -DSTRIP=${CMAKE_STRIP} -P ${PROJECT_SOURCE_DIR}/cmake/MakeBundle.cmake
  DEPENDS ${bundle_programs}
  VERBATIM)
