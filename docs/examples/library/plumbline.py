"""libplumbline from Python: a thin layer over plumbline.h by ctypes, nothing to be installed.

    import plumbline
    with plumbline.Problem("problem.json") as problem:
        plan = problem.solve(gap=0.01, progress=print)
        print(plan.facts().iteration_s, plan.verify())

The library is looked for in $PLUMBLINE_LIBRARY, then where the system finds libraries.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p

try:
    _library = ctypes.CDLL(os.environ.get("PLUMBLINE_LIBRARY", "libplumbline.so.0"))
except OSError as wrong:
    raise ImportError(
        f"{wrong}: PLUMBLINE_LIBRARY=PREFIX/lib/libplumbline.so.0 says where it is"
    ) from None


class Error(Exception):
    """What a function of the library says went wrong; .status as in plumbline.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class _ErrorText(ctypes.Structure):
    _fields_ = [("status", c_int), ("text", ctypes.c_char * 1024)]


class Progress(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seconds", c_double),
        ("best_s", c_double),
        ("bound_s", c_double),
        ("_text", c_char_p),
    ]

    @property
    def text(self):
        return self._text.decode()

    def __str__(self):
        return self.text


_TELL = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Progress))


class _Options(ctypes.Structure):
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


class Facts(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("_outcome", c_int),
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

    @property
    def outcome(self):
        return ("optimal", "open", "infeasible", "no_plan")[self._outcome]


_library.plumbline_version.restype = c_char_p
_library.plumbline_free.argtypes = [c_void_p]
_library.plumbline_problem_close.argtypes = [c_void_p]
_library.plumbline_plan_close.argtypes = [c_void_p]


def _call(function, *arguments):
    error = _ErrorText()
    if function(*arguments, byref(error)):
        raise Error(error.status, error.text.decode())


def _path(path):
    return None if path is None else os.fsencode(path)


def _take(text):
    """The library's text as a str."""
    try:
        return ctypes.string_at(text).decode()
    finally:
        _library.plumbline_free(text)


def version():
    return _library.plumbline_version().decode()


class _Object:
    _close = None

    def close(self):
        if self._at:
            type(self)._close(self._at)
        self._at = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):
        if getattr(self, "_at", None):
            self.close()


class Problem(_Object):
    """Problem("problem.json"), or Problem(model=, cluster=, costs=, job=): shipped names or
    files."""

    _close = _library.plumbline_problem_close

    def __init__(self, path=None, *, model=None, cluster=None, costs=None, job=None):
        self._at = c_void_p()
        if path is not None:
            _call(_library.plumbline_problem_open, byref(self._at), _path(path))
        else:
            _call(
                _library.plumbline_problem_compose,
                byref(self._at),
                _path(model),
                _path(cluster),
                _path(costs),
                _path(job),
            )

    def save(self, path):
        _call(_library.plumbline_problem_save, self._at, _path(path))

    def solve(self, *, gap=0.0, time_limit_s=0.0, processes=0, seed=0, progress=None):
        """The plan. progress: called with a Progress now and then; returning True stops the
        search."""
        stop, broken = c_int(0), []

        def tell(_, told):
            try:
                if progress and progress(told.contents):
                    stop.value = 1
            except BaseException as error:  # it cannot pass through C
                stop.value = 1
                broken.append(error)

        options = _Options(
            ctypes.sizeof(_Options),
            time_limit_s,
            gap,
            processes,
            seed,
            ctypes.pointer(stop),
            _TELL(tell),
            None,
        )
        plan = Plan.__new__(Plan)
        plan._at = c_void_p()
        _call(_library.plumbline_solve, byref(plan._at), self._at, byref(options))
        if broken:
            raise broken[0]
        return plan


class Plan(_Object):
    _close = _library.plumbline_plan_close

    def __init__(self, path):
        self._at = c_void_p()
        _call(_library.plumbline_plan_open, byref(self._at), _path(path))

    def save(self, path):
        _call(_library.plumbline_plan_save, self._at, _path(path))

    def facts(self):
        facts = Facts(ctypes.sizeof(Facts))
        _call(_library.plumbline_plan_facts, self._at, byref(facts))
        return facts

    def verify(self, problem=None, certificate=None):
        """(accepted, what the judge says)"""
        accepted, text = c_int(0), c_void_p()
        _call(
            _library.plumbline_verify,
            self._at,
            _path(problem),
            _path(certificate),
            byref(accepted),
            byref(text),
        )
        return bool(accepted.value), _take(text)

    def report(self, form="text"):
        """form: "text", "json" or "html"."""
        text = c_void_p()
        _call(
            _library.plumbline_report,
            self._at,
            ("text", "json", "html").index(form),
            byref(text),
            None,
        )
        return _take(text)


def check(certificate, against=None):
    """(proven, what the checker says)"""
    proven, text = c_int(0), c_void_p()
    _call(_library.plumbline_check, _path(certificate), _path(against), byref(proven), byref(text))
    return bool(proven.value), _take(text)
