import base64
import bisect
import decimal
import hashlib
import heapq
import itertools
import operator
import random
import statistics
import struct
import zlib
from pathlib import Path

generator = random.Random(5)
values = [generator.gauss(10, 3) for _ in range(20_000)]
table = [{"group": generator.choice("abcdef"), "value": v, "size": int(v) % 5} for v in values]
groups = {}
for row in table:
    groups.setdefault(row["group"], []).append(row["value"])
print({name: round(statistics.fmean(group), 2) for name, group in sorted(groups.items())})
table.sort(key=operator.itemgetter("group", "size"))
print([(key, sum(1 for _ in rows)) for key, rows in itertools.groupby(table, key=lambda row: row["group"])][:2])
print(statistics.median(values), statistics.pstdev(values[:2000]), sorted(values, reverse=True)[:2])
heap = []
for value in values:
    heapq.heappush(heap, value)
print([heapq.heappop(heap) for _ in range(2000)][-1], bisect.bisect(sorted(values), 10.0))
print(sum(a * b for a, b in itertools.combinations(range(120), 2)), len(list(itertools.product("abc", repeat=7))))
print(sum(itertools.accumulate(x for x, keep in zip(range(20_000), itertools.cycle([1, 0, 1])) if keep)))
decimal.getcontext().prec = 40
print(sum((decimal.Decimal(n) / 7 for n in range(2000)), decimal.Decimal(0)).quantize(decimal.Decimal("0.01")))
blob = struct.pack("<5000d", *values[:5000])
packed = zlib.compress(blob)
print(zlib.decompress(packed) == blob, hashlib.sha256(blob * 4).hexdigest()[:8], base64.b64encode(blob)[:8])
matrix = [list(row) for row in zip(*[iter(values[:10_000])] * 100)]
print(len(matrix), {i: row[i] for i, row in enumerate(matrix[:3])}, any(v > 30 for v in values), all(map(bool, values)))
unique = {round(v, 1) for v in values} - {round(v, 1) for v in values[:500]} | frozenset([1, 2])
print(len(unique), list(filter(None, [0, 1, "", "a"])), [*range(5)][1:-1:2], dict(zip("abc", range(3))) | {"d": 4})
path = Path("/tmp/training.txt")
path.write_text("\n".join(map(str, values[:3000])))
with path.open() as lines:
    print(sum(float(line) for line in lines))
path.unlink()
