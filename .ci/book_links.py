#!/usr/bin/env python3
"""Preprocessor of mdBook: a link from a page to a file outside of docs/ leads to the file in the repository."""
import json
import posixpath
import re
import sys

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    for chapter in chapters(book.get("items") or book.get("sections")):
        folder = posixpath.join("docs", posixpath.dirname(chapter["path"] or ""))

        def lead_out(link):
            target = posixpath.normpath(posixpath.join(folder, link[1]))
            if target.startswith("docs/"):
                return link[0]
            return f"]({repository}/blob/main/{target}{link[2] or ''})"

        chapter["content"] = LINK.sub(lead_out, chapter["content"])
    json.dump(book, sys.stdout)


main()
