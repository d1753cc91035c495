# SPDX-License-Identifier: Apache-2.0
"""Case 5: nothing unseeded repeats; what the user seeded goes on."""

import random

import pytest

from conftest import Between
from quick.client import Context, Sandbox

DRAW = {
    "python": "import random, uuid, os, secrets, tempfile\n"
    "random.random(), uuid.uuid4(), os.urandom(4), secrets.token_hex(4), tempfile.mktemp(), random.Random().random(), random.SystemRandom().random(), random.getrandbits(64)",
    "javascript": "[Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)).join(), require('crypto').randomBytes(4).toString('hex')]",
    "typescript": "[Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)).join()] as unknown[]",
}


def pieces(text: str | None) -> list[str]:
    assert text is not None
    return [part.strip(" ()[]") for part in text.split(", ")]


@pytest.mark.parametrize("language", DRAW)
def test_new_contexts_draw_different_numbers(sandbox: Sandbox, language: str) -> None:
    drawn = [pieces(sandbox.context(language).value(DRAW[language])) for _ in range(3)]
    for parts in zip(*drawn, strict=True):
        assert len(set(parts)) == 3, parts


@pytest.mark.parametrize("language", DRAW)
def test_forks_and_rollbacks_draw_different_numbers(
    sandbox: Sandbox, language: str, between: Between
) -> None:
    context = sandbox.context(language)
    generation = context.run(DRAW[language]).ok().context["generation"]
    between(context)
    drawn = [pieces(context.fork().value(DRAW[language])) for _ in range(3)]
    drawn.append(pieces(context.value(DRAW[language])))
    for _ in range(2):
        context.rollback(generation)
        between(context)
        drawn.append(pieces(context.value(DRAW[language])))
    for parts in zip(*drawn, strict=True):
        assert len(set(parts)) == len(drawn), parts


def test_a_seeded_sequence_goes_on(python: Context, between: Between) -> None:
    expected = random.Random(7)
    assert python.value("import random; random.seed(7); random.random()") == repr(expected.random())
    for _ in range(3):
        between(python)
        assert python.value("random.random()") == repr(expected.random())
    python.run("own = random.Random('text'); own.random()").ok()
    between(python)
    mine = random.Random("text")
    mine.random()
    assert python.value("own.random()") == repr(mine.random())


def test_string_hashes_stay_within_a_context(python: Context, between: Between) -> None:
    python.run("s = {'a', 'b', 'ключ'}; d = {('x', 1): 2}; h = hash('ключ'), hash(b'x')").ok()
    between(python)
    assert (
        python.value("h == (hash('ключ'), hash(b'x')), 'ключ' in s, d['x', 1]") == "(True, True, 2)"
    )
    forked = python.fork()
    assert (
        forked.value("h == (hash('ключ'), hash(b'x')), 'ключ' in s, d['x', 1]") == "(True, True, 2)"
    )
