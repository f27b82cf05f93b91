"""A Rasa assistant's sub agents as targets: what each `config.yml` says, and every mistake in it.

Rules: server.md AGENT-1 and AGENT-2, from Rasa's pages "Overview" and "External Sub Agent".
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.credentials import api_key_scheme, header_of
from inspector.core.project import compose, shown, yaml_files
from inspector.errors import UsageError
from inspector.folders import typed_path
from inspector.wire.card import BEARER, KEY, Scheme
from inspector.wire.urls import mask_url, split_url

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

FOLDER = "sub_agents"
CONFIG = "config.yml"
A2A, REACT = "A2A", "RASA"
LOCK = "TICKET_LOCK_LIFETIME"
# Rasa's, where the variable is not set
LOCK_SECONDS = 60.0
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SHAPES = ("header_name", "header_format")
_WAYS = ("api_key", "oauth", "token")


@dataclass(frozen=True, slots=True)
class Auth:
    """The header that a config's `auth` leads to, and the secret in it.

    `problems` say why it cannot be used here, though the file is right.
    """

    header: tuple[str, str] = field(default=("", ""), repr=False)
    secret: str = field(default="", repr=False)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubAgent:
    """`card` is a URL or a file; "" where there is a problem, or where Rasa itself runs the agent.

    `place` is where its protocol is told. `problems` are the mistakes of the config and `remarks`
    its risks. All have `file:line`.
    """

    name: str
    config: Path
    place: str = ""
    card: str = ""
    auth: Auth | None = None
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def is_project(path: Path) -> bool:
    """Say whether `path` is a folder or a `config.yml`, whatever is in it."""
    return path.is_dir() or path.name == CONFIG


def find_sub_agents(
    path: Path, environment: Mapping[str, str] = os.environ
) -> tuple[SubAgent, ...]:
    """The sub agents of a project, or the one of a `sub_agents/<name>/` folder or its config.

    Raises:
        UsageError: there is none.
    """
    path = typed_path(str(path)).absolute()
    if path.name != CONFIG and path.parent.name == FOLDER and (path / CONFIG).is_file():
        path = path / CONFIG
    configs = [path] if path.name == CONFIG else sorted(path.glob(f"{FOLDER}/*/{CONFIG}"))
    if not configs:
        raise UsageError(
            f"{path}: no {FOLDER}/*/{CONFIG} here",
            "name the folder of a Rasa assistant that has sub agents, or an agent's URL",
        )
    root = _root(configs[0])
    siblings = sorted({*root.glob(f"{FOLDER}/*/{CONFIG}"), *configs})
    read = {config: _Config(config, environment) for config in siblings}
    return tuple(
        read[config].agent(root, [one for one in read.values() if one.file != config])
        for config in configs
    )


def sub_agent_at(path: Path, environment: Mapping[str, str] = os.environ) -> SubAgent:
    """The one sub agent that is reached over A2A.

    Raises:
        UsageError: there is none, it takes a choice, or a config has mistakes: all are told.
    """
    agents = find_sub_agents(path, environment)
    problems = [
        text
        for agent in agents
        if agent.problems
        for text in (*agent.problems, *(agent.auth.problems if agent.auth else ()))
    ]
    if problems:
        raise mistakes(path, problems)
    usable = [agent for agent in agents if agent.card]
    if len(usable) == 1:
        return usable[0]
    if not usable:
        places = ", ".join(agent.place for agent in agents)
        raise UsageError(
            f"{places}: the protocol is {REACT}, Rasa's default: Rasa itself runs such an agent, "
            "and there is none to connect to",
            f"if the agent runs elsewhere, write `protocol: {A2A}`",
        )
    choices = ", ".join(f"{path / FOLDER / agent.config.parent.name}" for agent in usable)
    raise UsageError(f"{path} has {len(usable)} sub agents", f"name one of them: {choices}")


def mistakes(path: Path, problems: Sequence[str]) -> UsageError:
    """The error that tells all `problems` of the sub agents at `path`."""
    if len(problems) == 1:
        return UsageError(problems[0])
    lines = "".join(f"\n  {problem}" for problem in problems)
    return UsageError(f"{path}: {len(problems)} mistakes{lines}")


def _root(config: Path) -> Path:
    """The project that the config belongs to."""
    folder = config.parent
    return folder.parent.parent if folder.parent.name == FOLDER else folder


@dataclass(frozen=True, slots=True)
class _Entry:
    """What stands at a key: `path` leads there from the root."""

    path: str
    line: int
    node: "Node | None"


@dataclass(frozen=True, slots=True)
class _Mapping:
    path: str
    line: int
    entries: Mapping[str, _Entry]


class _Config:
    """Reads one config and collects what is wrong with it."""

    def __init__(self, file: Path, environment: Mapping[str, str]) -> None:
        self.file = file
        self._environment = environment
        self._problems: list[tuple[int, str]] = []
        self._unusable: list[tuple[int, str]] = []
        self._remarks: list[tuple[int, str]] = []
        self._broken = ""
        try:
            self._top = self._mapping(_Entry("", 1, compose(file)))
        except UsageError as error:
            self._broken = error.text
            self._top = None
        self._agent = self._below(self._top, "agent")

    @property
    def name(self) -> _Entry | None:
        """Where the config names its agent."""
        return self._agent.entries.get("name") if self._agent else None

    def agent(self, root: Path, siblings: "Sequence[_Config]") -> SubAgent:
        """The sub agent that the config describes, in the project at `root`."""
        folder = self.file.parent.name
        if self._top is None:
            problems = (self._broken,) if self._broken else self._placed(self._problems)
            return SubAgent(folder, self.file, problems=problems)
        if "agent" not in self._top.entries:
            self._problem(1, "agent is missing; write `agent: {name: …, description: …}`")
        name = self._required(self._agent, "name", "the name that flows call it by")
        self._required(self._agent, "description", "a sentence about what it can do")
        protocol = self._protocol()
        self._check_name(name, root, siblings)
        settings = self._below(self._top, "configuration")
        card = self._card(settings, root) if protocol == A2A else ""
        self._check_numbers(settings)
        self._text(settings, "module")
        auth = self._auth(self._below(settings, "auth"))
        return SubAgent(
            name or folder,
            self.file,
            self._place(self._line_of_protocol()),
            "" if self._problems else card,
            auth and replace(auth, problems=self._placed(self._unusable)),
            self._placed(self._problems),
            self._placed(self._remarks),
        )

    # What the agent is called

    def _line_of_protocol(self) -> int:
        if self._agent is None:
            return 1
        return self._agent.entries.get("protocol", self._agent).line

    def _protocol(self) -> str:
        found = self._text(self._agent, "protocol") or REACT
        if self._agent is not None and found.upper() not in (A2A, REACT):
            entry = self._agent.entries["protocol"]
            self._problem(entry.line, f"{entry.path} is {found!r}, expected {A2A} or {REACT}")
        return found.upper()

    def _check_name(self, name: str, root: Path, siblings: "Sequence[_Config]") -> None:
        place = self.name
        if place is None or not name:
            return
        same = (one.place_of_name(name) for one in siblings)
        taken = [f"another sub agent has it, at {at}" for at in same if at]
        taken += [f"a flow has it, at {at}" for at in _flows_named(name, root)]
        for text in taken:
            self._problem(place.line, f"{place.path} {name!r}: {text}; rename one of the two")

    def place_of_name(self, name: str) -> str:
        """Where the config names its agent `name`; "" where it does not."""
        found = self.name
        return self._place(found.line) if found and _scalar(found.node) == name else ""

    # Where it is and how long Rasa waits for it

    def _card(self, settings: _Mapping | None, root: Path) -> str:
        if self._top is not None and "configuration" not in self._top.entries:
            self._problem(
                self._top.entries["agent"].line, "configuration is missing; name its agent_card"
            )
        card = self._required(settings, "agent_card", "the card's URL, or its file")
        if settings is None or not card:
            return ""
        entry, file = settings.entries["agent_card"], root / card
        if "://" in card and split_url(card) is None:
            text = f"{mask_url(card)!r} is not a URL that can be reached; use http://HOST:PORT or https://…"
            self._problem(entry.line, f"{entry.path}: {text}")
        if "://" in card:
            return card
        if not os.path.isfile(file):
            text = f"there is no file {shown(file)!r}; a path starts at the project's root"
            self._problem(entry.line, f"{entry.path}: {text}")
        return str(file)

    def _check_numbers(self, settings: _Mapping | None) -> None:
        if settings is None:
            return
        for key in ("max_polling_time", "polling_initial_delay", "timeout"):
            text = self._text(settings, key)
            if not text:
                continue
            entry, seconds = settings.entries[key], _number(text)
            if seconds is None or seconds <= 0:
                text = f"is {text!r}, expected a number of seconds above 0"
                self._problem(entry.line, f"{entry.path} {text}")
            elif key == "max_polling_time":
                self._check_lock(entry, seconds)
        retries = self._text(settings, "max_retries")
        if retries and not re.fullmatch("[0-9]+", retries):
            entry = settings.entries["max_retries"]
            self._problem(entry.line, f"{entry.path} is {retries!r}, expected 0, 1, 2 …")

    def _check_lock(self, entry: _Entry, seconds: float) -> None:
        lock = _number(self._environment.get(LOCK, "")) or LOCK_SECONDS
        if seconds > lock:
            text = f"is {seconds:g} s, but Rasa locks a conversation for {lock:g} s"
            self._remarks.append((entry.line, f"{entry.path} {text}; set {LOCK}={seconds:g} there"))

    # How it is called

    def _auth(self, auth: _Mapping | None) -> Auth | None:
        if auth is None:
            return None
        known = (*_WAYS, *_SHAPES)
        for key, entry in auth.entries.items():
            if key not in known:
                near = get_close_matches(key, known, 1)
                fix = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
                self._problem(entry.line, f"{entry.path} is unknown; {fix}")
        ways = [key for key in auth.entries if key in _WAYS]
        if not ways:
            self._problem(auth.line, f"{auth.path} has none of {', '.join(_WAYS)}")
        for way in ways[1:]:
            text = f"{auth.path} has both {ways[0]} and {way}; keep one"
            self._problem(auth.entries[way].line, text)
        self._check_oauth(self._below(auth, "oauth"))
        scheme = self._scheme(auth)
        key, token = self._header(auth, "api_key", scheme), self._header(auth, "token", BEARER)
        return key or token or Auth(((scheme or BEARER).header, ""))

    def _scheme(self, auth: _Mapping) -> Scheme | None:
        """How an API key is sent; None where no header can be sent so."""
        shapes = [auth.entries[key] for key in _SHAPES if key in auth.entries]
        name, template = (self._text(auth, key) for key in _SHAPES)
        if "api_key" not in auth.entries:
            for entry in shapes:
                self._problem(entry.line, f"{entry.path} has no effect without api_key")
            return None
        empty = [entry for entry in shapes if _scalar(entry.node) == ""]
        for entry in empty:
            self._problem(entry.line, f"{entry.path} is empty")
        if template and KEY not in template:
            entry = auth.entries["header_format"]
            self._problem(entry.line, f"{entry.path} has no {KEY}, which stands for the key")
            return None
        scheme = api_key_scheme(name or None, template or None)
        try:
            for entry in shapes:
                header_of(scheme, KEY, entry.path)
        except UsageError as error:
            self._problem(shapes[0].line, error.text)
            return None
        return scheme

    def _header(self, auth: _Mapping, key: str, scheme: Scheme | None) -> Auth | None:
        secret = self._secret(auth, key)
        if not secret or scheme is None:
            return None
        entry = auth.entries[key]
        try:
            header = header_of(scheme, secret, entry.path)
        except UsageError as error:
            self._unusable.append((entry.line, error.text))
            return None
        return Auth(header, secret)

    def _check_oauth(self, oauth: _Mapping | None) -> None:
        if oauth is None:
            return
        self._required(oauth, "client_id", "what the token_url knows you by")
        url = self._required(oauth, "token_url", "the URL that gives tokens")
        if url and split_url(url) is None:
            entry = oauth.entries["token_url"]
            self._problem(entry.line, f"{entry.path}: {mask_url(url)!r} is not a URL")
        if "client_secret" not in oauth.entries:
            text = 'client_secret is missing; write client_secret: "${CLIENT_SECRET}"'
            self._problem(oauth.line, f"{oauth.path}.{text}")
        self._secret(oauth, "client_secret")
        self._text(oauth, "scope")
        text = "a2a-inspect cannot get OAuth tokens yet; get one at the token_url, export it"
        self._unusable.append((oauth.line, f"{oauth.path}: {text}, and add --token-env VARIABLE"))

    def _secret(self, mapping: _Mapping, key: str) -> str:
        """The secret in the variable that is named at `key`; "" where there is a problem.

        What the file holds is not quoted: it may be the secret itself.
        """
        text = self._written(mapping, key)
        if text is None:
            return ""
        entry, variable = mapping.entries[key], _VARIABLE.fullmatch(text)
        if variable is None:
            what = "is written out" if text else "is empty"
            fix = f'name a variable: {key}: "${{{key.upper()}}}"'
            self._problem(entry.line, f"{entry.path} {what}; {fix}")
            return ""
        value = self._environment.get(variable[1])
        if value is None or not value.strip():
            what = "is not set" if value is None else "is empty"
            text = f"the variable {variable[1]} {what}; export {variable[1]}=… first"
            self._unusable.append((entry.line, f"{entry.path}: {text}"))
            return ""
        return value.strip()

    # Keys and values

    def _below(self, mapping: _Mapping | None, key: str) -> _Mapping | None:
        entry = mapping.entries.get(key) if mapping else None
        return self._mapping(entry) if entry else None

    def _mapping(self, entry: _Entry) -> _Mapping | None:
        """The keys at `entry`; anything else, and a key that comes twice, is a problem."""
        from ruamel.yaml.nodes import MappingNode, ScalarNode

        if not isinstance(entry.node, MappingNode):
            self._problem(entry.line, f"{entry.path or 'the file'} has no keys")
            return None
        entries: dict[str, _Entry] = {}
        for key, node in entry.node.value:
            if not isinstance(key, ScalarNode):
                continue
            name = key.value if key.value.isprintable() else repr(key.value)
            path = f"{entry.path}.{name}".lstrip(".")
            line = key.start_mark.line + 1
            if key.value in entries:
                self._problem(line, f"{path} is there twice; remove one")
            entries[key.value] = _Entry(path, line, node)
        return _Mapping(entry.path, entry.line, entries)

    def _required(self, mapping: _Mapping | None, key: str, what: str) -> str:
        if mapping is None:
            return ""
        if key not in mapping.entries:
            self._problem(mapping.line, f"{mapping.path}.{key} is missing; write {what}")
            return ""
        entry, text = mapping.entries[key], self._text(mapping, key)
        if _scalar(entry.node) == "":
            self._problem(entry.line, f"{entry.path} is empty; write {what}")
        return text

    def _text(self, mapping: _Mapping | None, key: str) -> str:
        """The text at `key` with its variables filled in; "" where there is none."""
        text = self._written(mapping, key)
        if mapping is None or not text:
            return ""
        entry = mapping.entries[key]
        for name in _VARIABLE.findall(text):
            if name not in self._environment:
                problem = f"the variable {name} is not set; export {name}=… first"
                self._problem(entry.line, f"{entry.path}: {problem}")
                return ""
        return _VARIABLE.sub(lambda match: self._environment[match[1]], text).strip()

    def _written(self, mapping: _Mapping | None, key: str) -> str | None:
        entry = mapping.entries.get(key) if mapping else None
        if entry is None:
            return None
        text = _scalar(entry.node)
        if text is None:
            self._problem(entry.line, f"{entry.path} is not a text")
        return text

    def _problem(self, line: int, text: str) -> None:
        self._problems.append((line, text))

    def _placed(self, problems: Sequence[tuple[int, str]]) -> tuple[str, ...]:
        """The texts with their places, in the order of the lines."""
        return tuple(f"{self._place(line)}: {text}" for line, text in sorted(problems))

    def _place(self, line: int) -> str:
        return f"{shown(self.file)}:{line}"


def _scalar(node: "Node | None") -> str | None:
    """The text of `node`, "" for nothing; None for a list or a mapping."""
    from ruamel.yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode):
        return None
    return "" if str(node.tag).endswith(":null") else str(node.value).strip()


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _flows_named(name: str, root: Path) -> Iterator[str]:
    """Where the project at `root` has a flow of that id; only files that may are parsed."""
    key = re.compile(rf"^\s*['\"]?{re.escape(name)}['\"]?\s*:", re.MULTILINE)
    for file in yaml_files(root / "data"):
        try:
            if not key.search(file.read_text(encoding="utf-8", errors="replace")):
                continue
            top = compose(file)
        except (OSError, UsageError):
            # what is wrong with the assistant's flows is not the target's business
            continue
        for section, flows in _pairs(top):
            lines = (id.start_mark.line + 1 for id, _ in _pairs(flows) if _scalar(id) == name)
            if _scalar(section) == "flows":
                yield from (f"{shown(file)}:{line}" for line in lines)


def _pairs(node: "Node | None") -> "Sequence[tuple[Node, Node]]":
    """The keys and values of a mapping; none of anything else."""
    from ruamel.yaml.nodes import MappingNode

    return node.value if isinstance(node, MappingNode) else ()
