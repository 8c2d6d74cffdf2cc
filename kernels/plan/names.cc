// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "gdnplan/plan/names.h"

#include <array>

namespace gdnplan::plan {
namespace {

constexpr std::array kModes = {MambaCacheMode::kNone, MambaCacheMode::kAll, MambaCacheMode::kAlign};
constexpr std::array kBackends = {PrefillBackend::kTriton, PrefillBackend::kFlashinfer,
                                  PrefillBackend::kCutedsl};

template <typename Choices>
std::optional<typename Choices::value_type> Find(const Choices& choices, std::string_view name) {
  for (const auto choice : choices) {
    if (name == Name(choice)) return choice;
  }
  return std::nullopt;
}

}  // namespace

const char* Name(MambaCacheMode mode) {
  switch (mode) {
    case MambaCacheMode::kNone:
      return "none";
    case MambaCacheMode::kAll:
      return "all";
    case MambaCacheMode::kAlign:
      return "align";
  }
  return "";
}

const char* Name(PrefillBackend backend) {
  switch (backend) {
    case PrefillBackend::kTriton:
      return "triton";
    case PrefillBackend::kFlashinfer:
      return "flashinfer";
    case PrefillBackend::kCutedsl:
      return "cutedsl";
  }
  return "";
}

std::optional<MambaCacheMode> MambaCacheModeOf(std::string_view name) { return Find(kModes, name); }

std::optional<PrefillBackend> PrefillBackendOf(std::string_view name) {
  return Find(kBackends, name);
}

}  // namespace gdnplan::plan
