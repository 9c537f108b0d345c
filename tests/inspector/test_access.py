from __future__ import annotations

import pytest

from foldline.inspector.web import HEADERS, Access

ACCESS = Access(8000, "t0ken")
HOST = {"host": "127.0.0.1:8000"}
COOKIE = {ACCESS.cookie: "t0ken"}


def test_the_first_link_lets_in_and_the_cookie_keeps_in() -> None:
    assert ACCESS.judge("GET", HOST, {}, "t0ken", {}) == "enter"
    assert ACCESS.judge("GET", HOST, COOKIE, "", {}) == "allowed"
    assert ACCESS.link("/s/1") == "http://127.0.0.1:8000/s/1?token=t0ken"


@pytest.mark.parametrize("cookies", [{}, {ACCESS.cookie: ""}, {ACCESS.cookie: "t0kem"}])
def test_without_the_token_no_page_is_served(cookies: dict[str, str]) -> None:
    assert ACCESS.judge("GET", HOST, cookies, "", {}) == "refused"
    assert ACCESS.judge("GET", HOST, cookies, "wrong", {}) == "refused"


@pytest.mark.parametrize(
    "host", ["evil.example:8000", "127.0.0.1:80", "127.0.0.1", "", "[::1]:8000"]
)
def test_another_host_name_is_refused(host: str) -> None:
    assert ACCESS.judge("GET", {"host": host}, COOKIE, "", {}) == "refused"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:8001"])
def test_a_page_of_another_origin_is_refused(origin: str) -> None:
    headers = {**HOST, "origin": origin}
    assert ACCESS.judge("POST", headers, COOKIE, "", {"token": "t0ken"}) == "refused"
    assert ACCESS.judge("GET", headers, COOKIE, "", {}) == "refused"


def test_embedding_by_another_site_is_refused() -> None:
    headers = {**HOST, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert ACCESS.judge("GET", headers, COOKIE, "", {}) == "refused"


def test_a_change_needs_the_token_in_its_form() -> None:
    assert ACCESS.judge("POST", HOST, COOKIE, "", {}) == "refused"
    assert ACCESS.judge("POST", HOST, COOKIE, "t0ken", {}) == "refused"
    assert ACCESS.judge("POST", HOST, {}, "", {"token": "t0ken"}) == "refused"
    assert ACCESS.judge("POST", HOST, COOKIE, "", {"token": "t0ken"}) == "allowed"


def test_tokens_are_new_each_time_and_cannot_be_guessed() -> None:
    tokens = {Access(1).token for _ in range(20)}
    assert len(tokens) == 20
    assert all(len(token) >= 32 for token in tokens)
    assert "t0ken" not in repr(ACCESS)


def test_no_page_runs_or_loads_anything_of_others() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
