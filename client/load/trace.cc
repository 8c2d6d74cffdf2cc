// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/json/text_file.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

using plan::ToAbsl;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::array<std::string_view, 3> kColumns = {"arrival_s", "prompt_tokens",
                                                      "output_tokens"};
constexpr size_t kNoColumn = std::numeric_limits<size_t>::max();
// About 30 years, and a trace of nanoseconds is noticed.
constexpr double kMaxArrivalS = 1e9;
// Of what an error quotes: junk has long lines.
constexpr size_t kMaxQuoted = 40;

std::string Quoted(std::string_view text) {
  const bool cut = text.size() > kMaxQuoted;
  return absl::StrCat("\"", absl::CHexEscape(ToAbsl(text.substr(0, kMaxQuoted))),
                      cut ? "\"..." : "\"");
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Takes what stands before the first `separator` off the text, and the separator.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

class TraceParser {
 public:
  TraceParser(std::string_view text, std::string_view name) : rest_(text), name_(name) {
    if (rest_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      rest_.remove_prefix(kByteOrderMark.size());
    }
  }

  absl::StatusOr<std::vector<Request>> Parse() {
    GDNPLAN_RETURN_IF_ERROR(ParseHeader());
    std::vector<Request> requests;
    requests.reserve(static_cast<size_t>(std::count(rest_.begin(), rest_.end(), '\n')) + 1);
    while (!rest_.empty()) {
      const std::string_view line = TakeLine();
      // Editors leave an empty line at the end.
      if (line.empty()) continue;
      Request request;
      GDNPLAN_RETURN_IF_ERROR(ParseRow(line, request));
      if (!requests.empty() && request.arrival_s < requests.back().arrival_s) {
        return Error("arrival_s", absl::StrCat("must not be before the ", requests.back().arrival_s,
                                               " of the row above (got ", request.arrival_s,
                                               "); sort the rows by arrival_s"));
      }
      requests.push_back(request);
    }
    if (requests.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          ToAbsl(name_), ": has a header and no rows; a trace has at least one request"));
    }
    return requests;
  }

 private:
  std::string_view TakeLine() {
    ++line_;
    std::string_view line = TakeUntil(rest_, '\n');
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  absl::Status Error(std::string_view column, std::string_view reason) const {
    return absl::InvalidArgumentError(
        absl::StrCat(ToAbsl(name_), ":", line_, ": ", ToAbsl(column), ": ", ToAbsl(reason)));
  }

  absl::Status ParseHeader() {
    column_of_.fill(kNoColumn);
    const std::string_view header = TakeLine();
    std::string_view rest = header;
    for (num_fields_ = 0; !rest.empty(); ++num_fields_) {
      const std::string_view field = Trimmed(TakeUntil(rest, ','));
      const auto known = std::find(kColumns.begin(), kColumns.end(), field);
      if (known == kColumns.end()) continue;
      size_t& column = column_of_[static_cast<size_t>(known - kColumns.begin())];
      if (column != kNoColumn) return Error(field, "the header names this column twice");
      column = num_fields_;
    }
    for (size_t c = 0; c < kColumns.size(); ++c) {
      if (column_of_[c] != kNoColumn) continue;
      return Error(kColumns[c],
                   absl::StrCat("no such column; the first line must be a header that names "
                                "arrival_s,prompt_tokens,output_tokens (got ",
                                Quoted(header), ")"));
    }
    return absl::OkStatus();
  }

  absl::Status ParseRow(std::string_view line, Request& request) {
    std::array<std::string_view, kColumns.size()> fields;
    size_t field = 0;
    for (std::string_view rest = line; field == 0 || !rest.empty(); ++field) {
      const std::string_view value = TakeUntil(rest, ',');
      for (size_t c = 0; c < kColumns.size(); ++c) {
        if (column_of_[c] == field) fields[c] = Trimmed(value);
      }
    }
    // An empty last field leaves no trace above.
    if (line.back() == ',') ++field;
    if (field != num_fields_) {
      return Error("row", absl::StrCat("must have ", num_fields_, " fields as the header (got ",
                                       field, ": ", Quoted(line), ")"));
    }
    const auto arrival = ParseNumber<double>(fields[0]);
    // A NaN compares as false.
    if (!arrival.has_value() || !(*arrival >= 0 && *arrival <= kMaxArrivalS)) {
      return Error(kColumns[0], absl::StrCat("must be seconds in 0..", kMaxArrivalS,
                                             ", such as 12.5 (got ", Quoted(fields[0]), ")"));
    }
    request.arrival_s = *arrival;
    request.line = line_;
    GDNPLAN_RETURN_IF_ERROR(ParseTokens(1, fields[1], request.prompt_tokens));
    return ParseTokens(2, fields[2], request.output_tokens);
  }

  absl::Status ParseTokens(size_t column, std::string_view text, int32_t& tokens) const {
    const auto value = ParseNumber<int32_t>(text);
    if (!value.has_value() || *value < 1 || *value > kMaxRequestTokens) {
      return Error(kColumns[column], absl::StrCat("must be a whole number in 1..",
                                                  kMaxRequestTokens, " (got ", Quoted(text), ")"));
    }
    tokens = *value;
    return absl::OkStatus();
  }

  std::string_view rest_;
  std::string_view name_;
  int64_t line_ = 0;
  size_t num_fields_ = 0;
  std::array<size_t, kColumns.size()> column_of_{};
};

}  // namespace

absl::StatusOr<std::vector<Request>> ParseTrace(std::string_view text, std::string_view name) {
  return TraceParser(text, name).Parse();
}

absl::StatusOr<std::vector<Request>> ReadTrace(const std::string& path) {
  const absl::StatusOr<std::string> text = json::ReadFile(path);
  if (!text.ok()) {
    return absl::Status(
        text.status().code(),
        absl::StrCat(text.status().message(),
                     "; give a CSV file with a header arrival_s,prompt_tokens,output_tokens"));
  }
  return ParseTrace(*text, path);
}

}  // namespace gdnplan::load
