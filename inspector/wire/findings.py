"""What is wrong or odd in a payload, with the section of the specification that says so."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`path` is a JSON path such as `$.result.status.state`; `section` e.g. `A2A 0.3 §6.3`."""

    severity: Severity
    section: str
    path: str
    message: str
