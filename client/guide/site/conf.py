"""Sphinx makes the site with MyST: build.py copies this file beside the pages."""
project = "epsledger"
author = "the authors of epsledger"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 4
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"description": "A budget that training on private data cannot overspend", "page_width": "1120px",
                      "sidebar_width": "260px", "fixed_sidebar": True}
html_show_sphinx = False
html_copy_source = False
html_static_path = []
# Titles may skip a level, and examples may leave out a part of their language.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
