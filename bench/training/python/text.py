import csv
import io
import json
import re
import string
import textwrap
import unicodedata
from datetime import datetime, timedelta

words = ("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor " * 300).split()
counts = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
print(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3])
text = " ".join(words)
print(len(text.upper()), text.count("or"), text.find("tempor", 500), text.replace("i", "ï")[:20])
print(sum(1 for w in words if w.startswith(("a", "d")) and not w.endswith("t")), "-".join(w[::-1] for w in words[:5]))
pattern = re.compile(r"\b(?P<first>[a-d])(\w+?)(t|or)\b", re.IGNORECASE)
print(len(pattern.findall(text)), pattern.sub(lambda m: m["first"].upper(), text)[:60])
print([m.span() for m in re.finditer(r"\d{2,4}-\d\d|[^\W\d]+@\w+\.com", "a@b.com 2020-01 x9 77-12 joe@mail.com" * 50)][:4])
rows = [{"id": i, "name": f"name {i}", "score": i * 1.25, "tags": ["x", None, True], "nested": {"a": i}} for i in range(800)]
for _ in range(4):
    encoded = json.dumps(rows)
    decoded = json.loads(encoded)
print(len(encoded), decoded == rows, len(json.dumps(rows[:50], indent=2, sort_keys=True)))
buffer = io.StringIO()
writer = csv.DictWriter(buffer, ["id", "name", "score"], extrasaction="ignore")
writer.writeheader()
writer.writerows(rows)
buffer.seek(0)
print(sum(float(row["score"]) for row in csv.DictReader(buffer)))
day = datetime(2024, 2, 27, 13, 5)
print([(day + timedelta(days=7 * i)).strftime("%Y-%m-%d %a") for i in range(300)][-1], datetime.fromisoformat("2024-05-06T07:08:09").isoformat())
print(textwrap.fill(text[:400], 60).count("\n"), string.Template("$a-$b").substitute(a=1, b=2), "%s %05d %.3f" % ("a", 42, 3.14159))
print(unicodedata.normalize("NFD", "äöüß" * 200).encode("utf-8")[:9], "żółw".encode("utf-16").decode("utf-16"), "{:,}".format(10**9))
print("\n".join(f"{i:03d}: {w:<12}|{len(w):>3}" for i, w in enumerate(words[:2000])).count(":"))
