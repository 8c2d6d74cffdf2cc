# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Every outside package, found once. README.md says why each is here.
find_package(Threads REQUIRED)
# Module mode: Debian 12 ships no protobuf-config.cmake.
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
if(GDNPLAN_BUILD_TESTS)
  find_package(GTest CONFIG REQUIRED)
  if(GDNPLAN_BUILD_BENCHMARKS)
    find_package(benchmark CONFIG REQUIRED)
  endif()
endif()
