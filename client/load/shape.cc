// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/shape.h"

#include <charconv>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gdnplan/plan/constants.h"
#include "gdnplan/plan/names.h"
#include "gdnplan/plan/status.h"

namespace gdnplan::load {
namespace {

constexpr int32_t kMaxWeight = 1'000'000;

class ShapeParser {
 public:
  explicit ShapeParser(std::string_view text) : text_(text) { shape_.text = text; }

  absl::StatusOr<Shape> Parse() {
    std::string_view rest = text_;
    if (const size_t star = rest.find('*'); star != std::string_view::npos) {
      GDNPLAN_RETURN_IF_ERROR(
          ParseNumber("weight", rest.substr(0, star), 1, kMaxWeight, shape_.weight));
      rest.remove_prefix(star + 1);
    }
    for (const absl::string_view part : absl::StrSplit(plan::ToAbsl(rest), ',')) {
      const std::string_view pair(part.data(), part.size());
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos) {
        return Error(pair, "must be KEY=VALUE, such as decode=256");
      }
      GDNPLAN_RETURN_IF_ERROR(ParsePair(pair.substr(0, equals), pair.substr(equals + 1)));
    }
    return Checked();
  }

 private:
  absl::Status Error(std::string_view key, std::string_view reason) const {
    return absl::InvalidArgumentError(
        absl::StrCat("shape \"", absl::CHexEscape(plan::ToAbsl(text_)),
                     "\": ", absl::CHexEscape(plan::ToAbsl(key)), ": ", plan::ToAbsl(reason)));
  }

  absl::Status WrongValue(std::string_view key, std::string_view rule,
                          std::string_view value) const {
    return Error(key, absl::StrCat("must be ", plan::ToAbsl(rule), " (got \"",
                                   absl::CHexEscape(plan::ToAbsl(value)), "\")"));
  }

  template <typename Number>
  absl::Status ParseNumber(std::string_view key, std::string_view text, int32_t low, int32_t high,
                           Number& number) const {
    int32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < low || value > high) {
      return WrongValue(key, absl::StrCat("a whole number in ", low, "..", high), text);
    }
    number = value;
    return absl::OkStatus();
  }

  absl::Status ParsePair(std::string_view key, std::string_view value) {
    for (const std::string_view seen : seen_) {
      if (seen == key) return Error(key, "is given twice; give each key once");
    }
    seen_.push_back(key);
    const auto rows = [&](int32_t& number) {
      return ParseNumber(key, value, 0, plan::kMaxNumSeqs, number);
    };
    if (key == "decode") return rows(shape_.decodes);
    if (key == "spec") return rows(shape_.spec_rows);
    if (key == "padded") return rows(shape_.padded);
    if (key == "prefill") return ParsePrefill(key, value);
    if (key == "k") {
      return ParseNumber(key, value, 0, plan::kMaxSpeculativeTokens, shape_.num_speculative_tokens);
    }
    if (key == "groups") return ParseNumber(key, value, 1, plan::kMaxGroups, shape_.groups);
    if (key == "mode") return ParseMode(key, value);
    if (key == "block_size") {
      return ParseNumber(key, value, 1, plan::kMaxNumBatchedTokens, shape_.block_size);
    }
    return Error(key,
                 "no such key; there are decode, spec, k, prefill, padded, groups, mode and "
                 "block_size");
  }

  absl::Status ParsePrefill(std::string_view key, std::string_view value) {
    const size_t times = value.find('x');
    if (times == std::string_view::npos) {
      return WrongValue(key, "ROWSxTOKENS, such as 8x1024", value);
    }
    GDNPLAN_RETURN_IF_ERROR(
        ParseNumber(key, value.substr(0, times), 0, plan::kMaxNumSeqs, shape_.prefills));
    return ParseNumber(key, value.substr(times + 1), 1, plan::kMaxNumBatchedTokens,
                       shape_.prefill_tokens);
  }

  absl::Status ParseMode(std::string_view key, std::string_view value) {
    shape_.mamba_cache_mode = plan::MambaCacheModeOf(value);
    if (!shape_.mamba_cache_mode.has_value()) return WrongValue(key, "none, all or align", value);
    return absl::OkStatus();
  }

  absl::StatusOr<Shape> Checked() const {
    if (shape_.num_rows() == shape_.padded) {
      return Error("rows", "there must be at least one with tokens; give decode, spec or prefill");
    }
    return shape_;
  }

  std::string_view text_;
  std::vector<std::string_view> seen_;
  Shape shape_;
};

}  // namespace

absl::StatusOr<Shape> ParseShape(std::string_view text) { return ShapeParser(text).Parse(); }

}  // namespace gdnplan::load
