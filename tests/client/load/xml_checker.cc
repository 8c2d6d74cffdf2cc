// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// No std::regex: g++ 12 warns within it under ASan.
#include "tests/client/load/xml_checker.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace gdnplan::load {
namespace {

constexpr std::array<std::string_view, 5> kReferences = {"&amp;", "&lt;", "&gt;", "&quot;", "&#"};

bool HasBadReference(std::string_view text) {
  for (size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (std::none_of(kReferences.begin(), kReferences.end(),
                     [rest](std::string_view known) { return rest.starts_with(known); })) {
      return true;
    }
    if (!rest.starts_with("&#")) continue;
    const size_t end = rest.find_first_not_of("0123456789", 2);
    if (end == 2 || end == std::string_view::npos || rest[end] != ';') return true;
  }
  return false;
}

// Of a tag's inside after its name.
bool AttributesAreGood(std::string_view text) {
  if (text.ends_with('/')) text.remove_suffix(1);
  std::set<std::string_view> names;
  while (!text.empty()) {
    const size_t equals = text.find("=\"");
    if (text.front() != ' ' || equals == std::string_view::npos) return false;
    const size_t end = text.find('"', equals + 2);
    if (end == std::string_view::npos) return false;
    const std::string_view name = text.substr(1, equals - 1);
    const std::string_view value = text.substr(equals + 2, end - equals - 2);
    if (name.empty() || name.find_first_of(" \"'/=") != std::string_view::npos) return false;
    if (!names.insert(name).second) return false;
    if (value.find('<') != std::string_view::npos || HasBadReference(value)) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace

std::string CheckXml(std::string_view text) {
  constexpr std::string_view kDoctype = "<!DOCTYPE html>";
  if (text.starts_with(kDoctype)) text.remove_prefix(kDoctype.size());
  std::vector<std::string> open;
  while (!text.empty()) {
    const size_t start = text.find('<');
    if (HasBadReference(text.substr(0, start))) {
      return "bad reference: " + std::string(text.substr(0, start));
    }
    if (start == std::string_view::npos) break;
    const size_t end = text.find('>', start);
    if (end == std::string_view::npos) return "a tag without an end";
    const std::string tag(text.substr(start + 1, end - start - 1));
    text.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "closes what is not open: " + tag;
      open.pop_back();
      continue;
    }
    const size_t name = tag.find_first_of(" /");
    if (name != std::string::npos && !AttributesAreGood(std::string_view(tag).substr(name))) {
      return "bad attributes: " + tag;
    }
    if (!tag.ends_with('/')) open.push_back(tag.substr(0, name));
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace gdnplan::load
