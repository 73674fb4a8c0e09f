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
    """
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{STYLE}{style}</style></head>\n<body>\n{chr(10).join(parts)}\n</body></html>\n"
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
"""
"""Style of all pages."""
