// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Marks what nvcc compiles for both sides; nothing to g++.
#pragma once

#if defined(__CUDACC__)
#define GDNPLAN_HD __host__ __device__
#else
#define GDNPLAN_HD
#endif
