// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// What a load measured, for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/load/result.h"

namespace gdnplan::load {

// The value of member "format", by which readers know such a file.
inline constexpr const char* kResultFormat = "gdnplan-load-1";

// Everything. Latencies stand in nanoseconds (.latency.ns.p99) and in microseconds
// (.latency.us.p99).
nlohmann::ordered_json ToJson(const Result& result);

// A file's text. What is no UTF-8 in names from elsewhere is replaced.
std::string ToText(const nlohmann::ordered_json& json);
std::string ToJsonText(const Result& result);

// "low_us,high_us,count,cumulative_percent" and a line for each bucket that holds something.
std::string ToCsv(const Histogram& latency);

}  // namespace gdnplan::load
