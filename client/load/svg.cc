// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
#include "client/load/svg.h"

#include "absl/strings/str_format.h"

namespace gdnplan::load {
namespace {

const char* Name(Svg::Anchor anchor) {
  switch (anchor) {
    case Svg::Anchor::kStart:
      return "start";
    case Svg::Anchor::kMiddle:
      return "middle";
    case Svg::Anchor::kEnd:
      return "end";
  }
  return "start";
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return escaped;
}

Svg::Svg(double width, double height, const Description& description) {
  body_ = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
      "aria-labelledby=\"%s-title %s-text\">\n",
      width, height, Escape(description.id), Escape(description.id));
  // As desc elements: browsers would show a title over the whole drawing.
  absl::StrAppendFormat(&body_, "<desc id=\"%s-title\">%s</desc>\n<desc id=\"%s-text\">%s</desc>\n",
                        Escape(description.id), Escape(description.title), Escape(description.id),
                        Escape(description.text));
}

void Svg::Line(Point from, Point to, std::string_view classes) {
  absl::StrAppendFormat(&body_,
                        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n",
                        from.x, from.y, to.x, to.y, classes);
}

void Svg::Rect(const Box& box, std::string_view classes, std::string_view title) {
  absl::StrAppendFormat(&body_,
                        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\"",
                        box.x, box.y, box.width, box.height, classes);
  Close("rect", title);
}

void Svg::Circle(Point center, double radius, std::string_view classes, std::string_view title) {
  absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"", center.x,
                        center.y, radius, classes);
  Close("circle", title);
}

void Svg::Polyline(const std::vector<Point>& points, std::string_view classes) {
  Points("polyline", points, classes);
}

void Svg::Polygon(const std::vector<Point>& points, std::string_view classes) {
  Points("polygon", points, classes);
}

void Svg::Text(Point at, Anchor anchor, std::string_view classes, std::string_view text) {
  absl::StrAppendFormat(&body_,
                        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n",
                        at.x, at.y, Name(anchor), classes, Escape(text));
}

void Svg::Points(std::string_view element, const std::vector<Point>& points,
                 std::string_view classes) {
  absl::StrAppendFormat(&body_, "<%s class=\"%s\" points=\"", element, classes);
  for (const Point& point : points) absl::StrAppendFormat(&body_, "%.1f,%.1f ", point.x, point.y);
  body_ += "\"/>\n";
}

void Svg::Close(std::string_view element, std::string_view title) {
  if (title.empty()) {
    body_ += "/>\n";
  } else {
    absl::StrAppendFormat(&body_, "><title>%s</title></%s>\n", Escape(title), element);
  }
}

}  // namespace gdnplan::load
