# SPDX-License-Identifier: Apache-2.0
"""Kernels of NumPy and pandas, in the same frame as the programs beside: `run` is what is timed, and prints an answer that
must be the same in both, rounded where sums may be taken in another order. Arrays are made before, once."""

ARRAYS = """
import numpy as np
random = np.random.default_rng(1)
x, y = random.random(1_000_000), random.random(1_000_000)
n = random.integers(0, 1_000_000, 1_000_000)
a, b = random.random((512, 512)), random.random((512, 512))
"""
FRAME = """
import numpy as np, pandas as pd
random = np.random.default_rng(1)
df = pd.DataFrame({"key": random.integers(0, 1000, 100_000), "name": random.choice(list("abcdefgh"), 100_000),
                   "value": random.random(100_000)})
"""

DATA = {
    "matmul, 512 × 512": ARRAYS + "def run(): return round(float((a @ b).sum()), 3)",
    "sort of 1e6 floats": ARRAYS + "def run(): return float(np.sort(x)[1000])",
    "sort of 1e6 integers": ARRAYS + "def run(): return int(np.sort(n)[1000])",
    "argsort of 1e6": ARRAYS + "def run(): return int(np.argsort(x)[1000])",
    "x * y + x, 1e6": ARRAYS + "def run(): return round(float((x * y + x)[-1]), 12)",
    "sqrt(x) / y, 1e6": ARRAYS + "def run(): return round(float((np.sqrt(x) / y)[-1]), 12)",
    "exp, log, sin of 1e6": ARRAYS + "def run(): return round(float((np.exp(x) + np.log(x) + np.sin(x))[-1]), 12)",
    "sum, mean, std of 1e6": ARRAYS + "def run(): return round(float(x.sum() + x.mean() + x.std()), 6)",
    "where and masks, 1e6": ARRAYS + "def run(): return round(float(np.where(x > 0.5, x, y)[x < 0.25].sum()), 6)",
    "unique of 1e6": ARRAYS + "def run(): return len(np.unique(n))",
    "fft of 2**18": ARRAYS + "def run(): return round(float(abs(np.fft.fft(x[:1 << 18]))[1]), 6)",
    "solve, 256 × 256": ARRAYS + "def run(): return round(float(np.linalg.solve(a[:256, :256], b[:256, 0]).sum()), 4)",
    "group-by, 100,000 rows": FRAME + "def run(): return round(float(df.groupby('key')['value'].mean().sum()), 6)",
    "group-by of two keys": FRAME
    + "def run(): return round(float(df.groupby(['name', 'key'])['value'].agg(['sum', 'count', 'max']).to_numpy().sum()), 4)",
    "merge, 100,000 rows": FRAME
    + "def run(): return len(df.merge(pd.DataFrame({'key': range(1000), 'w': range(1000)}), on='key'))",
    "sort_values": FRAME + "def run(): return round(float(df.sort_values(['name', 'value'])['value'].iloc[5]), 12)",
    "to_csv and read_csv, 100,000 rows": FRAME
    + "import io\ndef run():\n    text = df.to_csv(index=False)\n    return pd.read_csv(io.StringIO(text)).shape",
    "strings: upper, contains": FRAME
    + "def run(): return int(df['name'].str.upper().str.contains('A').sum())",
}
