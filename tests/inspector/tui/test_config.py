"""What a user's config.toml may say, and what is said of it where it is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.saved.quota import NOT_A_SIZE
from inspector.tui.config import FILE, parse_config, read_config
from inspector.tui.keys import KEYS, Key, Keymap, keymap_of


def key_of(keymap: Keymap, name: str) -> Key:
    return next(key for key in keymap.keys if key.name == name)


def test_without_a_file_everything_is_as_it_was(tmp_path: Path) -> None:
    config = read_config(tmp_path)
    assert (config.theme, config.symbols, config.problems) == ("", "auto", ())
    assert keymap_of(config) == Keymap()
    assert not Keymap().overrides()


@pytest.mark.req("TUI-1")
def test_theme_symbols_and_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(
        'theme = "clear"\nsymbols = "ascii"\n[keys]\nresend = ["Z", "alt+r"]\nwire = "ctrl+w"\n'
    )
    config = read_config(tmp_path)
    keymap = keymap_of(config)
    assert (config.theme, config.symbols, keymap.problems) == ("clear", "ascii", ())
    assert key_of(keymap, "resend").letters == "Z"
    assert keymap.overrides() == {
        "resend.letters": "Z",
        "resend.controls": "alt+r",
        "wire.letters": "w",
        "wire.controls": "ctrl+w",
    }


@pytest.mark.req("TUI-1")
def test_two_actions_may_swap_their_keys() -> None:
    keymap = keymap_of(parse_config('[keys]\nresend = "x"\nstop = "r"\n'))
    assert not keymap.problems
    assert (key_of(keymap, "resend").letters, key_of(keymap, "stop").letters) == ("x", "r")


@pytest.mark.req("TUI-1")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('theme = "cler"', "config.toml:1: unknown theme 'cler'; did you mean 'clear'?"),
        ("symbols = 3", "config.toml:1: unknown symbols '3'; one of auto, unicode, ascii"),
        ("sessions_mb = 'x'", f"config.toml:1: {NOT_A_SIZE}"),
        ("\nkey = 1", "config.toml:2: unknown setting 'key'; did you mean 'keys'?"),
        ("keys = 1", "config.toml:1: [keys] is a table of actions and their keys"),
        ('[keys]\nwyre = "w"', "config.toml:2: unknown action 'wyre'; did you mean 'wire'?"),
        ("[keys]\nwire = 1", "config.toml:2: keys.wire is a key or a list of keys"),
        ('[keys]\nwire = "x"', "config.toml:2: x is the key of 'stop'; 'wire' keeps w, F2"),
        ('[keys]\nwire = "j"', "config.toml:2: j is down in a panel and cannot be the key of"),
        ('[keys]\nwire = "ctrl+m"', "config.toml:2: ^M is Enter to a terminal"),
        ('[keys]\nwire = "hyper"', "config.toml:2: 'hyper' is not a key"),
        ("theme = ", "config.toml: Invalid value (at"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_the_default_stays(text: str, problem: str) -> None:
    keymap = keymap_of(parse_config(text))
    assert len(keymap.problems) == 1
    assert keymap.problems[0].startswith(problem)
    assert keymap.keys == KEYS


def test_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff")
    assert read_config(tmp_path).problems[0].startswith("config.toml: 'utf-8' codec")


@pytest.mark.req("TUI-1")
def test_each_default_key_has_one_action() -> None:
    owners: dict[str, list[str]] = {}
    for key in KEYS:
        for one in f"{key.letters},{key.controls}".split(","):
            owners.setdefault(one, []).append(key.name)
    assert {key: names for key, names in owners.items() if key and len(names) > 1} == {}


@given(
    st.dictionaries(
        st.sampled_from([key.name for key in KEYS]), st.sampled_from("wxrtnabcdefgh"), max_size=8
    )
)
def test_no_key_ever_means_two_actions(wanted: dict[str, str]) -> None:
    written = "".join(f'{name} = "{key}"\n' for name, key in wanted.items())
    keymap = keymap_of(parse_config(f"[keys]\n{written}"))
    keys = [one for key in keymap.keys for one in f"{key.letters},{key.controls}".split(",") if one]
    assert len(keys) == len(set(keys))


@pytest.mark.req("TUI-1")
def test_keys_that_tmux_and_screen_take_stay_free() -> None:
    assert not {"ctrl+a", "ctrl+b"} & {one for key in KEYS for one in key.controls.split(",")}


def test_first_problem_is_told_at_the_start_and_where_the_others_are() -> None:
    assert Keymap().remark == ""
    two = keymap_of(parse_config('theme = "x"\nsymbols = "y"\n'))
    assert two.remark.startswith("config.toml:1: unknown theme 'x'")
    assert two.remark.endswith("; F1 shows 1 more")
