// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, in ASCII.
#pragma once

#include <cstdint>
#include <string>

namespace gdnplan::load {

// Three digits: "850 ns", "61.2 us", "1.23 ms", "2.00 s".
std::string Latency(double ns);
// As short as it can be, for an axis: "60 us", "1.5 ms".
std::string ShortLatency(double ns);
// Without the fraction. 1e19 stands for all that is more: no count is much larger.
uint64_t ToCount(double value);
// "1,234,567".
std::string Grouped(uint64_t count);
// Grouped from a thousand on, two or three digits below.
std::string Rate(double per_second);
// For an axis: "0.5", "20k", "1.5M".
std::string ShortCount(double count);
// "0.12 %".
std::string Percent(double part, double whole);
// "0:18", "12:05", "1:02:03".
std::string Clock(double seconds);

}  // namespace gdnplan::load
