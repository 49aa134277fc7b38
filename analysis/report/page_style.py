"""How the page looks: in light and dark, on a phone and on paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2327; --soft: #5b656d; --line: #dfe3e6;
  --shade: #f5f7f8; --link: #0b5394; --holds: #009e73; --fails: #d55e00; --open: #9aa3aa; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #15191c; --ink: #dfe4e8; --soft: #a3adb5; --line: #343b41; --shade: #1e2428; --link: #7db8ec;
    --holds: #2bbf94; --fails: #f07b2b; --open: #78828a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem 1rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0 0 .4rem; }
p, figcaption, dd { max-width: 46rem; }
.findings { margin: .6rem 0 .8rem; padding-left: 1.2rem; } .findings li { max-width: 46rem; margin: .25rem 0; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
nav + section h2 { margin-top: 1rem; }
a { color: var(--link); }
dt { font-weight: 600; } dd { margin: 0 0 .6rem; }
figure { margin: 1rem 0 2.2rem; } figure img { display: block; width: 100%; height: auto; }
figcaption, .note, summary, .scale { color: var(--soft); font-size: .92rem; }
.scroll { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 0; font-size: .86rem; font-variant-numeric: tabular-nums;
  margin-top: .6rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
td { white-space: nowrap; }
thead th { background: var(--shade); vertical-align: bottom; min-width: 5em; font-weight: 600; }
thead th:first-child, tbody th { text-align: left; position: sticky; left: 0; }
tbody th { background: var(--paper); font-weight: 400; }
th small { display: block; color: var(--soft); font-size: .85em; font-weight: 400; }
tr.published td, tr.published th { color: var(--soft); font-style: italic; }
.claim { border-left: .3rem solid var(--open); padding: .15rem 0 .15rem .8rem; margin: .7rem 0; }
.claim p { margin: .1rem 0; } .claim .note { margin: 0; }
.verdict { font-weight: 600; } .holds { border-color: var(--holds); } .does-not-hold { border-color: var(--fails); }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
li, code { overflow-wrap: anywhere; } details { margin: .4rem 0; }
@media (max-width: 40rem) {
  body { padding: .8rem .7rem 3rem; } h1 { font-size: 1.3rem; }
  table { font-size: .8rem; } th, td { padding: .25rem .4rem; } thead th { min-width: 4.2em; }
  tbody th, thead th:first-child { min-width: 7rem; max-width: 8.2rem; }
  caption { position: sticky; left: 0; max-width: calc(100vw - 1.6rem); }
}
@media print {
  :root { color-scheme: light; font-size: 9.5pt; }
  @page { margin: 12mm; }
  body { max-width: none; padding: 0; } nav, details { display: none; }
  .scroll { overflow: visible; } figure img { min-width: 0 !important; }
  table { font-size: 7pt; } th, td { padding: 1pt 2pt; } td { white-space: normal; }
  thead th { min-width: 0; overflow-wrap: anywhere; } thead th:first-child, tbody th { position: static; }
  thead { display: table-header-group; } tr, .claim, .drawing { break-inside: avoid; }
  h2, h3, dt { break-after: avoid; }
  pre { white-space: pre-wrap; }
}
"""

_DARK = {
    "#ffffff": "#15191c",
    "#222222": "#dfe4e8",
    "#e3e3e3": "#343b41",
    "#0072b2": "#4aa8e0",
    "#009e73": "#2bbf94",
    "#d55e00": "#f07b2b",
    "#882255": "#d2679f",
    "#8a8a00": "#b5b53c",
    "#7f7f7f": "#a0a8ae",
    "#5b3a8c": "#a98be0",
}
"""Colours of the figures' style that are too dark, or too light, on dark paper."""

FIGURE_STYLE = "@media screen and (prefers-color-scheme: dark) {{ {} }}".format(
    " ".join(
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
)
"""Put into each SVG on the page, for the page's own style does not reach into an image."""
