"""The transcript is for people: what was said, and nothing an agent says becomes markup."""

from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

import pytest

from inspector.core.entries import FailureKind
from inspector.views import together
from inspector.views.export_markdown import markdown

if TYPE_CHECKING:
    from conftest import Script

STARTED = datetime.fromisoformat("2026-11-20T10:02:10+01:00")


def transcript(script: "Script") -> str:
    views = reduce(together.step, script.entries, together.EMPTY)
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
