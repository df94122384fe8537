"""report_check.py REPORT.html [PICTURES PLOTS]: the page parses, every tag closes, nothing outside it is referred to, and it has as many pictures and plots
at least."""
import base64, re, struct, sys
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "hr", "link", "input"}

class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.bad, self.images, self.rows = [], [], [], 0

    def handle_starttag(self, tag, attributes):
        if tag not in VOID: self.stack.append(tag)
        self.rows += tag == "tr"
        for name, value in attributes:
            if name in ("src", "href", "action", "data", "poster", "srcset") and not (value or "").startswith(("data:", "#")):
                self.bad.append(f"<{tag} {name}={value!r}>")
            if name.startswith("on"): self.bad.append(f"<{tag} {name}>")
            if tag == "img" and name == "src": self.images.append(value)
        if tag in ("script", "iframe", "object", "embed", "link", "base"): self.bad.append(f"<{tag}>")

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag: self.bad.append(f"</{tag}> without its start")

text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
if page.stack: page.bad.append(f"not closed: {page.stack}")
if re.search(r"url\(|@import|https?://", re.sub(r"data:[^\"]*", "", text)): page.bad.append("refers to something outside")
kinds = {"png": 0, "svg": 0}
for image in page.images:
    kind, data = image.split(",", 1)
    raw = base64.b64decode(data, validate=True)
    if "image/png" in kind:
        assert raw[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", raw[16:24])[0] > 100
        kinds["png"] += 1
    else:
        import xml.etree.ElementTree as tree
        tree.fromstring(raw)
        assert not re.search(rb'href="(?!#|data:)', raw)
        kinds["svg"] += 1
least = [int(n) for n in sys.argv[2:4]] or [2, 4]
if kinds["png"] < least[0] or kinds["svg"] < least[1]: page.bad.append(f"too few pictures: {kinds}")
if page.rows < 3: page.bad.append("no table")
print("; ".join(page.bad) or f"{kinds['png']} pictures, {kinds['svg']} plots")
sys.exit(bool(page.bad))
