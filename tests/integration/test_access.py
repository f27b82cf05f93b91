"""`a2a-mock serve` and `replicas` as machines elsewhere and web pages reach them."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from mock_server.errors import StartError
from mock_server.replicas import find_haproxy

if TYPE_CHECKING:
    from tests.integration.conftest import RunMock

EVERYWHERE = ("--interface", "0.0.0.0")
PUSHES = "a2a_server: {description: A bank, push_notifications_enabled: true}\n"


@pytest.fixture(scope="module")
def address() -> str:
    """An address of this machine that is not of its loopback: a peer elsewhere, to the mock."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        try:
            # Only the route is looked up: nothing is sent.
            channel.connect(("198.51.100.1", 9))
        except OSError as reason:
            pytest.skip(f"this machine has its loopback alone: {reason}")
        return str(channel.getsockname()[0])


@pytest.mark.req("ADMIN-1", "HTTP-3")
def test_headers_of_proxies_are_not_believed(
    run_mock: "RunMock", project: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    with run_mock(project, *EVERYWHERE) as mock:
        port = httpx.URL(mock.url).port
        claims = {"X-Forwarded-For": "127.0.0.1", "Host": f"localhost:{port}"}
        with httpx.Client(base_url=f"http://{address}:{port}", headers=claims) as elsewhere:
            assert elsewhere.get("/__admin/requests").status_code == 403
            model = {"model_file": str(project)}
            assert elsewhere.put("/model", json=model).status_code == 403
            assert elsewhere.get("/status").status_code == 200
        assert mock.client.get("/__admin/requests").status_code == 200


@pytest.mark.req("HTTP-1")
def test_name_of_a_host_is_known_once_it_is_allowed(run_mock: "RunMock", project: Path) -> None:
    names = ("--url", "https://bank.example/a2a", "--allow-host", "mock", "--allow-host", "::5")
    with run_mock(project, *EVERYWHERE, *names) as mock:

        def status(host: str) -> int:
            return mock.client.post("/", content=b"{}", headers={"Host": host}).status_code

        assert [status(host) for host in ("bank.example", "mock:5005", "[::5]")] == [200] * 3
        assert status("attacker.example") == 403
        _, log = mock.stop()
        assert "a2a_mock.request.refused path=/ reason=" in log
        assert "'attacker.example'" in log


@pytest.mark.parametrize("name", ["http://mock", "mock:5005", "a b", "", "*"])
def test_name_of_a_host_has_no_port(project: Path, name: str) -> None:
    line = [sys.executable, "-m", "mock_server", "serve", str(project), "--allow-host", name]
    refused = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert f"{name!r} is not a host: " in refused.stderr


@pytest.mark.req("HTTP-1", "PUSH-5")
@pytest.mark.parametrize(
    "headers", [{"Origin": "https://attacker.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_web_page_makes_the_mock_post_nowhere(
    run_mock: "RunMock", project: Path, headers: dict[str, str]
) -> None:
    (project / "endpoints.yml").write_text(PUSHES)
    with (
        socket.create_server(("127.0.0.1", 0)) as victim,
        run_mock(project, "--allow-local-push") as mock,
    ):
        victim.setblocking(False)
        url = f"http://127.0.0.1:{victim.getsockname()[1]}/"
        config = {"url": url, "authentication": {"schemes": ["Basic"], "credentials": "eA=="}}
        body = mock.turn("send money", configuration={"pushNotificationConfig": config})
        sent = {**headers, "Content-Type": "text/plain"}
        refused = httpx.post(mock.url, json=body, headers=sent)
        assert refused.status_code == 403
        assert "web pages" in refused.json()["error"]["message"]
        code, _ = mock.stop()
        assert code == 0
        with pytest.raises(BlockingIOError):
            victim.accept()


@pytest.mark.req("ADMIN-1", "HTTP-3", "STICKY-1")
def test_router_lets_nobody_elsewhere_change_a_replica(project: Path, address: str) -> None:
    try:
        find_haproxy()
    except StartError as reason:
        pytest.skip(str(reason))
    line = [sys.executable, "-m", "mock_server", "replicas", str(project), "--port", "0"]
    line += [*EVERYWHERE, "--allow-host", "mock.example"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ran:
        try:
            assert ran.stdout
            port = httpx.URL(ran.stdout.readline().split()[1]).port
            here = {"Host": "localhost"}
            with httpx.Client(base_url=f"http://{address}:{port}") as elsewhere:
                assert elsewhere.get("/__admin/requests", headers=here).status_code == 403
                put = elsewhere.put("/model", json={"model_file": "x"}, headers=here)
                assert put.status_code == 403
                for host, status in (("mock.example", 200), ("attacker.example", 403)):
                    asked = elsewhere.post("/", content=b"{}", headers={"Host": host})
                    assert asked.status_code == status
            local = httpx.get(f"http://127.0.0.1:{port}/__admin/requests")
            assert local.status_code == 200
        finally:
            ran.terminate()
