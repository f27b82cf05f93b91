"""The results of test cases as JUnit XML, which build servers read."""

from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mock_server.e2e.report import Report, failure_lines, skip_reason
from mock_server.e2e.results import CaseResult, Outcome
from mock_server.e2e.spelling import spell
from mock_server.xml_text import xml_text


def as_xml(report: Report) -> str:
    """One `testsuite` a file, one `testcase` a case."""
    root = Element("testsuites", _totals(report))
    timed = zip(report.results, report.seconds, strict=True)
    for file, of_file in groupby(timed, key=lambda pair: pair[0].case.location.file):
        results, seconds = zip(*of_file, strict=True)
        suite = SubElement(
            root, "testsuite", _totals(Report(results, seconds)), name=xml_text(file)
        )
        for result, took in zip(results, seconds, strict=True):
            _add_case(suite, result, took)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _totals(report: Report) -> dict[str, str]:
    return {
        "tests": str(len(report.results)),
        "failures": str(report.count(Outcome.FAILED)),
        "errors": "0",
        "skipped": str(report.count(Outcome.SKIPPED)),
        "time": f"{sum(report.seconds):.6f}",
    }


def _add_case(suite: Element, result: CaseResult, seconds: float) -> None:
    case = result.case
    element = SubElement(
        suite,
        "testcase",
        name=xml_text(case.name),
        classname=xml_text(case.location.file),
        file=xml_text(case.location.file),
        line=str(case.location.line),
        time=f"{seconds:.6f}",
    )
    if result.failure:
        missed = "; ".join(spell(expectation.demand) for expectation in result.failure.missed)
        failure = SubElement(element, "failure", message=xml_text(f"expected {missed}"))
        failure.text = xml_text("\n".join(failure_lines(result.failure)))
    elif result.judged:
        SubElement(element, "skipped", message=xml_text(skip_reason(result)))
