# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Programs find the libraries of a bundle beside them; RPATH, since RUNPATH would not serve the libraries' own needs.
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
add_link_options(-Wl,--disable-new-dtags)

if(GDNPLAN_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GDNPLAN_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${GDNPLAN_SANITIZE})
  if(GDNPLAN_SANITIZE MATCHES "address")
    # For tests of what a sanitizer changes: compilers do not agree on a macro of their own.
    add_compile_definitions(GDNPLAN_ASAN)
  endif()
endif()
