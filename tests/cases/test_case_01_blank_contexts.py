# SPDX-License-Identifier: Apache-2.0
"""Case 1: a new context is blank, whatever ran before it."""

import pytest

from conftest import NewServer
from quick.client import Client

GLOBALS = {
    "python": "sorted(globals())",
    "javascript": "Object.getOwnPropertyNames(globalThis).sort().join()",
    "typescript": "Object.getOwnPropertyNames(globalThis).sort().join()",
}
LEAVE = {
    "python": "probe = 1; import builtins, sys, os; builtins.leak = 1; sys.leak = 1; os.environ['LEAK'] = '1'; open('/tmp/leak', 'w').close()",
    "javascript": "const probe = 1; globalThis.leak = 1; Array.prototype.leak = 1; require('fs').leak = 1; process.env.LEAK = '1'",
    "typescript": "const probe: number = 1; (globalThis as any).leak = 1",
}
SEES = {
    "python": "import os, builtins, sys; 'probe' in globals(), hasattr(builtins, 'leak'), hasattr(sys, 'leak'), 'LEAK' in os.environ, os.listdir('/tmp')",
    "javascript": "[typeof probe, typeof leak, [].leak, require('fs').leak, process.env.LEAK]",
    "typescript": "[typeof probe, typeof leak]",
}
BLANK = {
    "python": "(False, False, False, False, [])",
    "javascript": "[ 'undefined', 'undefined', undefined, undefined, undefined ]",
    "typescript": "[ 'undefined', 'undefined' ]",
}


def blank_globals(client: Client, language: str) -> str | None:
    sandbox = client.sandbox()
    try:
        return sandbox.context(language).value(GLOBALS[language])
    finally:
        sandbox.delete()


def test_thirty_contexts_leave_nothing_behind(new_server: NewServer) -> None:
    client = new_server().client
    at_start = {language: blank_globals(client, language) for language in GLOBALS}
    sandbox = client.sandbox()
    ids = set()
    for _ in range(30):
        context = sandbox.context("javascript")
        context.run("const probe = 1").ok()
        ids.add(context.id)
        context.delete()
    assert len(ids) == 30
    assert {language: blank_globals(client, language) for language in GLOBALS} == at_start


@pytest.mark.parametrize("language", LEAVE)
def test_what_a_context_changes_is_its_own(client: Client, language: str) -> None:
    sandbox = client.sandbox()
    first, second = sandbox.context(language), sandbox.context(language)
    first.run(LEAVE[language]).ok()
    first.evict()
    assert second.value(SEES[language]) == BLANK[language]
    first.delete()
    assert sandbox.context(language).value(SEES[language]) == BLANK[language]
    sandbox.delete()
