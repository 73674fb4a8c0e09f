"""How `make docs` makes a site of the project's pages: Sphinx, with the repository as its source.

Pages are plain Markdown, which reads as well where the repository is browsed. What a site needs besides, the order of
its pages and the reference of the Python API, is here.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import cellrate

project = "cellrate"
author = "The cellrate authors"
copyright = "the cellrate authors"
version = release = cellrate.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "requirements/README.md",
    "docs/*.md",
    "docs/algorithms/*.md",
    "docs/guides/*.md",
    "docs/route/*.md",
    "docs/scenarios/*.md",
    "docs/notebooks/*.ipynb",
    "docs/site/python.rst",
    "examples/README.md",
    "examples/*/README.md",
    "papers/*/README.md",
    "benches/peers/README.md",
]
root_doc = "README"
PAGES = {
    "The route": [
        "docs/route/README",
        *sorted(f"docs/route/{page.stem}" for page in (Path(__file__).parents[2] / "docs/route").glob("[1-9]-*.md")),
    ],
    "Begin": [
        "docs/guides/README",
        "docs/gallery",
        "docs/guides/python",
        "docs/guides/from-other-simulators",
        "docs/guides/lab",
        "docs/guides/teaching",
        "docs/guides/advisor",
        "docs/guides/watching",
    ],
    "Lessons": [f"docs/notebooks/{name}" for name in ("abr-in-an-hour", "the-control-loop", "tcp-over-abr-and-ubr")],
    "Reference": ["docs/commands", "docs/scenarios", "docs/results", "docs/site/python", "docs/glossary", "CHANGELOG"],
    "Protocol and models": [
        "docs/rules",
        "docs/pairs",
        "docs/algorithms/README",
        *sorted(
            f"docs/algorithms/{page.stem}"
            for page in (Path(__file__).parents[2] / "docs/algorithms").glob("*.md")
            if page.stem != "README"
        ),
        "docs/transport",
    ],
    "Your own": [
        "docs/guides/algorithms",
        "docs/guides/sources",
        "examples/README",
        *[f"examples/{name}/README" for name in ("own-algorithm", "own-paper", "own-traffic", "told-rate")],
    ],
    "Studies": [
        "docs/guides/campaigns",
        "docs/guides/tuning",
        "docs/guides/arena",
        "docs/notebooks/rif-and-rdf-over-efci",
    ],
    "Networks and traffic": [
        "docs/guides/topologies",
        "docs/guides/changing-links",
        "docs/guides/flows",
        "docs/guides/trees",
        "docs/guides/mpeg2",
        "docs/notebooks/a-leo-pass-under-erica",
        "docs/guides/long-range-dependence",
        "docs/guides/phase-effects",
    ],
    "Cells and hosts": ["docs/guides/captures", "docs/guides/testbed", "docs/testbed", "docs/guides/scone"],
    "Papers": [
        "docs/guides/judging",
        *[
            f"papers/{name}/README"
            for name in (
                "abr-parameters",
                "internet-applications",
                "rcp",
                "scone",
                "stop-and-go",
                "tcp-lrd-vbr",
                "uili",
            )
        ],
    ],
    "How it is made": [
        "CONTRIBUTING",
        "SECURITY",
        "docs/stability",
        "docs/architecture",
        "docs/performance",
        "docs/performance-log",
        "docs/performance-peers",
        "benches/peers/README",
        "docs/profile-w1",
        "docs/profile-w4",
        "docs/profile-a12",
        "docs/profile-a16",
        "docs/dependencies",
        "requirements/README",
    ],
}
"""The pages of the site in the order of its menu; Sphinx warns of one that is missing here or there."""

TABLES = "docs/scenarios"
"""The index of the tables of a scenario file; their pages lie in the folder of the same name."""

exclude_patterns = ["results", "target", ".venv"]
nb_execution_mode = "off"
"""Notebooks are shown with the outputs that they have; the tests run them."""
myst_heading_anchors = 4

default_role = "py:obj"
"""A name in backquotes in a docstring leads to its entry."""
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "cellrate"
html_copy_source = False
html_show_sphinx = False


def add_menu(_: Sphinx, name: str, source: list[str]) -> None:
    """Put the menu behind the first page, where Sphinx looks for it, and tables of scenarios below their index."""
    if name == TABLES:
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\nscenarios/*\n```\n"
    if name != root_doc:
        return
    for caption, pages in PAGES.items():
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


def add_index(app: Sphinx, _: Exception | None) -> None:
    """Have the folder's address lead to the first page."""
    page = f'<!doctype html><title>cellrate</title><meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
    (Path(app.outdir) / "index.html").write_text(page)


def setup(app: Sphinx) -> None:
    """Have Sphinx call the above."""
    app.connect("source-read", add_menu)
    app.connect("build-finished", add_index)
