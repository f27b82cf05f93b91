"""The transcript is for people: what was said, and nothing an agent says becomes markup."""

from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

import pytest

from inspector.net.events import FailureKind
from inspector.views import log_views
from inspector.views.session_exports import markdown

if TYPE_CHECKING:
    from conftest import Script


STARTED = datetime.fromisoformat("2026-11-20T10:02:10+01:00")


def transcript(script: "Script") -> str:
    views = reduce(log_views.step, script.entries, log_views.EMPTY)
    return markdown(views, STARTED, "Refunds", "http://a/")


@pytest.mark.req("WIRE-3")
def test_transcript_tells_turns_states_slots_and_buttons(script: "Script") -> None:
    data = {"state": "input_required", "active_flow": "transfer_money", "slots": {"amount": 50}}
    question = "Which account?\n1: checking (/SetSlots(account=checking))"
    script.send("send 50 to Joe", metadata={"slots": {"vip": True}})
    script.reply(script.task("input-required", question, data=data))
    assert transcript(script) == (
        "# Refunds\n"
        "\n"
        "agent at `http://a/`, 2026-11-20 10:02:10 +0100\n"
        "\n"
        "## 10:02:10 You\n"
        "\n"
        "> send 50 to Joe  \n"
        "\n"
        "Slots as metadata: vip = `true`\n"
        "\n"
        "## 10:02:10 agent · input-required\n"
        "\n"
        "> Which account?  \n"
        "\n"
        "1. checking `/SetSlots(account=checking)`\n"
        "\n"
        "Flow: `transfer_money`\n"
        "\n"
        "| Slot | Value | |\n"
        "| --- | --- | --- |\n"
        "| amount | `50` | new |\n"
    )


def test_words_of_an_agent_make_no_markup(script: "Script") -> None:
    hostile = "# head\n![x](http://evil/)\n<script>\n1. one\n- two\n`code` | *b*\n\x1b[31mred"
    script.send("hi").reply(script.task("completed", hostile))
    said = [line for line in transcript(script).splitlines() if line.startswith("> ")]
    assert said[1:] == [
        r"> \# head  ",
        r"> !\[x\](http://evil/)  ",
        r"> \<script\>  ",
        r"> 1\. one  ",
        r"> \- two  ",
        r"> \`code\` \| \*b\*  ",
        "> red",
    ]


def test_failure_is_told_with_its_cause(script: "Script") -> None:
    script.send("hi").fail(FailureKind.CONNECT, "refused")
    assert "    POST http://a/: refused\n" in transcript(script)


def test_session_without_a_word_says_so(script: "Script") -> None:
    assert transcript(script).endswith("\nNothing was said.\n")


@pytest.mark.req("WIRE-3")
def test_transcript_tells_what_became_of_slots_and_what_was_odd(script: "Script") -> None:
    script.send("hi").reply(
        script.task("input-required", "And?", data={"slots": {"amount": 50, "gone": "soon"}})
    )
    data = {
        "state": "failed",
        "slots": {"amount": 60},
        "persisted_slots": {"amount": 60},
        "reason": "timeout",
        "error_type": "action_failed",
    }
    artifact = {"artifactId": "a1", "name": "bill", "parts": [{"kind": "text", "text": "60 EUR"}]}
    script.send("60", taskId="t").respond(media_type="text/plain")
    script.result(script.task("failed", "No.", data=data, artifacts=[artifact])).end()
    told = transcript(script).partition("> No.")[2]
    assert "| amount | `50` → `60` | changed |\n" in told
    assert '| gone | `"soon"` → none | cleared |\n' in told
    assert "Persisted: amount = `60`\n" in told
    assert "Reason: `timeout`\n" in told
    assert "Error: `action_failed`\n" in told
    assert "Artifact bill:\n\n> 60 EUR  \n" in told
    assert "- warning: content type 'text/plain', expected application/json (A2A 0.3" in told
