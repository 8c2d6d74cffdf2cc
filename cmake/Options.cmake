# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# What a build may choose, and the settings that every target shares.
include(CheckLanguage)

check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  set(GDNPLAN_CUDA_DEFAULT ON)
else()
  set(GDNPLAN_CUDA_DEFAULT OFF)
endif()

option(GDNPLAN_ENABLE_CUDA "Build the CUDA devices (needs nvcc)" ${GDNPLAN_CUDA_DEFAULT})
option(GDNPLAN_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GDNPLAN_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(GDNPLAN_BUILD_FUZZERS "Build the fuzz targets among the tests (needs clang; see the preset fuzz)" OFF)
option(GDNPLAN_INSTALL "Have something to install and to package" ${PROJECT_IS_TOP_LEVEL})
option(GDNPLAN_PCH "Precompile headers: saves time where no compiler cache does" OFF)
option(GDNPLAN_WERROR "Warnings are errors: for those who change the code, whose compilers are known" OFF)
set(GDNPLAN_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them: address,undefined or thread")

if(GDNPLAN_BUILD_FUZZERS AND NOT (GDNPLAN_BUILD_TESTS AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  message(FATAL_ERROR "GDNPLAN_BUILD_FUZZERS needs GDNPLAN_BUILD_TESTS and clang, for its libFuzzer: this is "
                      "${CMAKE_CXX_COMPILER_ID}; use the preset fuzz, or CMAKE_CXX_COMPILER=clang++ in a new folder")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
