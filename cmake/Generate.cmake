# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# gdnplan_generate(PROGRAM MANUAL): its manual page and completions, in generated/, by the program itself whenever it is linked: so
# they are there to install whichever target was built. From where the program is defined.
function(gdnplan_generate program manual)
  if(NOT GDNPLAN_INSTALL)
    return()
  endif()
  set(directory ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${directory})
  # The variable: so that a default is the same whoever builds.
  set(run ${CMAKE_COMMAND} -E env XDG_RUNTIME_DIR=/run/user/UID $<TARGET_FILE:${program}>)
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${run} --generate=man > ${directory}/${manual}
    COMMAND ${run} --generate=bash > ${directory}/${program}
    COMMAND ${run} --generate=zsh > ${directory}/_${program}
    VERBATIM)
endfunction()
