# SPDX-License-Identifier: Apache-2.0
"""Case 52: append, seek, tell, truncate: as native Linux, byte for byte. Each program is also run by a native Python
in an empty directory, and both must print the same."""

from pathlib import Path

import pytest

from conftest import Between, NewServer
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
        "import os; fd = os.open('big', os.O_RDWR | os.O_CREAT, 0o644); print(os.lseek(fd, 2**31 + 5, 0), os.write(fd, b'far'), os.fstat(fd).st_size)",
        "print(os.pread(fd, 4, 2**31 + 4), os.pread(fd, 4, 2**30)); os.ftruncate(fd, 2); print(os.fstat(fd).st_size); os.close(fd)",
        "try: os.lseek(os.open('big', 0), -1, 0)\nexcept OSError as e: print(name(e))",
    ],
    # Nobody stores the holes of /tmp, so they may be larger than any quota.
    "very large offsets": [
        "import os, tempfile; f = tempfile.TemporaryFile(buffering=0); fd = f.fileno(); print(os.lseek(fd, 5 * 2**30, 0), os.write(fd, b'far'), os.fstat(fd).st_size)",
        "print(os.pread(fd, 4, 5 * 2**30 - 1), os.pread(fd, 4, 2**30)); os.ftruncate(fd, 2); print(os.fstat(fd).st_size); f.close()",
    ],
    "vectors": [
        "import os; fd = os.open('v', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600); print(os.writev(fd, [b'one', b'', b'two']), os.pwritev(fd, [b'ONE', b'!'], 1), os.lseek(fd, 0, 1))",
        "a, b = bytearray(2), bytearray(9); print(os.preadv(fd, [a, b], 0), a, b); os.lseek(fd, 1, 0); print(os.readv(fd, [b, a]), b); os.close(fd)",
    ],
    "duplicates": [
        "import os; fd = os.open('w', os.O_RDWR | os.O_CREAT); d = os.dup(fd); os.write(fd, b'abc'); print(os.lseek(d, 0, 1), d != fd)",
        "e = os.open('w2', os.O_RDWR | os.O_CREAT); print(os.dup2(fd, e) == e, os.dup2(fd, e, inheritable=False) == e, os.dup2(e, e) == e); os.write(e, b'def'); print(os.path.getsize('w'), os.path.getsize('w2'))",
        "print(os.dup2(e, 100)); os.lseek(100, 0, 0); print(os.read(fd, 9)); os.close(100); os.close(d); os.close(e)\nfor bad in ((fd, -1), (fd, 2**31 - 1), (99, 5)):\n    try: os.dup2(*bad)\n    except OSError as e: print(name(e))",
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


def test_output_goes_where_its_descriptor_does(python: Context, between: Between) -> None:
    python.run("import os; f = os.open('out', os.O_RDWR | os.O_CREAT); saved = os.dup(1)").ok()
    between(python)
    assert python.run("os.dup2(f, 1); print('to the file')").ok().stdout == ""
    between(python)
    run = python.run("print('there too'); os.dup2(saved, 1); os.close(saved); print('to the client')")
    assert run.ok().stdout == "to the client\n"
    assert python.value("open('out').read()") == "'to the file\\nthere too\\n'"


def test_what_the_server_would_not_store_cannot_be_made(new_server: NewServer) -> None:
    """The quota is one of lengths: holes count, and so does each name of a file."""
    server = new_server("[limits]\nworkspace_bytes = 2097152\n")
    python = server.client.sandbox().context("python")
    python.run(PRELUDE + "\nimport os, shutil; keep = 1; open('kept', 'w').write('x')").ok()
    attempts = [
        "fd = os.open('big', os.O_RDWR | os.O_CREAT); os.lseek(fd, 5 * 2**30, 0); os.write(fd, b'far')",
        "os.truncate('kept', 3 * 2**20)",
        "open('half', 'w').truncate(2**20 + 2**19); open('other', 'w').truncate(2**20)",
        "os.link('half', 'same')",
        "open('other', 'wb').write(b'x' * 2**20)",
    ]
    for code in attempts:
        run = python.run(f"try: {code}\nexcept OSError as e: print(name(e))").ok()
        assert run.stdout in ("EFBIG\n", "EDQUOT\n"), code
        python.evict()
    assert python.value("keep, os.path.getsize('kept'), os.path.getsize('big')") == "(1, 1, 0)"
    usage = python.value("total, used, free = shutil.disk_usage('.'); total, used + free == total, used >= 2**20")
    assert usage == "(2097152, True, True)"
    python.run("os.unlink('half'); open('other', 'wb').write(b'x' * 2**20)").ok()
    assert python.sandbox.stat("/workspace/other")["sizeBytes"] == 2**20


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
