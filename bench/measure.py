# SPDX-License-Identifier: Apache-2.0
"""Measures a running server against native interpreters on the same machine and prints a Markdown report.

    measure.py --url URL --key KEY [--python NATIVE] [--javascript NATIVE] [--data NATIVE] [--rounds N] [--samples N]

CPU: each program runs in a context and natively in turn, N rounds; the ratio is of the best times. Answers are compared.
Latency: N runs of `y = 1` in one context, warm and with an evict before each; from the server's own figures and the client's.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
import urllib.request

from cpu import programs
from cpu.data_programs import DATA


class Server:
    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key
        self.sandbox = self.call("POST", "/v1/sandboxes", {})["sandbox"]["id"]

    def call(self, method: str, path: str, body: object = None) -> dict:
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.key}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=660) as response:
            return json.load(response)

    def context(self, **choice: str) -> str:
        path = f"/v1/sandboxes/{self.sandbox}/code/contexts"
        return self.call("POST", path, choice)["context"]["id"]

    def binding_of(self, engine: str) -> str:
        return next(row["name"] for row in self.call("GET", "/v1/bindings")["data"] if row["engine"] == engine)

    def run(self, context: str, language: str, code: str) -> dict:
        body = {"contextId": context, "language": language, "code": code, "timeoutMs": 600000}
        run = self.call("POST", f"/v1/sandboxes/{self.sandbox}/code/runs", body)["run"]
        assert run["status"] == "ok", run
        return run

    def evict(self, context: str) -> None:
        self.call("POST", f"/v1/sandboxes/{self.sandbox}/code/contexts/{context}/evict", {})


def answer_and_seconds(output: str) -> tuple[str, float]:
    *answer, seconds = output.strip().splitlines()
    return "\n".join(answer), float(seconds)


def cpu_table(
    server: Server, engine: str, language: str, table: dict[str, str], native: list[str], rounds: int
) -> list[str]:
    frame = {"python": programs.PYTHON_FRAME, "javascript": programs.JAVASCRIPT_FRAME}[language]
    context = server.context(binding=server.binding_of(engine))
    lines = ["| program | context (ms) | native (ms) | ratio |", "| --- | --- | --- | --- |"]
    ratios = []
    for name, program in table.items():
        code = program + frame
        ours, theirs = [], []
        for _ in range(rounds):
            answer, seconds = answer_and_seconds(server.run(context, language, code)["stdout"])
            ours.append(seconds)
            output = subprocess.run(
                [*native, code], capture_output=True, text=True, check=True, timeout=600
            ).stdout
            expected, seconds = answer_and_seconds(output)
            theirs.append(seconds)
            assert answer == expected, (name, answer, expected)
        ratio = min(ours) / min(theirs)
        ratios.append(ratio)
        lines.append(f"| {name} | {min(ours) * 1e3:.1f} | {min(theirs) * 1e3:.1f} | {ratio:.2f} |")
    lines.append(f"| **geometric mean** | | | **{statistics.geometric_mean(ratios):.2f}** |")
    return lines


def percentiles(values: list[float]) -> str:
    values = sorted(values)
    return f"{values[len(values) // 2]:.2f} / {values[int(len(values) * 0.99)]:.2f}"


def latency_table(server: Server, samples: int) -> list[str]:
    lines = [
        "| | client, whole request | guest | snapshot | resume | stored bytes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for language, code in (("python", "y = 1"), ("javascript", "let y = 1"), ("typescript", "let y: number = 1")):
        for between in ("warm", "evicted"):
            context = server.context(language=language)
            server.run(context, language, code)
            client, guest, snapshot, resume, stored = [], [], [], [], []
            for _ in range(samples):
                if between == "evicted":
                    server.evict(context)
                start = time.perf_counter()
                run = server.run(context, language, code)
                client.append((time.perf_counter() - start) * 1e3)
                guest.append(run["usage"]["wallMs"])
                snapshot.append(run["context"]["snapshotMs"])
                resume.append(run["context"]["resumeMs"])
                stored.append(run["context"]["snapshotBytes"])
            lines.append(
                f"| {language}, {between} | {percentiles(client)} | {percentiles(guest)} | {percentiles(snapshot)} "
                f"| {percentiles(resume) if between == 'evicted' else '–'} | {int(statistics.median(stored))} |"
            )
    return lines


def machine() -> str:
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown")
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, load {load:.1f} at the start"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--python")
    parser.add_argument("--javascript")
    parser.add_argument("--data", help="a Python with NumPy and pandas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=200)
    arguments = parser.parse_args()
    print(f"Machine: {machine()}.\n")
    server = Server(arguments.url, arguments.key)
    for title, engine, language, table, native in (
        ("Python against the same CPython built natively with -O3", "python-3.13", "python", programs.PYTHON,
         arguments.python and [arguments.python, "-S", "-c"]),
        ("JavaScript against the same QuickJS built natively with -O3", "javascript", "javascript", programs.JAVASCRIPT,
         arguments.javascript and [arguments.javascript]),
        ("NumPy and pandas against the same versions built natively, without a BLAS", "python-data-3.13", "python", DATA,
         arguments.data and [arguments.data, "-c"]),
    ):
        if native:
            print(f"## {title}\n")
            print("\n".join(cpu_table(server, engine, language, table, native, arguments.rounds)), "\n")
    print(f"## Latency of the smallest run (ms, p50 / p99, {arguments.samples} samples)\n")
    print("\n".join(latency_table(server, arguments.samples)))


if __name__ == "__main__":
    main()
