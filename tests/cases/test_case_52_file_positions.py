# SPDX-License-Identifier: Apache-2.0
"""Case 52: append, seek, tell, truncate: as native Linux, byte for byte. Each program is also run by a native Python
in an empty directory, and both must print the same."""

from pathlib import Path

import pytest

from conftest import Between
from quick.client import Context
from quick.native import PRELUDE, native

# Each step is one cell; all of them print.
PROGRAMS = {
    "append": [
        "f = open('a', 'a+'); f.write('one'); f.flush(); print(f.tell()); f.seek(0); print(f.tell())",
        "f.write('two'); f.flush(); print(f.tell()); f.seek(0); print(f.read())",
        "f.seek(2); f.write('three'); f.seek(0); print(repr(f.read())); f.close()",
    ],
    "two handles": [
        "a = open('b', 'wb', buffering=0); b = open('b', 'ab', buffering=0); a.write(b'0123456789'); b.write(b'AB'); print(a.tell(), b.tell())",
        "a.truncate(4); b.write(b'CD'); print(open('b', 'rb').read(), a.tell(), b.tell())",
        "a.write(b'X'); print(open('b', 'rb').read()); a.seek(1); a.write(b'YY'); print(open('b', 'rb').read())",
    ],
    "holes": [
        "f = open('c', 'w+b'); f.seek(10); f.write(b'end'); f.flush(); print(f.tell())",
        "f.seek(0); print(f.read()); f.truncate(20); f.seek(0, 2); print(f.tell()); f.truncate(5); f.seek(0); print(f.read(), f.tell())",
        "print(f.truncate(8), f.seek(0), f.read()); f.close(); import os; print(os.path.getsize('c'))",
    ],
    "raw": [
        "import os; fd = os.open('d', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644); print(os.write(fd, b'hello world'), os.lseek(fd, 0, os.SEEK_CUR))",
        "print(os.pread(fd, 5, 6), os.pwrite(fd, b'HELLO', 0), os.lseek(fd, 0, os.SEEK_CUR)); os.lseek(fd, 0, 0); print(os.read(fd, 100), os.read(fd, 100))",
        "os.ftruncate(fd, 3); print(os.fstat(fd).st_size, os.lseek(fd, 0, 1), os.lseek(fd, -1, 2), os.read(fd, 10)); os.close(fd)",
        "fd = os.open('d', os.O_WRONLY | os.O_APPEND); os.write(fd, b'++'); print(os.lseek(fd, 0, 1)); os.lseek(fd, 0, 0); os.write(fd, b'**'); os.close(fd); print(open('d', 'rb').read())",
    ],
    "short reads": [
        "import os; fd = os.open('r', os.O_RDWR | os.O_CREAT, 0o644); print(os.write(fd, b'abcde'))",
        "os.lseek(fd, 0, 0); print(os.read(fd, 3), os.read(fd, 3), os.read(fd, 3)); os.close(fd)",
    ],
    "modes": [
        "open('e', 'x').write('made')\ntry: open('e', 'x')\nexcept FileExistsError as e: print(name(e))",
        "f = open('e', 'r+'); f.write('M'); f.close(); print(open('e').read()); open('e', 'w').close(); print(repr(open('e').read()))",
        "try: open('e').write('x')\nexcept Exception as e: print(type(e).__name__)\ntry: open('e', 'w').read()\nexcept Exception as e: print(type(e).__name__)",
        "try: open('nowhere/x', 'w')\nexcept OSError as e: print(name(e), e.filename)\ntry: open('.', 'w')\nexcept OSError as e: print(name(e))",
        "import os\nfd = os.open('e', os.O_RDONLY)\ntry: os.write(fd, b'x')\nexcept OSError as e: print(name(e))\nos.close(fd)\ntry: os.read(fd, 1)\nexcept OSError as e: print(name(e))",
    ],
    "text": [
        "f = open('t', 'w+', encoding='utf-8', newline=''); f.write('é\\n🦔\\r\\nx\\ry'); f.seek(0); print(f.readlines())",
        "print(open('t', encoding='utf-8').readlines(), open('t', 'rb').read())",
        "f.seek(0); print(repr(f.read(2))); at = f.tell(); print(repr(f.read(1))); f.seek(at); print(repr(f.read(1))); f.close()",
        "f = open('t', 'w', encoding='utf-16'); f.write('ab'); f.close(); print(open('t', 'rb').read())",
    ],
    "unlinked": [
        "import os; f = open('u', 'w+'); f.write('still here'); f.flush(); os.unlink('u'); print(os.path.exists('u'))",
        "f.seek(0); print(f.read()); f.write('!'); f.flush(); print(os.fstat(f.fileno()).st_size, os.fstat(f.fileno()).st_nlink)",
        "f.close(); print(sorted(os.listdir()))",
    ],
    "renamed": [
        "import os; f = open('v', 'w'); f.write('1'); f.flush(); os.rename('v', 'w'); f.write('2'); f.flush(); print(open('w').read())",
        "g = open('x', 'w'); g.write('other'); g.flush(); os.replace('x', 'w'); f.write('3'); f.flush(); print(open('w').read())",
        "f.close(); g.write('!'); g.close(); print(open('w').read(), sorted(os.listdir()))",
    ],
    "large offsets": [
        "import os; fd = os.open('big', os.O_RDWR | os.O_CREAT, 0o644); print(os.lseek(fd, 5 * 2**30, 0), os.write(fd, b'far'), os.fstat(fd).st_size)",
        "print(os.pread(fd, 4, 5 * 2**30 - 1), os.pread(fd, 4, 2**30)); os.ftruncate(fd, 2); print(os.fstat(fd).st_size); os.close(fd)",
        "try: os.lseek(os.open('big', 0), -1, 0)\nexcept OSError as e: print(name(e))",
    ],
    "directories": [
        "import os; os.makedirs('p/q'); open('p/q/f', 'w').close()\ntry: os.rmdir('p/q')\nexcept OSError as e: print(name(e))\ntry: os.mkdir('p')\nexcept OSError as e: print(name(e))",
        "try: os.rename('p', 'p/q/r')\nexcept OSError as e: print(name(e))\ntry: os.unlink('p')\nexcept OSError as e: print(name(e) in ('EPERM', 'EISDIR'))\ntry: os.rmdir('p/q/f')\nexcept OSError as e: print(name(e))",
        "os.rename('p/q', 'z'); print(sorted(os.listdir()), sorted(os.listdir('z'))); os.mkdir('empty'); os.rename('z', 'empty'); print(os.listdir('empty'))",
        "print(sorted((e.name, e.is_dir(), e.is_file()) for e in os.scandir('.')))",
    ],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_python_is_as_native(python: Context, between: Between, tmp_path: Path, name: str) -> None:
    expected = native(PROGRAMS[name], tmp_path)
    python.run(PRELUDE).ok()
    for step, printed in zip(PROGRAMS[name], expected, strict=True):
        assert python.run(step).ok().stdout == printed, step
        between(python)
    # What is left behind is the same too.
    here = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    there = {
        entry["name"]: python.sandbox.download(entry["path"]).content
        for entry in python.sandbox.files()
        if entry["type"] == "file"
    }
    assert there == here


def test_javascript(javascript: Context, between: Between) -> None:
    javascript.run(
        "const fs = require('fs'); const fd = fs.openSync('a', 'a+'); fs.writeSync(fd, 'one')"
    ).ok()
    between(javascript)
    assert (
        javascript.value(
            "fs.writeSync(fd, 'two'); const b = Buffer.alloc(10); [fs.readSync(fd, b, 0, 10, 0), b.toString('utf8', 0, 6)]"
        )
        == "[ 6, 'onetwo' ]"
    )
    between(javascript)
    assert (
        javascript.value(
            "fs.ftruncateSync(fd, 2); fs.writeSync(fd, '!'); fs.closeSync(fd); fs.readFileSync('a', 'utf8')"
        )
        == "'on!'"
    )
    assert (
        javascript.value(
            "const x = fs.openSync('x', 'wx+'); fs.writeSync(x, 'end', 5); [...fs.readFileSync('x')]"
        )
        == "[\n  0,   0,   0,   0,\n  0, 101, 110, 100\n]"
    )
    between(javascript)
    assert javascript.value("fs.fstatSync(x).size") == "8"
    assert javascript.value("try { fs.openSync('x', 'wx') } catch (e) { e.code }") == "'EEXIST'"
    assert javascript.value("fs.truncateSync('x', 10); fs.statSync('x').size") == "10"
