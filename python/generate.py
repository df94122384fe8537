"""Public headers to cutis/_api.py: structs, enums and functions for ctypes, with the headers' own comments as docstrings.

generate.py HEADERS OUTPUT: HEADERS is include/. Every public function comes out, so a new one in C needs nothing here.
pycparser reads what the compiler's preprocessor leaves; comments are found by the lines that declarations stand on.
"""
import keyword
import pathlib
import re
import subprocess
import sys
import tempfile

from pycparser import CParser, c_ast

LIBRARIES = {"io": "cutis-io", "skeleton": "cutis-skeleton", "retarget": "cutis-skeleton", "rig": "cutis-skeleton", "render": "cutis-render"}
NUMBERS = {
    "float": "c_float", "double": "c_double", "int": "c_int", "_Bool": "c_bool", "bool": "c_bool", "char": "c_char", "size_t": "c_size_t",
    "uint8_t": "c_uint8", "uint16_t": "c_uint16", "uint32_t": "c_uint32", "uint64_t": "c_uint64", "int32_t": "c_int32", "int64_t": "c_int64",
}
# What ctypes gives back and takes: for type hints.
HINTS = {"c_float": "float", "c_double": "float", "c_bool": "bool", "c_char": "bytes", "c_char_p": "bytes | None", "None": "None", "c_void_p": "int | None"}
TYPEDEFS = "".join(f"typedef int {name};\n" for name in NUMBERS if name.endswith("_t")) + "typedef _Bool bool;\n"


def preprocess(headers):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            pathlib.Path(folder, name).touch()
        names = sorted(path.stem for path in headers.glob("cutis/*.h"))
        text = "".join(f"#include <cutis/{name}.h>\n" for name in names)
        # _WIN32: no attributes on declarations.
        command = ["cc", "-E", "-std=c99", "-nostdinc", "-D_WIN32", f"-I{folder}", f"-I{headers}", "-x", "c", "-"]
        return subprocess.run(command, input=TYPEDEFS + text, capture_output=True, text=True, check=True).stdout


class Comments:
    """The /// lines above a declaration, and those behind a field."""

    def __init__(self):
        self.files = {}

    def lines(self, coord):
        if coord.file not in self.files:
            self.files[coord.file] = pathlib.Path(coord.file).read_text().split("\n")
        return self.files[coord.file]

    def above(self, coord):
        lines, at, found = self.lines(coord), coord.line - 2, []
        while at >= 0 and lines[at].startswith("CUTIS_API"):
            at -= 1  # the name stood on a line of its own
        while at >= 0 and re.match(r"\s*///(?!<)", lines[at]):
            found.insert(0, re.sub(r"^\s*/// ?", "", lines[at]))
            at -= 1
        return " ".join(" ".join(found).split())

    def behind(self, coord):
        lines, at = self.lines(coord), coord.line - 1
        while at < len(lines) and ";" not in lines[at]:
            at += 1
        found = re.findall(r"///< ?(.*)", lines[at]) if at < len(lines) else []
        while found and at + 1 < len(lines) and re.match(r"\s*///<", lines[at + 1]):
            at += 1
            found.append(re.sub(r"^\s*///< ?", "", lines[at]))
        return " ".join(" ".join(found).split())


class Generator:
    def __init__(self, tree):
        self.comments = Comments()
        self.enums, self.structs, self.opaque, self.callbacks, self.functions = {}, {}, set(), {}, {}
        self.order = []
        for each in tree.ext:
            if each.coord and "cutis/" in str(each.coord.file):
                self.declare(each)

    def declare(self, each):
        if isinstance(each, c_ast.Typedef):
            kind = each.type.type if isinstance(each.type, c_ast.TypeDecl) else each.type
            if isinstance(kind, c_ast.Enum):
                self.enum(each.name, kind, each.coord)
            elif isinstance(kind, c_ast.Struct):
                self.struct(each.name, kind, each.coord)
            elif isinstance(kind, c_ast.PtrDecl):
                self.callbacks[each.name] = self.callback(kind.type)
                self.order.append(("callback", each.name))
        elif isinstance(each, c_ast.Decl) and isinstance(each.type, c_ast.Enum):
            self.enum(None, each.type, each.coord)
        elif isinstance(each, c_ast.Decl) and isinstance(each.type, c_ast.FuncDecl):
            self.function(each)

    def enum(self, name, kind, coord):
        values, last = {}, -1
        for each in kind.values.enumerators:
            last = int(each.value.value, 0) if each.value else last + 1
            values[each.name] = last
        self.enums[name or f"cutis_{next(iter(values)).split('_')[1].lower()}"] = (values, self.comments.above(kind.coord or coord))

    def struct(self, name, kind, coord):
        if kind.decls is None:
            self.opaque.add(name)
            return
        fields = []
        for each in kind.decls:
            if isinstance(each.type, c_ast.TypeDecl) and isinstance(each.type.type, c_ast.Struct):
                inner = f"{name}_{each.name}"
                self.struct(inner, each.type.type, each.coord)
                fields.append((each.name, inner, ""))
            else:
                fields.append((each.name, self.type(each.type), self.comments.behind(each.coord)))
        self.opaque.discard(name)
        self.structs[name] = (fields, self.comments.above(kind.coord or coord))
        self.order.append(("struct", name))

    def type(self, kind):
        """The ctypes name of a C type."""
        if isinstance(kind, c_ast.ArrayDecl):
            return f"{self.type(kind.type)} * {self.length(kind.dim)}"
        if isinstance(kind, c_ast.PtrDecl):
            return self.pointer(kind.type)
        if isinstance(kind, (c_ast.TypeDecl, c_ast.Typename)):
            return self.type(kind.type)
        if isinstance(kind, c_ast.Struct):
            return kind.name
        if isinstance(kind, c_ast.Enum):
            return "c_int"
        name = kind.names[-1]
        return "None" if name == "void" else NUMBERS.get(name, "c_int" if name in self.enums else name)

    def pointer(self, target):
        if isinstance(target, c_ast.FuncDecl):
            return self.callback(target)
        inner = self.type(target)
        if inner == "c_char":
            return "c_char_p"
        return "c_void_p" if inner in ("None", "c_void_p") or inner in self.opaque else f"POINTER({inner})"

    def length(self, dim):
        """A constant, or a product or sum of such."""
        if isinstance(dim, c_ast.BinaryOp):
            return f"({self.length(dim.left)} {dim.op} {self.length(dim.right)})"
        return dim.value

    def parameters(self, kind):
        names = []
        for each in kind.args.params if kind.args else []:
            what = self.type(each.type)
            if what.find(" * ") > 0:  # arrays are pointers there
                what = f"POINTER({what.split(' * ')[0]})"
            if what != "None":
                names.append((each.name, what))
        return names

    def callback(self, kind):
        return f"CFUNCTYPE({', '.join([self.type(kind.type)] + [what for _, what in self.parameters(kind)])})"

    def function(self, each):
        result = self.type(each.type.type)
        coord = each.type.type.coord
        self.functions[each.name] = (result, self.parameters(each.type), self.comments.above(coord), pathlib.Path(coord.file).stem)
        names = each.type.type
        while isinstance(names, c_ast.PtrDecl):
            names = names.type
        if isinstance(names.type, c_ast.IdentifierType) and names.type.names == ["cutis_result"]:
            self.functions[each.name] = ("cutis_result", *self.functions[each.name][1:])

    def write(self):
        out = ['"""The C interface, from the public headers (python/generate.py): do not edit."""', "from __future__ import annotations", "",
               "from ctypes import *  # noqa: F403", "from typing import Any", ""]
        for name, (values, text) in self.enums.items():
            out += [f"{name} = {values!r}", *([f"# {text}"] if text else [])]
        for kind, name in self.order:
            out += [f"{name} = {self.callbacks[name]}"] if kind == "callback" else self.write_struct(name)
        for name, (fields, _) in self.structs.items():  # afterwards: some point at one another
            out.append(f"{name}._fields_ = [" + ", ".join(f'("{field}", {kind})' for field, kind, _ in fields) + "]")
        out += ["", "#: name: (library, result, [(parameter, type)], docstring)", "FUNCTIONS: dict[str, tuple[str, Any, list[tuple[str, Any]], str]] = {"]
        for name, (result, parameters, text, header) in self.functions.items():
            pairs = ", ".join(f'("{p}", {t})' for p, t in parameters)
            shown = '"cutis_result"' if result == "cutis_result" else result
            out.append(f'    "{name}": ("{LIBRARIES.get(header, "cutis")}", {shown}, [{pairs}], {text!r}),')
        out += ["}", ""]
        enums = {f"{struct}.{field}": enum for struct, field, enum in self.enum_fields}
        out += ["#: which enum a field is of", f"ENUM_FIELDS = {enums!r}", "", "STRUCTS: dict[str, Any] = {" + ", ".join(f'"{n}": {n}' for k, n in self.order if k == "struct") + "}", ""]
        return "\n".join(out)

    def write_struct(self, name):
        fields, text = self.structs[name]
        out = [f"class {name}(Structure):"]
        if text:
            out.append(f"    {text!r}")
        out += [f"    {field}: Any" + (f"  # {about}" if about else "") for field, _, about in fields if not keyword.iskeyword(field)]
        return out


def enum_fields(generator, tree):
    """(struct, field, enum) of every field whose C type is an enum."""
    found = []
    for each in tree.ext:
        kind = getattr(getattr(each, "type", None), "type", None)
        if isinstance(each, c_ast.Typedef) and isinstance(kind, c_ast.Struct) and kind.decls:
            for field in kind.decls:
                names = getattr(getattr(field.type, "type", None), "names", [])
                if names and names[-1] in generator.enums:
                    found.append((each.name, field.name, names[-1]))
    return found


def main():
    headers, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tree = CParser().parse(preprocess(headers))
    generator = Generator(tree)
    generator.enum_fields = enum_fields(generator, tree)
    output.write_text(generator.write())


if __name__ == "__main__":
    main()
