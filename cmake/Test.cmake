# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# gdnplan_test(thing_test.cc LABELS ... LIBRARIES ...)
# gdnplan_test(things_test SOURCES one_test.cc two_test.cc ... LABELS ... LIBRARIES ... PRECOMPILED KIND)
# One executable, from one file or, to link less often, from several of one folder; one ctest entry a gtest case.
# The ctest name begins with the path below tests/ ("kernels/plan/things_test:"). Sources are those of the calling
# directory, or below it.
# Target tsan_tests builds those labelled tsan.
include(GoogleTest)
add_custom_target(tsan_tests)
function(gdnplan_test name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;LABELS;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${name})
  endif()
  string(REGEX REPLACE "\\.(cc|cu)$" "" name ${name})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  string(REPLACE "/" "_" target ${path})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} GTest::gmock_main gdnplan_warnings)
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED test)
  endif()
  gdnplan_precompile(${target} ${ARG_PRECOMPILED})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE
    GDNPLAN_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden")
  if("tsan" IN_LIST ARG_LABELS)
    add_dependencies(tsan_tests ${target})
  endif()
  set(properties TIMEOUT 300)
  if("gpu" IN_LIST ARG_LABELS)
    # One at a time: each fills the GPU.
    list(APPEND properties RESOURCE_LOCK gpu)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${path}:" DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  # PROPERTIES above would make one word of several labels. Read by ctest, after the discovered tests.
  set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
  file(WRITE ${labels_file} "foreach(test IN LISTS ${target}_TESTS)
  set_tests_properties(\${test} PROPERTIES LABELS \"${ARG_LABELS}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()
