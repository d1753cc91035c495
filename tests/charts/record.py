# SPDX-License-Identifier: Apache-2.0
"""Writes expected.json and the pictures from what Python gives: python -m charts.record."""

import json
import tempfile
from pathlib import Path

from charts.test_charts import HERE, VECTORS, made_by
from quick.server import Server


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "data").start()
        try:
            made = made_by(server.client, server.client.sandbox().context("python"))
        finally:
            server.close()
    expected = {}
    for vector, (text, chart, svg) in zip(VECTORS, made):
        expected[vector["name"]] = {"text": text, "chart": chart}
        (HERE / f"{vector['name']}.svg").write_text(svg)
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in expected.items()]
    (HERE / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
