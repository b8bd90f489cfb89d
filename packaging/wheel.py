"""A wheel of libplumbline: the Python package, the library with what it needs, shipped data.

usage: wheel.py LIBRARY VERSION FOLDER FILE ...

LIBRARY has the run path $ORIGIN, so that the libraries it needs are found next to it; they are put
there, but for the C library's own. The wheel's tag is the newest version of the C library that any
of them asks for: with nothing else outside, manylinux as PEP 600 defines it. FILEs are shipped
ones, as in the source tree. Prints the wheel's path.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

OF_C = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|util|resolv))\.so")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def said_by(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed_by(library):
    """The paths of what the library needs, by their names."""
    found = {}
    for line in said_by("ldd", str(library)).splitlines():
        name, _, at = line.strip().partition(" => ")
        name, path = name.split()[0], at.split(" (")[0].strip()
        if OF_C.match(pathlib.Path(name).name):
            continue
        if not path.startswith("/"):
            sys.exit(f"wheel.py: {library}: {name} is not found")
        found[name] = pathlib.Path(path)
    return found


def newest_of_c(libraries):
    """The newest version of the C library that these ask for."""
    asked = [
        tuple(int(part) for part in version.split("."))
        for library in libraries
        for version in re.findall(r"\bGLIBC_(\d+\.\d+)", said_by("objdump", "-p", str(library)))
    ]
    return max(asked)


def licence_of(path):
    """The package that a library of the system is from, and its licence; None: not known."""
    if not shutil.which("dpkg-query"):
        return None
    for name in (path, path.resolve(), pathlib.Path(str(path.resolve()).replace("/usr/", "/", 1))):
        asked = subprocess.run(
            ["dpkg-query", "-S", str(name)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        package = asked.stdout.decode().split(":")[0]
        licence = pathlib.Path("/usr/share/doc") / package / "copyright"
        if package and licence.exists():
            return package, licence.read_bytes()
    return None


def metadata(version, licences):
    said = [
        "Metadata-Version: 2.1",
        "Name: plumbline",
        f"Version: {version}",
        "Summary: Plans the training of large models on many GPUs and bounds the distance from"
        " optimal",
        "License: GPL-3.0-or-later",
        *(f"License-File: {name}" for name in licences),
        "Requires-Python: >=3.8",
        "Provides-Extra: pandas",
        "Requires-Dist: pandas; extra == 'pandas'",
        "Provides-Extra: torch",
        "Requires-Dist: torch>=2.5; extra == 'torch'",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "library/python/README.md").read_text(encoding="utf-8"),
    ]
    return "\n".join(said).encode()


def collect(library, version, shipped, scratch):
    """What the wheel holds: bytes by name; and its tag."""
    files = {}
    for path in sorted((ROOT / "library/python/plumbline").glob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            files[f"plumbline/{path.name}"] = path.read_bytes()
    for name in shipped:
        if name.startswith("data/"):
            files[f"plumbline/{name}"] = (ROOT / name).read_bytes()
    licences = {name: (ROOT / name).read_bytes() for name in ("LICENSE", "NOTICE.md")}
    libraries = {"libplumbline.so.0": pathlib.Path(library), **needed_by(library)}
    for name, path in libraries.items():
        to = scratch / name
        shutil.copyfile(path, to)
        subprocess.run(["strip", "--strip-unneeded", str(to)], check=True)
        files[f"plumbline/lib/{name}"] = to.read_bytes()
        licence = licence_of(path) if name != "libplumbline.so.0" else None
        if licence:
            licences[licence[0]] = licence[1]
        elif name != "libplumbline.so.0":
            print(f"wheel.py: the licence of {path} is not known here", file=sys.stderr)
    major, minor = newest_of_c(scratch / name for name in libraries)
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    info = f"plumbline-{version}.dist-info"
    for name, text in licences.items():
        files[f"{info}/licenses/{name}"] = text
    files[f"{info}/METADATA"] = metadata(version, licences)
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: plumbline {version}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    return files, tag, info


def write(to, files, info):
    record = []
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as wheel:

        def put(name, text):
            entry = zipfile.ZipInfo(name)  # of 1980: the same bytes give the same wheel
            entry.external_attr = (0o755 if "/lib/" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, text)

        for name, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(text)}")
            put(name, text)
        put(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]).encode())


def main(library, version, folder, *shipped):
    with tempfile.TemporaryDirectory() as scratch:
        files, tag, info = collect(library, version, shipped, pathlib.Path(scratch))
    to = os.path.join(folder, f"plumbline-{version}-{tag}.whl")
    write(to, files, info)
    print(to)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: wheel.py LIBRARY VERSION FOLDER FILE ...")
    main(*sys.argv[1:])
