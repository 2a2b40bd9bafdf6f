"""The files of the page that learns in the browser: `bitreplay page` writes, `bitreplay serve` serves them.

static/       the page's own files: a link to page/ in a clone, the files in a wheel
js/           the JavaScript module with the core as WebAssembly: a link to js/ in a clone
contents.py   both, by the names that they have in the page
examples.py   photographs of fruit
folder.py     everything in one folder that any web server can serve
"""
