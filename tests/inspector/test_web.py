from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from foldline.errors import FoldlineError
from foldline.inspector.site import PageRequest, PageResponse, refusal_page
from foldline.inspector.web import Access

pytest.importorskip("starlette")

import uvicorn

from foldline.inspector.web import application, listen

CALLS: list[PageRequest] = []


@pytest.fixture(scope="module")
def access() -> Iterator[Access]:
    place = listen(0)
    made = Access(place.getsockname()[1])

    def answer(call: PageRequest) -> PageResponse:
        CALLS.append(call)
        return PageResponse(f"{call.method} {'/'.join(call.path)}")

    settings = uvicorn.Config(application(answer, made), log_level="error", lifespan="off")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0)
    yield made
    server.should_exit = True
    thread.join(20)


def ask(access: Access, path: str, method: str = "GET", body: str = "", **headers: str):
    connection = http.client.HTTPConnection("127.0.0.1", access.port, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body or None, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def cookie(access: Access) -> str:
    return f"{access.cookie}={access.token}"


@pytest.mark.requirement("V9")
def test_only_followers_of_the_link_get_access(access: Access) -> None:
    closed, text = ask(access, "/")
    assert (closed.status, text) == (403, refusal_page().body)
    entered, _ = ask(access, f"/s/1?token={access.token}")
    assert entered.status == 200
    given = entered.getheader("set-cookie") or ""
    assert "HttpOnly" in given
    assert "samesite=strict" in given.lower()
    opened, text = ask(access, "/s/1", Cookie=given.partition(";")[0])
    assert (opened.status, text) == (200, "GET s/1")


def test_every_answer_forbids_scripts_of_others(access: Access) -> None:
    for path in ("/", f"/?token={access.token}"):
        answer, _ = ask(access, path)
        assert "default-src 'none'" in (answer.getheader("content-security-policy") or "")
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert answer.getheader("cache-control") == "no-store"


def test_another_host_or_origin_is_refused(access: Access) -> None:
    mine = cookie(access)
    assert ask(access, "/", Cookie=mine, Host="evil.example")[0].status == 403
    assert ask(access, "/", Cookie=mine, Origin="https://evil.example")[0].status == 403


@pytest.mark.requirement("V9")
def test_a_change_comes_by_post_with_the_token_only(access: Access) -> None:
    mine = {"Cookie": cookie(access), "Content_Type": "application/x-www-form-urlencoded"}
    assert ask(access, "/undo", "POST", "token=x", **mine)[0].status == 403
    body = urlencode({"token": access.token, "focus": "ü"})
    assert ask(access, "/undo", "POST", body, **mine)[1] == "POST undo"
    assert CALLS[-1].form["focus"] == "ü"
    plain = {**mine, "Content_Type": "text/plain"}
    assert ask(access, "/undo", "POST", body, **plain)[0].status == 403
    assert ask(access, "/undo", "PUT", body, **mine)[0].status == 405


def test_a_form_that_is_too_large_is_refused(access: Access) -> None:
    mine = {"Cookie": cookie(access), "Content_Type": "application/x-www-form-urlencoded"}
    body = f"token={access.token}&focus={'x' * 70_000}"
    assert ask(access, "/undo", "POST", body, **mine)[0].status == 403


def test_it_listens_on_this_machine_only_and_reports_a_taken_port() -> None:
    place = listen(0)
    host, port = place.getsockname()
    assert host == "127.0.0.1"
    place.listen()
    with pytest.raises(FoldlineError, match=str(port)):
        listen(port)
    place.close()
