// SPDX-FileCopyrightText: The gdnplan authors
// SPDX-License-Identifier: Apache-2.0
// The style sheet of a report's page and its plots.
#pragma once

namespace gdnplan::load {

// The series differ in dashes as well as in colour, for print and for eyes that see colours
// otherwise. No '<' or '&': the page is XML too.
inline constexpr const char* kHtmlStyle = R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1c2024; --soft: #5b6470; --rule: #d9dee4;
  --panel: #f5f7f9; --low: #1f6fb4; --high: #b45309; --top: #6b7280; --bad: #c42b1c; }
@media (prefers-color-scheme: dark) { :root { --back: #16191d; --text: #e6e9ed; --soft: #9aa5b1;
  --rule: #343b43; --panel: #1f2429; --low: #6db3f2; --high: #f2a65a; --top: #a0a8b3; --bad: #ff7b6b; } }
@media print { :root { color-scheme: light; --back: #ffffff; --text: #000000; --soft: #444444;
  --rule: #cccccc; --panel: #ffffff; --low: #1f6fb4; --high: #b45309; --top: #6b7280; --bad: #c42b1c; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 60rem; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
.head { color: var(--soft); margin: 0.3rem 0 1.2rem; overflow-wrap: anywhere; }
.head b { color: var(--text); font-weight: 600; }
.tiles { display: flex; flex-wrap: wrap; gap: 0.7rem; }
.tile { flex: 1 1 8rem; padding: 0.6rem 0.9rem; background: var(--panel); border: 1px solid var(--rule);
  border-radius: 6px; }
.tile span { display: block; color: var(--soft); font-size: 0.85rem; }
.tile b { font-size: 1.3rem; font-weight: 600; white-space: nowrap; }
.bad { color: var(--bad); }
.tiles + .note { margin-top: 0.7rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: top;
  white-space: nowrap; }
th { font-weight: 600; }
thead th { color: var(--soft); font-size: 0.85rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.words td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.words th { font-weight: 400; color: var(--soft); }
figure { margin: 0; }
figcaption, .note { color: var(--soft); font-size: 0.9rem; margin: 0 0 0.5rem; }
svg { display: block; width: 100%; height: auto; }
svg text { font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 12px; fill: var(--text); }
svg .tick { fill: var(--soft); }
.grid { stroke: var(--rule); stroke-width: 1; }
.axis { stroke: var(--soft); stroke-width: 1; }
.bar { fill: var(--low); }
.mark { stroke: var(--high); stroke-width: 1.2; stroke-dasharray: 4 3; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.low { stroke: var(--low); }
.high { stroke: var(--high); stroke-dasharray: 7 3; }
.top { stroke: var(--top); stroke-width: 1; }
.point { stroke-dasharray: none; stroke-width: 1; }
.point.low { fill: var(--low); }
.point.high { fill: var(--high); }
.point.top { fill: var(--back); }
.area { fill: var(--low); opacity: 0.18; }
.errors { fill: var(--bad); }
.errors-key { stroke: var(--bad); stroke-width: 8; }
.silent { fill: var(--bad); opacity: 0.12; }
.silent-key { stroke: var(--bad); stroke-width: 10; opacity: 0.25; }
.clear { fill: transparent; }
.clear:hover { fill: var(--text); opacity: 0.06; }
@media print { body { padding: 0; font-size: 11px; } th, td { padding: 0.2rem 0.4rem; }
  .scroll { overflow: visible; } .tile { flex-basis: 5rem; padding: 0.4rem 0.6rem; }
  h2 { break-after: avoid; } figure, tr, .tiles { break-inside: avoid; } }
)";

}  // namespace gdnplan::load
