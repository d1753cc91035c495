# SPDX-License-Identifier: Apache-2.0
"""Case 53: everyday calls work as on Linux. The programs are also run by a native Python, where that can compare."""

from pathlib import Path

import pytest

from conftest import Between
from quick.client import Context
from quick.native import PRELUDE, native

COMPARED = {
    "metadata": [
        "import os, stat; open('a', 'w').write('abc'); os.chmod('a', 0o751); s = os.stat('a'); print(oct(stat.S_IMODE(s.st_mode)), s.st_size, s.st_nlink, stat.S_ISREG(s.st_mode))",
        "os.utime('a', ns=(10**18, 10**18 + 5)); print(os.stat('a').st_mtime_ns // 1000, os.path.getmtime('a'))",
        "os.mkdir('d', 0o700); print(oct(stat.S_IMODE(os.stat('d').st_mode)), os.path.isdir('d'), os.access('a', os.R_OK | os.W_OK), os.access('none', os.F_OK))",
        "old = os.umask(0o027); open('m', 'w').close(); print(oct(stat.S_IMODE(os.stat('m').st_mode))); print(oct(os.umask(old)))",
        "os.truncate('a', 1); print(open('a').read()); fd = os.open('a', os.O_RDONLY); os.fsync(fd); os.fchmod(fd, 0o600) if hasattr(os, 'fchmod') else os.chmod('a', 0o600); os.close(fd); print(oct(stat.S_IMODE(os.stat('a').st_mode)))",
    ],
    "modes of new files": [
        "import os\ndef mode(path): return oct(os.stat(path).st_mode & 0o7777)\nfd = os.open('a', os.O_WRONLY | os.O_CREAT, 0o640); os.close(fd); os.mkdir('d', 0o750); print(mode('a'), mode('d'))",
        "os.close(os.open('a', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)); os.close(os.open('d/b', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o777)); print(mode('a'), mode('d/b'))",
        "top = os.open('d', os.O_RDONLY); os.close(os.open('c', os.O_WRONLY | os.O_CREAT, 0o400, dir_fd=top)); os.mkdir('e', 0o700, dir_fd=top); print(mode('d/c'), mode('d/e')); os.close(top)",
        "os.symlink('target', 'link'); os.close(os.open('link', os.O_WRONLY | os.O_CREAT, 0o600)); print(mode('target'))",
        "os.umask(0o077); open('f', 'w').close(); os.makedirs('g/h'); print(mode('f'), mode('g'), mode('g/h')); print(oct(os.umask(0o022)))",
    ],
    "statvfs": [
        "import os, shutil; open('a', 'wb').write(b'x' * 10**6); s = os.statvfs('a'); print(s.f_frsize > 0, s.f_blocks >= s.f_bfree >= s.f_bavail > 0, s.f_namemax)",
        "u = shutil.disk_usage('.'); print(u.total > u.free > 0, u.used > 0); fd = os.open('a', os.O_RDONLY); print(os.fstatvfs(fd).f_blocks == os.statvfs('.').f_blocks); os.close(fd)",
        "try: os.statvfs('none')\nexcept OSError as e: print(name(e))",
    ],
    "links": [
        "import os; open('a', 'w').write('x'); os.symlink('a', 's'); print(os.readlink('s'), os.path.islink('s'), open('s').read(), os.lstat('s').st_size)",
        "os.link('a', 'h'); print(os.stat('a').st_nlink, os.path.samefile('a', 'h')); open('h', 'a').write('y'); print(open('a').read())",
        "os.unlink('a'); print(open('h').read(), os.path.exists('s'), os.path.lexists('s'))",
        "os.symlink('loop', 'loop')\ntry: open('loop')\nexcept OSError as e: print(name(e))\nos.symlink('d', 'dl'); os.mkdir('d'); open('dl/f', 'w').close(); print(os.listdir('d'), os.path.realpath('dl/f').endswith('/d/f'))",
    ],
    "shutil": [
        "import shutil, os; os.makedirs('s/t'); open('s/a', 'w').write('a'); open('s/t/b', 'w').write('b'); os.chmod('s/a', 0o640)",
        "shutil.copy2('s/a', 'c'); shutil.copytree('s', 'u'); shutil.move('u/t', 'v'); print(sorted(os.listdir('u')), sorted(os.listdir('v')), oct(os.stat('c').st_mode & 0o777))",
        "shutil.rmtree('s'); print(sorted(os.listdir())); shutil.copyfile('c', 'e'); shutil.copymode('c', 'e'); shutil.copystat('c', 'e'); print(open('e').read(), shutil.disk_usage('.').total > 0)",
        "print(shutil.make_archive('z', 'zip', 'u').endswith('z.zip')); shutil.unpack_archive('z.zip', 'w'); print(os.listdir('w'))",
    ],
    "pathlib": [
        "from pathlib import Path; p = Path('x') / 'y'; p.mkdir(parents=True); (p / 'f.txt').write_text('é'); print((p / 'f.txt').read_bytes(), p.exists(), p.is_dir(), (p / 'f.txt').stat().st_size)",
        "(p / 'g').touch(); print(sorted(q.name for q in p.iterdir()), sorted(str(q) for q in Path('.').rglob('*'))); (p / 'g').rename(p / 'h'); print((p / 'h').exists())",
        "(p / 'h').unlink(); (p / 'none').unlink(missing_ok=True); print([q.suffix for q in p.glob('*.txt')], Path('x').resolve().name, Path('x/../x').resolve().parts[-1])",
    ],
    "tempfile": [
        "import tempfile, os; t = tempfile.TemporaryFile(); t.write(b'abc'); t.seek(1); print(t.read())",
        "d = tempfile.mkdtemp(); f, n = tempfile.mkstemp(dir=d); os.write(f, b'x'); os.close(f); print(os.path.getsize(n), oct(os.stat(n).st_mode & 0o777))",
        "with tempfile.TemporaryDirectory() as e: open(e + '/q', 'w').close(); print(os.listdir(e))\nprint(os.path.exists(e))",
        "s = tempfile.SpooledTemporaryFile(max_size=3); s.write(b'abcdef'); s.seek(0); print(s.read()); n = tempfile.NamedTemporaryFile('w+'); n.write('q'); n.flush(); print(open(n.name).read()); n.close(); print(os.path.exists(n.name))",
    ],
    "archives": [
        "import zipfile, tarfile, gzip, bz2, lzma, zlib, io; z = zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED); z.writestr('in/x', 'hello' * 100); z.close(); print(zipfile.ZipFile('a.zip').read('in/x') == b'hello' * 100)",
        "t = tarfile.open('t.tgz', 'w:gz'); t.add('a.zip'); t.close(); print(tarfile.open('t.tgz').getnames())",
        "for m in (gzip, bz2, lzma, zlib): print(m.decompress(m.compress(b'data' * 50)) == b'data' * 50)",
        "print(gzip.open(io.BytesIO(gzip.compress(b'l1\\nl2\\n')), 'rt').readlines())",
    ],
    "sqlite": [
        "import sqlite3; c = sqlite3.connect('db.sqlite'); c.execute('create table t(a integer primary key, b text)'); c.executemany('insert into t(b) values (?)', [('x',), ('ü',)]); c.commit(); print(c.execute('select * from t').fetchall())",
        "c2 = sqlite3.connect('db.sqlite'); print(c2.execute('select count(*) from t').fetchone()); c2.execute('delete from t where a = 1'); c2.commit(); print(c.execute('select b from t').fetchall())",
        "c.execute('begin'); c.execute('insert into t(b) values (?)', ('gone',)); c.rollback(); print(c.execute('select count(*) from t').fetchone()); c.close(); c2.close()",
        "c = sqlite3.connect('db.sqlite'); print(c.execute(\"select json_extract('{\\\"a\\\": [1,2]}', '$.a[1]'), sum(a) from t\").fetchone()); c.execute('vacuum'); print(c.execute('pragma integrity_check').fetchone())",
    ],
    "walk": [
        "import os, glob, fnmatch; [os.makedirs(f'w/{a}/{b}') for a in 'ab' for b in 'cd']; open('w/a/c/f.txt', 'w').close(); print(sorted((d, sorted(s), f) for d, s, f in os.walk('w'))[:2])",
        "print(sorted(glob.glob('w/**/*.txt', recursive=True)), sorted(glob.glob('w/*/c')), fnmatch.filter(os.listdir('w'), 'a*'))",
        "os.removedirs('w/b/d'); print(sorted(os.listdir('w/b'))); os.renames('w/a/c/f.txt', 'moved/f.txt'); print(os.path.exists('w/a/c'), os.listdir('moved'))",
    ],
    "dbm": [
        "import shelve, dbm.dumb; s = shelve.open('sh', writeback=True); s['k'] = [1]; s['k'].append(2); s.close(); print(shelve.open('sh')['k'])"
    ],
    "json and csv": [
        "import json, csv; json.dump({'é': [1, None, 1.5]}, open('j', 'w')); print(json.load(open('j'))); w = csv.writer(open('c.csv', 'w', newline='')); w.writerow(['a', 'b\\nc', '\"q\"']); del w; print(list(csv.reader(open('c.csv', newline=''))))"
    ],
}


@pytest.mark.parametrize("name", COMPARED)
def test_python_is_as_native(python: Context, between: Between, tmp_path: Path, name: str) -> None:
    expected = native(COMPARED[name], tmp_path)
    python.run(PRELUDE).ok()
    for step, printed in zip(COMPARED[name], expected, strict=True):
        assert python.run(step).ok().stdout == printed, step
        between(python)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os; os.getpid() > 0, os.getppid() >= 0", "(True, True)"),
        ("import os; (os.cpu_count() or 1) >= 1", "True"),
        ("import os; isinstance(os.getuid(), int)", "True"),
        ("import getpass; isinstance(getpass.getuser(), str)", "True"),
        ("import platform; platform.system() != ''", "True"),
        ("import os; os.uname().sysname != ''", "True"),
        ("import sys; sys.platform", "'wasi'"),
        ("import os; os.path.expanduser('~').startswith('/')", "True"),
        ("import os; open(os.devnull, 'w').write('x'), open(os.devnull).read()", "(1, '')"),
        (
            "open('/dev/zero', 'rb').read(3), len(open('/dev/urandom', 'rb').read(5))",
            r"(b'\x00\x00\x00', 5)",
        ),
        (
            "import os; sorted(os.listdir('/'))[:2] is not None and 'workspace' in os.listdir('/')",
            "True",
        ),
        ("import os; os.environ.get('HOME', '/') != ''", "True"),
        (
            "import os; os.get_terminal_size if hasattr(os, 'get_terminal_size') else 1; import shutil; shutil.get_terminal_size().columns > 0",
            "True",
        ),
        (
            "import uuid, hashlib, hmac, secrets, decimal, fractions, statistics; hashlib.sha3_256(b'x').hexdigest()[:8]",
            "'741efa31'",
        ),
    ],
)
def test_small_things(python: Context, code: str, expected: str) -> None:
    assert python.value(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "import fcntl",
        "import mmap",
        "import resource",
        "import pwd",
        "import termios",
        "import ctypes",
        "import tkinter",
        "import readline",
        "import ssl",
    ],
)
def test_missing_modules_are_import_errors_with_a_reason(python: Context, code: str) -> None:
    run = python.run(code)
    if run.status == "error":
        assert run.error_name in ("ModuleNotFoundError", "ImportError") and run.error is not None
        assert len(run.error["message"]) > len("No module named 'xxxxxxx'")


@pytest.mark.parametrize(
    "code",
    [
        "open('/usr/x', 'w')",
        "open('/x', 'w')",
        "import os; os.mkdir('/new')",
        "import os; os.unlink('/dev/null')",
        "import os; os.rename('/tmp', '/t')",
        "import os; os.rmdir('/workspace')",
    ],
)
def test_the_system_directories_are_read_only(python: Context, code: str) -> None:
    run = python.run(code)
    assert run.error_name in ("PermissionError", "OSError", "FileNotFoundError"), run.raw


def test_the_standard_library_imports(python: Context) -> None:
    """Every module of the standard library imports, or says that it is missing; none traps."""
    code = """
import sys, importlib, warnings
warnings.simplefilter("ignore")
skip = {"antigravity", "this", "idlelib", "__phello__", "__hello__"}
failed = {}
for name in sorted(sys.stdlib_module_names - skip):
    try:
        importlib.import_module(name)
    except ImportError as e:
        failed[name] = str(e)
len(sys.stdlib_module_names) - len(failed) > 200
"""
    run = python.run(code, timeoutMs=110_000)
    assert run.ok().result == "True"


def test_javascript_fs(javascript: Context, between: Between) -> None:
    javascript.run("const fs = require('fs'), path = require('path'), os = require('os');").ok()
    between(javascript)
    steps = [
        (
            "fs.mkdirSync('a/b', { recursive: true }); fs.writeFileSync('a/b/f', 'x'); fs.copyFileSync('a/b/f', 'g'); fs.readdirSync('.')",
            "[ 'a', 'g' ]",
        ),
        (
            "fs.utimesSync('g', 1, 2); [fs.statSync('g').mtimeMs, fs.statSync('g').isFile(), fs.statSync('a').isDirectory()]",
            "[ 2000, true, true ]",
        ),
        (
            "fs.cpSync('a', 'c', { recursive: true }); fs.rmSync('a', { recursive: true, force: true }); fs.readdirSync('.', { withFileTypes: true }).map(e => [e.name, e.isDirectory()])",
            "[ [ 'c', true ], [ 'g', false ] ]",
        ),
        ("fs.accessSync('g'); fs.existsSync('none')", "false"),
        ("fs.linkSync('g', 'h'); fs.statSync('g').nlink", "2"),
        ("path.dirname(fs.mkdtempSync(path.join(os.tmpdir(), 'x-')))", "'/tmp'"),
        ("fs.realpathSync('c/../c')", "'/workspace/c'"),
        ("fs.readdirSync('.', { recursive: true }).sort().join()", "'c,c/b,c/b/f,g,h'"),
    ]
    for code, expected in steps:
        assert javascript.value(code) == expected, code
        between(javascript)


def test_javascript_promises(javascript: Context) -> None:
    code = "const fsp = require('fs/promises'); await fsp.mkdir('p'); await fsp.writeFile('p/f', 'text'); const h = await fsp.open('p/f', 'r+'); const s = await h.stat(); await h.close(); await fsp.rename('p/f', 'q'); [s.size, await fsp.readFile('q', 'utf8'), await fsp.readdir('.')]"
    assert javascript.value(code) == "[ 4, 'text', [ 'p', 'q' ] ]"
