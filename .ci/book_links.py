#!/usr/bin/env python3
"""Links of the book. As a preprocessor of mdBook, it makes links to files outside of docs/ lead to the repository, and links
to a README lead to the index page that mdBook makes of it. `book_links.py check FOLDER` fails if a link of the built book
leads nowhere."""
import json
import os
import posixpath
import re
import sys

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
# Pages that repeat others.
COPIES = {"print.html", "toc.html", "404.html"}


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def preprocess():
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    for chapter in chapters(book["items"]):
        folder = posixpath.join("docs", posixpath.dirname(chapter["path"] or ""))

        def replace(link):
            target = posixpath.normpath(posixpath.join(folder, link[1]))
            anchor = link[2] or ""
            if not target.startswith("docs/"):
                return f"]({repository}/blob/main/{target}{anchor})"
            return f"]({re.sub(r'README[.]md$', 'index.md', link[1])}{anchor})"

        chapter["content"] = LINK.sub(replace, chapter["content"])
    json.dump(book, sys.stdout)


def check(root):
    anchors, links = {}, []
    for folder, _, files in os.walk(root):
        for name in files:
            if name.endswith(".html") and name not in COPIES:
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    page = file.read()
                anchors[path] = set(re.findall(r'id="([^"]*)"', page))
                main = page[page.find("<main"):page.find("</main>")]
                links += [(path, href) for href in re.findall(r'<a[^>]* href="([^"]*)"', main)]
    broken = []
    for path, href in links:
        if re.match(r"[a-z]+:", href):
            continue
        file, _, anchor = href.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if os.path.isdir(target):
            target = os.path.join(target, "index.html")
        if not os.path.exists(target) or anchor and anchor not in anchors.get(target, {anchor}):
            broken.append(f"{os.path.relpath(path, root)}: {href}")
    print(f"{len(links)} links of the book, {len(broken)} broken", *broken, sep="\n")
    return 1 if broken or len(links) < 500 else 0


if sys.argv[1:2] == ["check"]:
    sys.exit(check(sys.argv[2]))
# mdBook asks first if the preprocessor supports its renderer.
if sys.argv[1:2] != ["supports"]:
    preprocess()
