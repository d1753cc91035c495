# SPDX-License-Identifier: Apache-2.0
"""CPU-bound programs that run unchanged in a context and in a native interpreter. Each prints the answer it
computed, which must be the same in both, and then its time in seconds by the interpreter's own clock."""

PYTHON = {
    "nbody": """
def run():
    bodies = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.47], [4.84, -1.16, -0.10, 0.6, 2.8, -0.02, 0.037],
              [8.34, 4.12, -0.4, -1.01, 1.82, 0.008, 0.011], [12.8, -15.1, -0.22, 1.08, 0.86, -0.01, 0.0017]]
    for _ in range(6000):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1:]:
                dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
                m = 0.001 / ((dx * dx + dy * dy + dz * dz) ** 1.5)
                a[3] -= dx * b[6] * m; a[4] -= dy * b[6] * m; a[5] -= dz * b[6] * m
                b[3] += dx * a[6] * m; b[4] += dy * a[6] * m; b[5] += dz * a[6] * m
        for a in bodies:
            a[0] += 0.001 * a[3]; a[1] += 0.001 * a[4]; a[2] += 0.001 * a[5]
    return round(bodies[0][0], 9)
""",
    "fib": """
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def run(): return fib(24)
""",
    "json": """
import json
def run():
    data = [{"id": i, "name": f"n{i}", "tags": ["a", "b", str(i)], "x": i / 7} for i in range(1500)]
    for _ in range(5): data = json.loads(json.dumps(data))
    return len(json.dumps(data))
""",
    "strings": """
def run():
    words = {}
    for i in range(60000):
        w = "w" + str(i * 7919 % 1000)
        words[w] = words.get(w, 0) + len(w.upper())
    return sum(words.values())
""",
    "objects": """
class P:
    __slots__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
    def add(self, o): return P(self.x + o.x, self.y + o.y)
def run():
    p = P(0, 0)
    for i in range(60000): p = p.add(P(i, -i))
    return p.x, p.y
""",
    "sort": """
def run():
    x, out = 12345, []
    for _ in range(40000):
        x = (x * 1103515245 + 12345) & 0x7fffffff
        out.append(x)
    out.sort(); out.sort(key=lambda v: v & 1023)
    return out[1000]
""",
    "regex": """
import re
def run():
    text = "foo12 bar345 baz6 " * 3000
    return len(re.findall(r"[a-z]+(\\d+)", text)), len(re.sub(r"\\s+", "-", text))
""",
    "bigint": """
def run():
    a = 1
    for i in range(1, 1200): a *= i
    return len(str(a))
""",
}

PYTHON_FRAME = """
import time as _time
_start = _time.perf_counter()
_answer = run()
print(_answer); print(_time.perf_counter() - _start)
"""

JAVASCRIPT = {
    "fib": "function run() { const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(25); }",
    "nbody": """
function run() {
  const b = [[0, 0, 0, 0, 0, 0, 39.47], [4.84, -1.16, -0.1, 0.6, 2.8, -0.02, 0.037],
             [8.34, 4.12, -0.4, -1.01, 1.82, 0.008, 0.011]];
  for (let s = 0; s < 15000; s++) {
    for (let i = 0; i < b.length; i++) for (let j = i + 1; j < b.length; j++) {
      const dx = b[i][0] - b[j][0], dy = b[i][1] - b[j][1], dz = b[i][2] - b[j][2];
      const m = 0.001 / Math.pow(dx * dx + dy * dy + dz * dz, 1.5);
      b[i][3] -= dx * b[j][6] * m; b[i][4] -= dy * b[j][6] * m; b[i][5] -= dz * b[j][6] * m;
      b[j][3] += dx * b[i][6] * m; b[j][4] += dy * b[i][6] * m; b[j][5] += dz * b[i][6] * m;
    }
    for (const a of b) { a[0] += 0.001 * a[3]; a[1] += 0.001 * a[4]; a[2] += 0.001 * a[5]; }
  }
  return b[0][0].toFixed(9);
}""",
    "sieve": """
function run() {
  const n = 300000, s = new Uint8Array(n + 1); let c = 0;
  for (let i = 2; i <= n; i++) { if (s[i]) continue; c++; for (let j = i * 2; j <= n; j += i) s[j] = 1; }
  return c;
}""",
    "objects": """
function run() {
  class P { constructor(x, y) { this.x = x; this.y = y; } add(o) { return new P(this.x + o.x, this.y + o.y); } }
  let p = new P(0, 0);
  for (let i = 0; i < 120000; i++) p = p.add(new P(i, -i));
  return p.x + p.y;
}""",
    "json": """
function run() {
  let d = Array.from({ length: 2000 }, (_, i) => ({ id: i, name: "n" + i, tags: ["a", String(i)], x: i / 7 }));
  for (let k = 0; k < 6; k++) d = JSON.parse(JSON.stringify(d));
  return JSON.stringify(d).length;
}""",
    "strings": """
function run() {
  const m = new Map();
  for (let i = 0; i < 60000; i++) { const w = "w" + (i * 7919 % 1000); m.set(w, (m.get(w) || 0) + w.toUpperCase().length); }
  let t = 0; for (const v of m.values()) t += v; return t;
}""",
    "regex": """
function run() {
  const t = "foo12 bar345 baz6 ".repeat(2000);
  return t.match(/[a-z]+(\\d+)/g).length + t.replace(/\\s+/g, "-").length;
}""",
    "sort": """
function run() {
  let x = 12345; const out = [];
  for (let i = 0; i < 40000; i++) { x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff; out.push(x); }
  out.sort((a, b) => a - b); return out[1000];
}""",
}

# `now` is a clock in milliseconds that both hosts have.
JAVASCRIPT_FRAME = """
;{ const t = performance.now(); const a = run(); const d = performance.now() - t; console.log(String(a)); console.log(d / 1000); }
"""
