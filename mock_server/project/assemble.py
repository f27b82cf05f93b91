"""The pure core of the loader: YAML texts in, an assistant out, all problems at once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from mock_server.dialogue.assistant import Assistant
from mock_server.dialogue.default_actions import DEFAULT_ACTIONS
from mock_server.dialogue.model import Slot
from mock_server.dialogue.stubs import action_of
from mock_server.errors import Problem, ProjectError
from mock_server.project.agent_config import read_agents
from mock_server.project.agents import with_agents
from mock_server.project.builtin import builtin
from mock_server.project.code import check_code
from mock_server.project.config import read_config
from mock_server.project.domain import Domain, carries_slots, read_domain
from mock_server.project.findings import Findings
from mock_server.project.flows import read_flows
from mock_server.project.lint import lint
from mock_server.project.mock_file import MockFile, read_mock_file
from mock_server.project.nodes import Node, parse
from mock_server.project.references import check_references
from mock_server.project.twins import check_twins
from mock_server.project.usage import Texts, check_usage
from mock_server.project.ways import check_ways

UNREAD = frozenset(
    {
        "project.encoding",
        "project.no_domain",
        "project.no_flows",
        "project.unreadable",
        "yaml.depth",
        "yaml.size",
        "yaml.syntax",
    }
)
CLARIFY_VARIABLE = "CLARIFY_ON_MULTIPLE_START_FLOWS"


@dataclass(frozen=True, slots=True)
class Sources:
    """A project's texts by their role; keys are the names that messages use.

    `code` are the Python files of its actions, read only to see which names occur there.
    """

    domain: Mapping[str, str] = field(default_factory=dict[str, str])
    flows: Mapping[str, str] = field(default_factory=dict[str, str])
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    endpoints: Mapping[str, str] = field(default_factory=dict[str, str])
    mock: Mapping[str, str] = field(default_factory=dict[str, str])
    agents: Mapping[str, str] = field(default_factory=dict[str, str])
    code: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Assembled:
    """An assistant, what else its files say, and the faults and warnings met on the way."""

    assistant: Assistant
    domain: Domain
    mock: MockFile
    faults: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def assemble(texts: Mapping[str, str]) -> Assistant:
    """The assistant of a project whose files are `texts`, by their path in its folder.

    Raises:
        ProjectError: with every problem that keeps it from being loaded.
    """
    found = Findings()
    assembled = assemble_sources(_by_role(texts), {}, found)
    if found.errors():
        raise ProjectError(sorted_problems(found.errors()))
    return assembled.assistant


def assemble_sources(
    sources: Sources, environment: Mapping[str, str], found: Findings
) -> Assembled:
    """Read all texts but `endpoints`; what keeps the project from being loaded is in `found`."""
    mock = read_mock_file(_only(sources.mock, found), environment, found)
    base = builtin(mock.patterns_profile)
    domain = read_domain(_parsed(sources.domain, found), found)
    slots: Mapping[str, Slot] = {**base.slots, **_declared(domain, base.slots)}
    files = read_flows(_parsed(sources.flows, found), slots, found)
    agents = read_agents(_parsed(sources.agents, found), found)
    config = read_config(_only(sources.config, found), found)
    stubbed = {action_of(name): stub.location for name, stub in mock.stubs.by_action.items()}
    assistant = Assistant(
        assistant_id=config.assistant_id,
        language=config.language,
        additional_languages=config.additional_languages,
        flows=with_agents({**base.flows, **files.flows}, agents, mock.scripts, found),
        slots=slots,
        responses={**base.responses, **domain.responses},
        actions=frozenset((*domain.actions, *(stubbed.keys() & DEFAULT_ACTIONS.keys()))),
        actions_every_turn=_every_turn(slots.values()),
        max_characters=config.max_characters,
        rejected_scope=mock.rejected_scope,
        understand=mock.understand,
        tools=mock.tools,
        carries_slots=carries_slots(domain),
        clarify_on_multiple_starts=_is_true(environment.get(CLARIFY_VARIABLE)),
    )
    mentions = (*domain.mentions, *files.mentions, *mock.mentions)
    check_ways(files.untangled(), found)
    check_twins(files.flows.values(), found)
    if not found.count(UNREAD):  # all that an unread file defines would be called unknown
        check_references(assistant, mentions, {*agents, *mock.scripts}, found)
        lint(assistant, files.flows, mentions, stubbed, found)
    if not found.errors():  # a misspelled name would be reported as an unused one, too
        texts = Texts(
            sources.flows.values(), sources.mock.values(), sources.code.values(), base.responses
        )
        check_usage(assistant, domain, mentions, texts, found)
        check_code(sources.code, assistant.slots, found)
    return Assembled(
        assistant, domain, mock, sorted_problems(found.faults), sorted_problems(found.warnings())
    )


def sorted_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(set(problems), key=lambda p: (p.location, p.code, p.text)))


def _declared(domain: Domain, builtin_slots: Mapping[str, Slot]) -> Mapping[str, Slot]:
    """The domain's slots; one of Rasa's own that it declares again stays Rasa's own."""
    return {
        name: replace(slot, is_builtin=name in builtin_slots) for name, slot in domain.slots.items()
    }


def _every_turn(slots: Iterable[Slot]) -> tuple[str, ...]:
    actions = (slot.action_every_turn for slot in slots)
    return tuple(dict.fromkeys(action for action in actions if action is not None))


def _is_true(value: str | None) -> bool:
    return value is not None and value.strip().lower() in {"true", "1"}


def _parsed(texts: Mapping[str, str], found: Findings) -> Mapping[str, Node | None]:
    return {file: parse(file, text, found) for file, text in texts.items()}


def _only(texts: Mapping[str, str], found: Findings) -> Node | None:
    return next(iter(_parsed(texts, found).values()), None)


def _by_role(texts: Mapping[str, str]) -> Sources:
    def role(holds: Callable[[str], bool]) -> Mapping[str, str]:
        return {file: text for file, text in sorted(texts.items()) if holds(file)}

    return Sources(
        domain=role(lambda file: file == "domain.yml" or file.startswith("domain/")),
        flows=role(lambda file: file.startswith("data/")),
        config=role(lambda file: file in {"config.yml", "config/config.yml"}),
        endpoints=role(lambda file: file == "endpoints.yml"),
        mock=role(lambda file: file == "mock.yml"),
        agents=role(lambda file: file.startswith("sub_agents/")),
        code=role(lambda file: file.endswith(".py")),
    )
