# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# gdnplan_test(path/to/thing_test.cc LABELS ... LIBRARIES ...)
# One executable a file, one ctest entry a gtest case. The name is the file's path without its ending.
include(GoogleTest)
function(gdnplan_test source)
  cmake_parse_arguments(ARG "" "" "LABELS;LIBRARIES" ${ARGN})
  string(REGEX REPLACE "\\.(cc|cu)$" "" name ${source})
  string(REPLACE "/" "_" target ${name})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} GTest::gmock_main gdnplan_warnings)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE
    GDNPLAN_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden")
  gtest_discover_tests(${target} TEST_PREFIX "${name}:" DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()
