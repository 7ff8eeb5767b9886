"""Checks and hooks of Schemathesis: rules that a schema cannot express, the tester's own records, redundant parameters."""

import itertools
import json
import re

import schemathesis

# Messages of rules that depend on other records, other fields or the caller. A 422 to valid data must have one of them.
RULES_BEYOND_SCHEMAS = re.compile(
    "|".join(
        [
            "does not refer to an existing ",
            "is not the .* of any ",
            "is not a view of ",
            "is required with ",
            "is already taken",
            "is in the list twice",
            "must be .*, as in the path",
            # A saved view has filters that the caller may not use, or whose fields no longer exist.
            "filters by `",
            "refers to an unknown ",
            # The language of conditions has a grammar.
            "is not valid for .* at character ",
            "cannot be checked for .*, whose events have no record",
            "but no relation leads to several records",
            "leads to one record: write ",
            ", which no include shows; filter by ",
            "`.*` does not support the predicate `",
            "must differ from ",
            "must be after ",
            "must not be before ",
            "must be the plural name of a resource",
            "is not a custom field",
            "is no time zone such as ",
            # In time zones east of UTC, the year 1 begins in the year 0 of UTC, which the databases do not support.
            "must be of the years 0001 to 9999, in UTC",
            "must be in the future",
            "must not be in the future",
            # JSON Schema has no keyword for the number of digits.
            "has too many digits to be kept exactly",
            "must be your own",
            "cannot grant ",
            "cannot assign the role ",
            "cannot be the role ",
            "cannot be changed: the user has the role ",
            "of an administrator can be changed by administrators",
            "cannot be changed with a token that expires",
            "cannot change: this is the last administrator",
            "must contain at least one choice",
            "are allowed for the type choice only",
            "contain \".*\" twice",
            "must not be blank: an empty text clears the field",
            # Limits of the number of records.
            "which is the maximum",
            "cannot be added: a user has at most",
            "conflicts with `.*`: names that differ only by",
            "refers to `.*`, by which .* cannot be sorted",
            "has no rate",
            "is so large that its inverse rounds to nothing",
            "is system",
            "must have at most 50 conditions",
            # The operator configures the permitted webhook URLs.
            "must be an absolute URL such as ",
            "must begin with https://",
            "points to an address that is not public",
            # An idempotency key belongs to its first request.
            "was used for another request",
            # One parameter excludes another.
            "cannot be given with a cursor",
            "can only be used with `Accept: text/csv`",
            "is not a cursor",
            # The application's resources determine the types that have attachments.
            "must be one of Member$",
        ]
    )
)


@schemathesis.check
def only_rules_beyond_schemas_reject(ctx, response, case):
    """A 422 to valid data names a rule that a schema cannot express."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 422:
        return
    for field, messages in response.json()["errors"].items():
        # Custom fields and their types are records, not a part of the schema.
        if re.search(r"(^|\.)custom_fields\.", field):
            continue
        # The bytes of an uploaded file have no schema.
        if field == "file":
            continue
        # A list in the object `q` is one text, whose elements have no schema of their own.
        if re.fullmatch(r"q\[.*_in\]", field) and all(re.search("must be (an? |one of )", message) for message in messages):
            continue
        # An operation of a bulk request that would be 404, 409 or 412 by itself.
        if re.fullmatch(r"operations\.\d+", field):
            continue
        for message in messages:
            # An embedded record with an unknown id is a new one, whose required fields must be present.
            if message == "is required" and re.fullmatch(r"\w+\.\d+\.\w+", field):
                continue
            if not RULES_BEYOND_SCHEMAS.search(message):
                raise AssertionError(f"valid data was rejected: {field} {message}")


# Id of the user and of the token from the first start, which the tester uses.
OWN = "1"

# Patterns of `If-Match`, `If-None-Match` and `Idempotency-Key` in the OpenAPI document.
TAGS = re.compile(r"""\*|[ ,]*(W/)?"[ !#-~]*"( *,[ ,]*((W/)?"[ !#-~]*")?)*""")
KEY = re.compile(r"[!-~]{1,240}")

calls = itertools.count(1)


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Protects the tester's own user and token: without them all later responses would be 401 or 403."""
    if case.operation.path.startswith(("/api/v1/users/{id}", "/api/v1/tokens/{id}")) and case.method != "GET":
        if str(case.path_parameters.get("id")).strip() == OWN:
            case.path_parameters["id"] = 999_999_999
    if case.operation.path in ("/api/v1/users/bulk", "/api/v1/tokens/bulk"):
        replace_own_id(case.body)
    # If the request is not atomic, the status is 200 and the results contain the errors of the operations.
    if case.operation.path.endswith("/bulk") and isinstance(case.body, dict):
        positive = case.meta is not None and case.meta.generation.mode.is_positive
        if not positive and str(case.body.get("atomic")).strip().lower() in ("false", "f", "0"):
            case.body["atomic"] = True
    # White space counts as a missing body, which a schema cannot express. An invalid body must not be empty.
    if isinstance(case.body, bytes) and not case.body.strip(b" \t\n\r\x0c"):
        case.body = b"{"
    make_preconditions_pass(case)


def replace_own_id(body):
    """Replaces the id of the tester's own user and token in the operations of a bulk request."""
    if isinstance(body, list):
        for element in body:
            replace_own_id(element)
    elif isinstance(body, dict):
        for name, value in body.items():
            if name == "id" and re.fullmatch(r"\s*\+?0*" + OWN + r"\s*", str(value)):
                body[name] = 999_999_999
            else:
                replace_own_id(value)


def make_preconditions_pass(case):
    """Replaces generated entity tags, cursors and idempotency keys in three of four requests.

    No record has a generated entity tag, a generated cursor is invalid, and short keys repeat. Nearly all such requests
    would be 412 or 422 before their other parts are parsed.
    """
    number = next(calls)
    if number % 4 == 0:
        return
    if isinstance((case.query or {}).get("cursor"), str):
        case.query["cursor"] = ""
    headers = case.headers or {}
    for name, value in list(headers.items()):
        match name.lower():
            case "if-match" if TAGS.fullmatch(str(value)):
                headers[name] = "*"
            case "if-none-match" if case.method != "GET" and TAGS.fullmatch(str(value)):
                headers[name] = '"of no record"'
            case "idempotency-key" if KEY.fullmatch(str(value)):
                headers[name] = f"{value}-{number}"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Keeps one filter of each predicate and type in a list, and drops read-only properties from requests.

    The server parses all filters of a predicate and type by the same code, and a test of the suite sends each of them.
    Generating values for each of them would take the time of other parameters.

    The tester generates JSON in a parameter's text from its schema only if the parameter has a `content`. The server
    ignores read-only properties of a request, so that no value of them is invalid.
    """
    remove_read_only_properties(raw_schema["components"]["schemas"])
    for parameter in raw_schema["components"]["parameters"].values():
        inner = parameter["schema"].get("contentSchema")
        if inner is not None:
            del parameter["schema"]
            example = json.loads(parameter.pop("example"))
            parameter["content"] = {"application/json": {"schema": inner, "example": example}}
            continue
        # The tester assumes that a pattern which begins with an alternative matches the empty text.
        pattern = parameter["schema"].get("pattern", "")
        if pattern.startswith(r"^(\*|"):
            tags = {"type": "string", "pattern": f"^{pattern[5:-2]}$"}
            parameter["schema"] = {"anyOf": [{"type": "string", "const": "*"}, tags]}
    for path in raw_schema["paths"].values():
        for operation in path.values():
            seen, kept = set(), []
            for parameter in operation.get("parameters", []):
                name = parameter.get("name", "")
                if name.startswith("q["):
                    predicate = re.search(r"_((?:not_)?[a-z]+)\]$", name).group(1)
                    kind = predicate, json.dumps(parameter["schema"], sort_keys=True)
                    if kind in seen:
                        continue
                    seen.add(kind)
                kept.append(parameter)
            if kept:
                operation["parameters"] = kept


def remove_read_only_properties(schema):
    """Removes the properties that only responses contain from the schemas of requests."""
    if isinstance(schema, list):
        for element in schema:
            remove_read_only_properties(element)
    elif isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name in [name for name, property in properties.items() if property.get("readOnly")]:
                del properties[name]
        for value in schema.values():
            remove_read_only_properties(value)
