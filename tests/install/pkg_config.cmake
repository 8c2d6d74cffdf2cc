# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the consumer with what pkg-config says of the installation at PREFIX.
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags --libs gdnplan OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
                OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(flags UNIX_COMMAND ${flags})
execute_process(COMMAND ${COMPILER} -std=c++20 ${SOURCE} ${flags} -o ${PREFIX}/pkg_config_consumer
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PREFIX}/pkg_config_consumer COMMAND_ERROR_IS_FATAL ANY)
