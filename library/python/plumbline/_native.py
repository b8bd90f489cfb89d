"""plumbline.h by ctypes: the library, its structures, errors, texts, and long calls."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import pathlib
import queue
import shutil
import tempfile
import threading
import weakref
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, Callable, Iterable, List, Mapping, Optional, Tuple, Union

Path = Union[str, "os.PathLike[str]"]


def _open_library() -> ctypes.CDLL:
    """$PLUMBLINE_LIBRARY, or the wheel's own, or that of the same PREFIX (this is then in
    PREFIX/share/plumbline/python/plumbline), or where the system finds libraries."""
    here, name = pathlib.Path(__file__).resolve().parent, "libplumbline.so.0"
    named = os.environ.get("PLUMBLINE_LIBRARY", "")
    for folder in (here / "lib", here / "../../../../lib"):
        if not named and (folder / name).exists():
            named = str(folder / name)
    try:
        return ctypes.CDLL(named or name)
    except OSError as wrong:
        raise ImportError(
            f"{wrong}: PLUMBLINE_LIBRARY=PREFIX/lib/libplumbline.so.0 says where it is"
        ) from None


library = _open_library()


class Error(Exception):
    """What went wrong, in one line; .status as in plumbline.h."""

    status = 0


class BadInput(Error, ValueError):
    """A document, a path or an argument: the line names it and says what was expected."""

    status = 1


class Unavailable(Error):
    """The machine lacks something that was requested."""

    status = 2


class Failure(Error):
    """Memory, processes, the operating system."""

    status = 3


class SolverError(Error):
    """The search failed: the judge rejects what it found."""

    status = 4


_ERRORS = {kind.status: kind for kind in (BadInput, Unavailable, Failure, SolverError)}


class _ErrorText(ctypes.Structure):
    _fields_ = [("status", c_int), ("text", ctypes.c_char * 1024)]


class _Progress(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seconds", c_double),
        ("best_s", c_double),
        ("bound_s", c_double),
        ("text", c_char_p),
    ]


_TELL = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Progress))


class Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("time_limit_s", c_double),
        ("gap", c_double),
        ("processes", c_int),
        ("seed", c_int64),
        ("stop", POINTER(c_int)),
        ("progress", _TELL),
        ("argument", c_void_p),
    ]


class PlanFacts(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("outcome", c_int),
        ("iteration_s", c_double),
        ("bound_s", c_double),
        ("gap", c_double),
        ("stages", c_int),
        ("micro_batches", c_int),
        ("tensor", c_int),
        ("context", c_int),
        ("pipeline", c_int),
        ("data", c_int),
    ]


library.plumbline_version.restype = c_char_p
library.plumbline_free.argtypes = [c_void_p]
library.plumbline_free.restype = None
library.plumbline_problem_close.argtypes = [c_void_p]
library.plumbline_problem_close.restype = None
library.plumbline_plan_close.argtypes = [c_void_p]
library.plumbline_plan_close.restype = None


def version() -> str:
    """The library's version."""
    return bytes(library.plumbline_version()).decode()


def call(name: str, *arguments: Any) -> None:
    """Calls plumbline_NAME; a status other than OK is raised."""
    error = _ErrorText()
    if getattr(library, "plumbline_" + name)(*arguments, byref(error)):
        raise _ERRORS.get(error.status, Error)(error.text.decode(errors="replace"))


def take(text: c_void_p) -> str:
    """The library's text as a str."""
    if not text:
        return ""
    try:
        return ctypes.string_at(text).decode(errors="replace")
    finally:
        library.plumbline_free(text)


class Folder:
    """A temporary folder, as long as something refers to it."""

    def __init__(self) -> None:
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="plumbline-"))
        weakref.finalize(self, shutil.rmtree, str(self.path), True)


def encoded(path: Optional[Path]) -> Optional[bytes]:
    return None if path is None else os.fsencode(path)


# ---- words of a command


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_value(item)}" for key, item in value.items())
    if isinstance(value, bool):
        return str(int(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def words(operands: Iterable[Any], options: Mapping[str, Any]) -> List[str]:
    """{"global_batch": 64, "force": True, "without": ["offload", "zero-3"]} as a command's words:
    None and False are left out, True is an option alone, a list repeats it, a mapping is
    a=1,b=2."""
    said = [_value(operand) for operand in operands]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is None or item is False:
                continue
            said += [option] if item is True else [option, _value(item)]
    return said


def word_array(said: Iterable[str]) -> Any:
    items = [os.fsencode(word) for word in said]
    return (c_char_p * (len(items) + 1))(*items, None)


# ---- long calls


@dataclasses.dataclass(frozen=True)
class Progress:
    """What is known on the way: of a search its best plan and bound (0: none yet); `text` as a
    line."""

    seconds: float
    best_s: float
    bound_s: float
    text: str

    def __str__(self) -> str:
        return self.text


ProgressCallback = Callable[[Progress], Optional[bool]]


SECONDS_UNSEEN = 0.2  # a waiting thread sees no interruption that another thread or signal raised


def long_call(
    work: Callable[["ctypes._Pointer[c_int]", Any], None],
    progress: Optional[ProgressCallback],
) -> bool:
    """Runs work(stop, tell) in a thread, so that this one gets signals at once, and calls progress
    here; whether it was interrupted. The first interruption sets *stop to 1, the second to 2 and
    raises KeyboardInterrupt when the work has ended; progress returning True sets it to 1."""
    stop = c_int(0)
    told: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
    failed: List[BaseException] = []

    def tell(_: Any, at: Any) -> None:
        now = at.contents
        text = (now.text or b"").decode(errors="replace")
        told.put(Progress(now.seconds, now.best_s, now.bound_s, text))

    def run() -> None:
        try:
            work(ctypes.pointer(stop), _TELL(tell))
        except BaseException as error:
            failed.append(error)
        told.put(None)

    thread = threading.Thread(target=run, name="plumbline", daemon=True)
    thread.start()
    broken: List[BaseException] = []

    def listen() -> None:  # until the work has ended
        while True:
            try:
                now = told.get(timeout=SECONDS_UNSEEN)
            except queue.Empty:
                if not thread.is_alive():
                    return
                continue
            if now is None:
                return
            try:
                if progress and not broken and progress(now):
                    stop.value = max(stop.value, 1)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # raised when the work has ended
                broken.append(error)
                stop.value = max(stop.value, 1)

    interruptions, listening = 0, True
    while listening:
        try:  # a signal is raised at any line of what it interrupts
            listen()
            listening = False
        except KeyboardInterrupt:
            interruptions += 1
            stop.value = min(interruptions, 2)
    thread.join()
    if broken:
        raise broken[0]
    if failed:
        raise failed[0]
    if interruptions > 1:
        raise KeyboardInterrupt
    return interruptions > 0


def options(
    stop: "ctypes._Pointer[c_int]",
    tell: Any,
    gap: float = 0.0,
    time_limit_s: float = 0.0,
    processes: int = 0,
    seed: int = 0,
) -> Options:
    return Options(
        ctypes.sizeof(Options), time_limit_s, gap, processes, seed, stop, tell, None
    )


def two_texts(name: str, *arguments: Any) -> Tuple[str, str]:
    """Of a function whose last arguments are two texts."""
    first, second = c_void_p(), c_void_p()
    call(name, *arguments, byref(first), byref(second))
    return take(first), take(second)
