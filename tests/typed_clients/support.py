"""Assertions, arguments and a record of the requests for the scripts of the tests."""

from __future__ import annotations

import re
from typing import Any, Callable, List, Tuple, Type, TypeVar

import httpx

from charter_client import ApiError

E = TypeVar("E", bound=Exception)


def equal(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def failure(kind: Type[E], call: Callable[[], object]) -> E:
    """The error of a call that must fail with this class."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"the call does not raise {kind.__name__}")


def answered(call: Callable[[], object]) -> None:
    """Makes a call that the server may refuse because of the state of the record."""
    try:
        call()
    except ApiError as error:
        if error.status not in (409, 422):
            raise


class Recorder(httpx.BaseTransport):
    """Records the operations that are called."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self._called: List[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._called.append(f"{request.method} {request.url.path}")
        return self._inner.handle_request(request)

    def missing(self, document: Any) -> Tuple[List[str], int]:
        """The operations of a document that were not called, and the number of all."""
        templates = [
            f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods
        ]
        # A path without parameters has precedence.
        templates.sort(key=lambda template: template.count("{"))
        patterns = [(template, re.sub(r"\{[^}]+\}", "[^/]+", template.replace(".", r"\."))) for template in templates]
        called = {
            next((name for name, pattern in patterns if re.fullmatch(pattern, request)), request)
            for request in self._called
        }
        return [template for template in templates if template not in called], len(templates)
