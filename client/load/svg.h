// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// A drawing within an HTML page, which is XML too. How things look is the page's style sheet's:
// elements only have classes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gdnplan::load {

// For text and for attributes in double quotes. Control characters become spaces.
std::string Escape(std::string_view text);

struct Point {
  double x = 0;
  double y = 0;
};

// From its upper left corner.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

class Svg {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };
  // What screen readers say. The id must be the page's only one of its name.
  struct Description {
    std::string id;
    std::string title;
    std::string text;
  };

  Svg(double width, double height, const Description& description);

  void Line(Point from, Point to, std::string_view classes);
  // `title`, here and below, is shown where the pointer rests; none if empty.
  void Rect(const Box& box, std::string_view classes, std::string_view title = {});
  void Circle(Point center, double radius, std::string_view classes, std::string_view title = {});
  void Polyline(const std::vector<Point>& points, std::string_view classes);
  void Polygon(const std::vector<Point>& points, std::string_view classes);
  void Text(Point at, Anchor anchor, std::string_view classes, std::string_view text);

  // The element.
  std::string Finish() const { return body_ + "</svg>\n"; }

 private:
  void Points(std::string_view element, const std::vector<Point>& points, std::string_view classes);
  void Close(std::string_view element, std::string_view title);

  std::string body_;
};

}  // namespace gdnplan::load
