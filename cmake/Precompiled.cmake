# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# gdnplan_precompile(TARGET KIND)
# With GDNPLAN_PCH, a target gets the headers of others that most of its files include from one of four precompiled headers:
# plain, test (and GoogleTest), grpc (and gRPC and the generated code) or grpc_test. Sources include all that they need all
# the same: the other presets build without.
set(GDNPLAN_PCH_plain
  <algorithm> <array> <atomic> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view>
  <thread> <utility> <vector> <absl/status/statusor.h> <absl/strings/str_cat.h>)
set(GDNPLAN_PCH_test ${GDNPLAN_PCH_plain} <gmock/gmock.h>)
set(GDNPLAN_PCH_grpc ${GDNPLAN_PCH_plain} <grpcpp/grpcpp.h> <gdnplan/v1/planner.grpc.pb.h>)
set(GDNPLAN_PCH_grpc_test ${GDNPLAN_PCH_grpc} <gmock/gmock.h>)

function(gdnplan_precompile target kind)
  if(NOT GDNPLAN_PCH)
    return()
  endif()
  if(NOT TARGET gdnplan_pch_${kind})
    # It needs a source to be a target.
    set(source ${PROJECT_BINARY_DIR}/gdnplan_pch_${kind}.cc)
    file(WRITE ${source} "")
    add_library(gdnplan_pch_${kind} OBJECT ${source})
    target_precompile_headers(gdnplan_pch_${kind} PRIVATE ${GDNPLAN_PCH_${kind}})
    target_link_libraries(gdnplan_pch_${kind} PRIVATE absl::statusor absl::strings gdnplan_warnings
      $<$<BOOL:$<FILTER:${kind},INCLUDE,grpc>>:gdnplan::proto> $<$<BOOL:$<FILTER:${kind},INCLUDE,test>>:GTest::gmock>)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    # As the precompiled header, in place of -fPIE.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM gdnplan_pch_${kind})
endfunction()
