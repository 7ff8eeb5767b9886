"""What the property-based tester is told beside the description: which refusals a schema cannot foresee, which records
are its own, and which parameters are alike."""

import itertools
import json
import re

import schemathesis

# Rules that need other records, other fields or the caller. A refusal of well-formed data must be one of them.
BEYOND_SCHEMAS = re.compile(
    "|".join(
        [
            "does not refer to an existing ",
            "is not the .* of any ",
            "is required with ",
            "is already taken",
            "names an unknown ",
            "`.*` does not support the predicate `",
            "must differ from ",
            "must be after ",
            "must not be before ",
            "must be the plural name of a resource",
            "is not a custom field",
            "is no time zone such as ",
            # The first hour of the year 1, somewhere in the east, is in the year 0 of UTC, which no database here has.
            "must be of the years 0001 to 9999, in UTC",
            "must be in the future",
            "must not be in the future",
            # How many digits a number may have is no keyword of a schema.
            "has too many digits to be kept exactly",
            "must be your own",
            "cannot grant ",
            "cannot change: this is the last administrator",
            "must contain at least one choice",
            "are allowed for the type choice only",
            "contain \".*\" twice",
            "must not be blank: an empty text clears the field",
            # How many there may be of all follows from how many there are.
            "which is the maximum",
            "cannot be added: a user has at most",
            "conflicts with `.*`: names that differ only by",
            "names `.*`, by which .* cannot be sorted",
            "has no rate",
            "is so large that its inverse rounds to nothing",
            "is system",
            "must have at most 50 conditions",
            # Where a webhook may go is up to the operator.
            "must be an absolute URL such as ",
            "must begin with https://",
            "points to an address that is not public",
            # A key stands for the request that it came with first.
            "was used for another request",
            # One parameter excludes another.
            "cannot be given with a cursor",
            "is not a cursor",
            # The types that have attachments are those of the application's resources.
            "must be one of Member$",
        ]
    )
)


@schemathesis.check
def only_told_rules_refuse(ctx, response, case):
    """A 422 to well-formed data names a rule that no schema can say."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 422:
        return
    for field, messages in response.json()["errors"].items():
        # Which custom fields there are, and what each must hold, their definitions say, which are records.
        if re.search(r"(^|\.)custom_fields\.", field):
            continue
        # One of many operations, refused as a whole: what alone is 404, 409 or 412.
        if re.fullmatch(r"operations\.\d+", field):
            continue
        for message in messages:
            # Which ids the embedded records of a record have, that record says: another is one that is added.
            if message == "is required" and re.fullmatch(r"\w+\.\d+\.\w+", field):
                continue
            if not BEYOND_SCHEMAS.search(message):
                raise AssertionError(f"well-formed data was refused: {field} {message}")


# The user and the token that the first start made, which the tester itself uses.
OWN = "1"

# What a client may say of versions, and of repeated requests, as the description has it.
TAGS = re.compile(r"""\*|[ ,]*(W/)?"[ !#-~]*"( *,[ ,]*((W/)?"[ !#-~]*")?)*""")
KEY = re.compile(r"[!-~]{1,240}")

calls = itertools.count(1)


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Leaves alone the tester's own user and token: without them every further answer would be 401 or 403."""
    if case.operation.path.startswith(("/api/v1/users/{id}", "/api/v1/tokens/{id}")) and case.method != "GET":
        if str(case.path_parameters.get("id")).strip() == OWN:
            case.path_parameters["id"] = 999_999_999
    if case.operation.path in ("/api/v1/users/bulk", "/api/v1/tokens/bulk"):
        spare_own(case.body)
    # Where each operation stands for itself, what is wrong with one is told in its result.
    if case.operation.path.endswith("/bulk") and isinstance(case.body, dict):
        positive = case.meta is not None and case.meta.generation.mode.is_positive
        if not positive and str(case.body.get("atomic")).strip().lower() in ("false", "f", "0"):
            case.body["atomic"] = True
    # White space alone is no body, as the description says; no schema can. A wrong body must be one that is there.
    if isinstance(case.body, bytes) and not case.body.strip(b" \t\n\r\x0c"):
        case.body = b"{"
    lead_past_the_door(case)


def spare_own(body):
    """Leads the operations of a bulk request away from the tester's own user and token."""
    if isinstance(body, list):
        for element in body:
            spare_own(element)
    elif isinstance(body, dict):
        for name, value in body.items():
            if name == "id" and re.fullmatch(r"\s*\+?0*" + OWN + r"\s*", str(value)):
                body[name] = 999_999_999
            else:
                spare_own(value)


def lead_past_the_door(case):
    """Lets most requests with well-formed conditions or keys come to their operation.

    A tag that was made up is that of no record, a cursor that was made up is none, and the shortest keys come again and
    again: nearly all such requests would be 412, or 422, before the rest of them is read. One in four stays as it was made.
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
    """Keeps one filter of each predicate and type in a list.

    All of them go through the same code, and a test of the suite sends each of them; here each is drawn many times, and
    a hundred that differ by name alone would leave no time for what differs.

    JSON in the text of a parameter is made by its schema only where the parameter has a `content`. What may be sent back
    of a record is ignored, so that no value of it is wrong.
    """
    leave_out_what_is_ignored(raw_schema["components"]["schemas"])
    for parameter in raw_schema["components"]["parameters"].values():
        inner = parameter["schema"].get("contentSchema")
        if inner is not None:
            del parameter["schema"]
            example = json.loads(parameter.pop("example"))
            parameter["content"] = {"application/json": {"schema": inner, "example": example}}
            continue
        # Of a pattern that begins with an alternative the tester believes that the empty text matches.
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


def leave_out_what_is_ignored(schema):
    """Takes the properties that only answers tell from the schemas of requests."""
    if isinstance(schema, list):
        for element in schema:
            leave_out_what_is_ignored(element)
    elif isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name in [name for name, property in properties.items() if property.get("readOnly")]:
                del properties[name]
        for value in schema.values():
            leave_out_what_is_ignored(value)
