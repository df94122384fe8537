"""docs/guide/python.md as a notebook: notebook.py GUIDE OUTPUT. Blocks of Python become cells, the text around them too."""
import json
import pathlib
import re
import sys


def cells(text):
    for part in re.split(r"(^```python\n.*?^```\n)", text, flags=re.M | re.S):
        code = re.match(r"```python\n(.*)```\n", part, re.S)
        source = (code[1] if code else part).strip("\n")
        if source:
            cell = {"cell_type": "code" if code else "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}
            yield {**cell, "execution_count": None, "outputs": []} if code else cell


def notebook(text):
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": list(cells(text)), "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(notebook(pathlib.Path(sys.argv[1]).read_text()))
