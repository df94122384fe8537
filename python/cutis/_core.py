"""Libraries, errors, memory and progress: what the rest of the package stands on.

Nothing of C is owned twice: a Handle destroys its object once, when nothing refers to it any more, and arrays that lie in C's
memory refer to the Handle of the object they lie in. So closing a model with views of it alive is safe.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _api

Array = npt.NDArray[Any]
#: told (stage, fraction); False stops the call
Progress = Callable[[str, float], Any]

_RESULTS = {number: name.removeprefix("CUTIS_") for name, number in _api.cutis_result.items()}


class Error(RuntimeError):
    """A call that failed: str() is one line that says what, where and why; `code` is the result's name ("CORRUPT_DATA")."""

    def __init__(self, number: int, text: str):
        super().__init__(text)
        self.number = number
        self.code = _RESULTS.get(number, "UNKNOWN")


class Cancelled(Error):
    """A progress function returned False."""


# Libraries ---------------------------------------------------------------------------------------

_HERE = pathlib.Path(__file__).resolve().parent


def _folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("CUTIS_LIBRARY_PATH") or _HERE / "lib")


def _open(library: str) -> ctypes.CDLL:
    folder, version = _folder(), ".".join(_VERSION.split(".")[:2])
    if library == "cutis-render":
        needed = "libegl1, libgles2, libegl-mesa0, libgl1-mesa-dri, libcairo2, libepoxy0, fonts-dejavu-core"
    else:
        needed = ""
        for bundled in sorted(folder.glob("foreign/*.so*")):  # found by their names once they are loaded
            ctypes.CDLL(str(bundled), mode=ctypes.RTLD_GLOBAL)
    try:
        # Without libraries of its own the package is a distribution's, and so are they.
        name = f"lib{library}.so.{version}"
        return ctypes.CDLL(str(folder / name) if folder.is_dir() or os.environ.get("CUTIS_LIBRARY_PATH") else name, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        hint = f"; it needs Debian's packages {needed}" if needed else ""
        raise ImportError(f"the library {library} cannot be loaded: {error}{hint}") from error


class _C:
    """Every function of the public headers as an attribute. A result other than CUTIS_OK is raised as an Error."""

    def __init__(self) -> None:
        self._libraries: dict[str, ctypes.CDLL] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in _api.FUNCTIONS:
            raise AttributeError(f"the headers have no function {name}")
        library, result, parameters, text = _api.FUNCTIONS[name]
        for needed in ("cutis", library):
            if needed not in self._libraries:
                self._libraries[needed] = _open(needed)
        function = self._libraries[library][name]
        function.argtypes = [kind for _, kind in parameters]
        function.restype = ctypes.c_int if result == "cutis_result" else result
        if result == "cutis_result":
            function.errcheck = _check  # type: ignore[assignment]
        function.__doc__ = text
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return list(_api.FUNCTIONS)


_VERSION = (_HERE / "VERSION").read_text().strip()
c = _C()


# Progress, Ctrl-C, errors ------------------------------------------------------------------------

class _Thread(threading.local):
    progress: Progress | None = None
    raised: BaseException | None = None
    stopped = False
    interrupted = False


_thread = _Thread()


def _on_progress(_user: int, stage: bytes, fraction: float) -> bool:
    try:
        if _thread.progress is not None and _thread.progress(stage.decode(), fraction) is False:
            _thread.stopped = True
        return not (_thread.stopped or _thread.interrupted)
    except BaseException as error:
        _thread.raised = error
        return False


def _check(number: int, _function: Any, _arguments: Any) -> None:
    raised, stopped = _thread.raised, _thread.stopped
    _thread.raised, _thread.stopped = None, False
    if raised is not None:
        raise raised
    if number == 0:
        return
    text = c.cutis_context_error(context()) or c.cutis_result_text(number)
    if number == _api.cutis_result["CUTIS_CANCELLED"]:
        if not stopped:
            raise KeyboardInterrupt
        raise Cancelled(number, text.decode(errors="replace"))
    raise Error(number, text.decode(errors="replace"))


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C stops a long call where it tells its progress. Python's own way would raise inside that callback, from where nothing gets out."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(*_: Any) -> None:
        _thread.interrupted = True
    signal.signal(signal.SIGINT, note)
    try:
        yield
        if _thread.interrupted:
            raise KeyboardInterrupt
    finally:
        _thread.interrupted = False
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress(tell: Progress | bool | None = True) -> Iterator[None]:
    """Long calls of this thread tell how far they are: with progress(print): ...; True: a bar of tqdm, where it is there."""
    before, close = _thread.progress, None
    if tell is True:
        tell, close = _bar()
    _thread.progress = tell or None
    try:
        yield
    finally:
        _thread.progress = before
        if close:
            close()


def _bar() -> tuple[Progress | None, Callable[[], None] | None]:
    try:
        from tqdm.auto import tqdm  # type: ignore
    except ImportError:
        return None, None
    bar = tqdm(total=100, unit="%", leave=False)

    def tell(stage: str, fraction: float) -> None:
        bar.set_description(stage, refresh=False)
        bar.n = round(100 * fraction)
        bar.refresh()
    return tell, bar.close


_callbacks = (_api.cutis_progress_function(_on_progress),)
_context: ctypes.c_void_p | None = None
_lock = threading.Lock()


def context() -> ctypes.c_void_p:
    """The one context of the process; it is never destroyed, because objects may live until the end."""
    global _context
    with _lock:
        if _context is None:
            out, options = ctypes.c_void_p(), _api.cutis_context_options(progress=_callbacks[0])
            number = c._libraries.setdefault("cutis", _open("cutis")).cutis_context_create(ctypes.byref(options), ctypes.byref(out))
            if number != 0:
                raise Error(number, "no context could be made")
            _context = out
    return _context


# Memory ------------------------------------------------------------------------------------------

class Handle:
    """A C object, destroyed when nothing refers to it and no Handle that `needs` it is left. The second is counted here: what dies together, in
    a cycle or as the interpreter ends, is told so in any order."""

    __slots__ = ("pointer", "_destroy", "_needs", "_users", "_gone", "__weakref__")

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        """A Handle is what calls are given: it lives until they are over, whoever closes it meanwhile."""
        return self.pointer

    def __init__(self, pointer: ctypes.c_void_p, destroy: Callable[[ctypes.c_void_p], Any], *needs: Handle):
        self.pointer, self._destroy, self._needs, self._users, self._gone = pointer, destroy, needs, 0, False
        for each in needs:
            each._users += 1

    def __del__(self) -> None:
        self._gone = True
        self._release()

    def _release(self) -> None:
        if not self._gone or self._users or not self.pointer:
            return
        self._destroy(self.pointer)
        self.pointer.value = None
        for each in self._needs:
            each._users -= 1
            each._release()


class Owner:
    """Base of what owns a Handle: close(), `with`, and an error in place of a crash after it."""

    _handle: Handle | None = None

    @property
    def handle(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return handle

    @property
    def pointer(self) -> Handle:
        """What C functions take for it."""
        return self.handle

    def close(self) -> None:
        """Let it go. Its memory is freed when the last array that lies in it is gone too."""
        self._handle = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class _Memory:
    def __init__(self, address: int, shape: tuple[int, ...], dtype: Any, owner: Any):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": np.dtype(dtype).str}


def view(pointer: Any, shape: tuple[int, ...], dtype: Any, owner: Any) -> Array | None:
    """A read-only array over C's memory that keeps its owner alive; None for NULL."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if not address:
        return None
    return np.asarray(_Memory(address, shape, dtype, owner)) if np.prod(shape) else np.empty(shape, dtype)


def array(value: Any, dtype: Any, shape: tuple[int | None, ...], name: str) -> Array:
    """`value` as a C array of that type, copied only if it must be; its shape is checked (None: any length) and floats are finite."""
    given = np.asarray(value)
    if given.dtype.kind not in "biuf" or (np.issubdtype(dtype, np.integer) and given.dtype.kind not in "biu" and given.size):
        raise TypeError(f"{name}: {np.dtype(dtype)} is wanted, this is {given.dtype}")
    if np.issubdtype(dtype, np.integer) and given.size and (given.min() < np.iinfo(dtype).min or given.max() > np.iinfo(dtype).max):
        raise ValueError(f"{name}: a number is out of the range of {np.dtype(dtype)}")
    out = np.ascontiguousarray(given, dtype)
    if out.ndim != len(shape) or any(want is not None and want != have for want, have in zip(shape, out.shape)):
        wanted = ", ".join("n" if n is None else str(n) for n in shape)
        raise ValueError(f"{name}: the shape ({wanted}) is wanted, this is {tuple(given.shape)}")
    if np.issubdtype(out.dtype, np.floating) and not np.isfinite(out).all():
        raise ValueError(f"{name}: a number is not finite")
    return out


def address(values: Array) -> int:
    return int(values.ctypes.data)


def text(pointer: bytes | None) -> str | None:
    return None if pointer is None else pointer.decode(errors="replace")
