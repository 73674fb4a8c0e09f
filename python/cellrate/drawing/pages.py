"""Pages that need no other file: in the dark too, on a narrow screen, and on paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def page(title: str, parts: Sequence[str], style: str = "") -> str:
    """Give a whole page.

    Parameters
    ----------
    title
        For the window, as text.
    parts
        The body, as HTML.
    style
        CSS beside that of all pages.

    Notes
    -----
    A table of the class `sortable` is sorted by the button in a head, up and down by turns: by `data-sort` of its cells
    where they have it, which are numbers, and by their texts. One of the class `stacked` has a card for each row on a
    narrow screen, in which each cell says `data-label`. The page is whole without its script.
    """
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{STYLE}{style}</style></head>\n<body>\n{chr(10).join(parts)}\n"
        f"{SORTING if any('sortable' in part for part in parts) else ''}</body></html>\n"
    )


STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #5a5a5a; --line: #dcdcdc; --ground: #ffffff; --share: #0072b2;
--queue: #c45500; --link: #0b5fa5; --near: #d9f0e3; --spread: #fdf0c9; --neither: #fbdcd0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #a8a8a8; --line: #3a3a3a; --ground: #16181b;
--share: #56b4e9; --queue: #f0a05a; --link: #7fc4f5; --near: #153b2a; --spread: #45390f; --neither: #4e2213; } }
@media print { :root { color-scheme: light; --ink: #000000; --soft: #444444; --line: #bbbbbb; --ground: #ffffff;
--share: #0072b2; --queue: #c45500; --link: #000000; --near: #d9f0e3; --spread: #fdf0c9; --neither: #fbdcd0; }
nav { display: none; } figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
* { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 1.5rem auto; padding: 0 1rem; color: var(--ink);
background: var(--ground); }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2.5rem; padding-top: 1rem;
border-top: 1px solid var(--line); } h3 { font-size: 1rem; margin-bottom: .4rem; }
nav a { display: inline-block; margin: 0 .9rem .3rem 0; } a { color: var(--link); }
.small { color: var(--soft); font-size: .8rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
thead th { color: var(--soft); font-weight: 600; }
details { margin: .8rem 0; } summary { cursor: pointer; color: var(--link); }
figure { margin: 0; min-width: 0; }
thead button { all: unset; cursor: pointer; } thead button:hover { color: var(--link); }
thead button:focus-visible { outline: 2px solid var(--link); }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
@media (max-width: 52rem) {
.stacked, .stacked tbody, .stacked tr, .stacked td, .stacked tbody th { display: block; width: auto; min-width: 0; }
.stacked thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.stacked.sortable thead { position: static; clip-path: none; display: block; width: auto; height: auto; }
.stacked.sortable thead tr { display: flex; flex-wrap: wrap; gap: 0 .9rem; border: 0; padding: 0; }
.stacked.sortable thead tr::before { content: "Sort by"; color: var(--soft); }
.stacked.sortable thead th { padding: 0; border: 0; font-weight: 400; color: var(--link); }
.stacked tr { border: 1px solid var(--line); border-radius: .4rem; margin-bottom: .6rem; padding: .4rem .6rem; }
.stacked td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0; }
.stacked td::before { content: attr(data-label); color: var(--soft); }
.stacked tbody th { border: 0; padding: .1rem 0 .3rem; font-size: .95rem; }
}
"""
"""Style of all pages."""

SORTING = """<script>
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const key = row => row.cells[column].dataset.sort ?? row.cells[column].textContent;
      // A cell without a figure stands at the end either way.
      const order = (a, b) => (a === "") - (b === "") || (down ? -1 : 1) *
        (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
      body.append(...[...body.rows].sort((a, b) => order(key(a), key(b))));
    });
  });
}
</script>
"""
"""Makes the heads of sortable tables buttons."""
