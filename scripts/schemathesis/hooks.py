"""Hooks with the rules of Freshet that the schemas of its OpenAPI document cannot express.

A failure is ignored only if it follows from a rule that the document states in words. The
summary of a run has the number of ignored failures.
"""

import json
import os
import re

import jsonschema_rs
import schemathesis

document = {}


@schemathesis.serializer("application/x-ndjson")
def ndjson(context, value):
    """Serializes a list as one JSON value per line, and sends a text unchanged."""
    if isinstance(value, list):
        return "".join(json.dumps(line) + "\n" for line in value).encode()
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path, item in raw_schema["paths"].items():
        for operation in item.values():
            if isinstance(operation, dict):
                choose_security(path, operation)
                leave_out_gzip(operation)
                lines_of_ndjson(operation)
    ranking_texts(raw_schema["components"]["schemas"])
    document.update(raw_schema)


def choose_security(path, operation):
    """Removes credentials, because schemathesis uses the first listed ones that it has.

    A server in jwt mode does not read X-Agent-ID. In the paths of profiles, follows and
    authors an agent may name only itself, and it may not see the circles of others, so
    these routes are called as an admin.
    """
    schemes = [s for s in operation.get("security", []) if "agent" not in s]
    if path.startswith(("/v1/agents/", "/v1/authors/{id}")) and {"adminToken": []} in schemes:
        schemes.remove({"agentToken": []})
    if "security" in operation:
        operation["security"] = schemes


def leave_out_gzip(operation):
    """Removes gzip, because schemathesis sends this Content-Encoding without compressing the body."""
    for parameter in operation.get("parameters", []):
        if parameter.get("name") == "Content-Encoding":
            parameter["schema"]["enum"].remove("gzip")


def lines_of_ndjson(operation):
    """Replaces the schema of NDJSON, a text, by that of the JSON array, which describes a line."""
    content = operation.get("requestBody", {}).get("content", {})
    if "application/x-ndjson" in content and "application/json" in content:
        array = content["application/json"]["schema"]
        content["application/x-ndjson"]["schema"] = {**array, "minItems": 1}


def ranking_texts(schemas):
    """Lists valid ranking texts, because no schema describes their grammar."""
    text = schemas["RankingText"]["oneOf"][1]
    text["enum"] = ["", "scale=72h,offset=2h", "curves=two,weight=0.5", "base=0.2"]


@schemathesis.hook
def map_case(context, case):
    """Changes allowed requests that would otherwise all be rejected for one reason."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    if "If-Match" in case.headers:
        case.headers["If-Match"] = "*"  # schemathesis generates its own values and ignores the pattern
    if "Idempotency-Key" in case.headers and isinstance(case.body, dict) and "request_id" in case.body:
        case.body = {**case.body, "request_id": case.headers["Idempotency-Key"]}
    if case.operation.path in ("/v1/ranking", "/v1/feeds/{name}", "/v1/explain", "/v1/compare", "/v1/replay"):
        case.body = in_range(case.body)
    if case.operation.path == "/media/{key}":
        case.path_parameters["key"] = os.environ["SCHEMATHESIS_IMAGE"]
    return case


def in_range(value):
    """Returns the value with durations that are within every range."""
    if isinstance(value, dict):
        return {
            name: f"{1 + len(part) % 72}h" if name in ("scale", "offset", "half_life") and isinstance(part, str) else in_range(part)
            for name, part in value.items()
        }
    return [in_range(part) for part in value] if isinstance(value, list) else value


# Error messages for requests that the schemas allow but the server rejects. The document
# states each of these rules in words.
RULES = [
    # Rules between values of a request.
    r"cannot follow or block themself",
    r"until must be after from",
    r"silent is only allowed with action refresh",
    r"until=.* is not in the future",
    r"bad marker: the newest notification of .* has \d+",
    r"lists are returned for one agent only",
    r"until is for suspensions",
    r"until is the end of the suspension",
    r"is for objects of the kind",
    r"the id of a post begins with",
    r"bad id: id has ",
    r"is no (tag|language|author|site|word) that items can have",
    r"it has no conditions",
    r"it has \d+ conditions, at most",
    r"decay\.curves replaces",
    r"is a constant, which takes only a weight",
    r"\.scale is missing",
    r"nothing to change",
    r"the sum of the experiments' shares",
    r"two experiments are named",
    # Exceptions to a range or a format.
    r"share must be at least 0\.0001,",
    r"is a post, which is",
    r"bad cursor: .* was not issued here",
    r'must be a time such as .*not \\"(0|1[0-8]|19[0-6])',
    # Earlier requests have deleted all profiles.
    r"no agents to sample",
    # Some characters cannot be stored, and a term of only invisible ones would show nothing.
    r"has a NUL character",
    r"an entry of \w+ is empty",
    r"has no visible character",
    # A patch is validated as the resulting item.
    r'"bad item',
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    text = response.content.decode("utf-8", "replace")
    if "positive_data_acceptance" in failure.checks:
        return not any(re.search(rule, text) for rule in RULES)
    if "negative_data_rejection" in failure.checks:
        allowed = (empty_parameter, null_field, reported_line, no_line)
        return not any(is_allowed(failure.message, case, response) for is_allowed in allowed)
    return True


def reported_line(message, case, response):
    """An upload reports a bad line as rejected and accepts the others."""
    return is_upload(case) and response.json()["data"]["rejected"] > 0


def no_line(message, case, response):
    """An empty body is valid NDJSON."""
    return is_upload(case) and not response.request.body


def is_upload(case):
    return "application/x-ndjson" in case.operation.definition.raw.get("requestBody", {}).get("content", {})


def empty_parameter(message, case, response):
    """An empty query parameter or header counts as missing."""
    wrong = re.search(r"parameters? (`.+?`) in (query|header)", message)
    if not wrong:
        return False
    values = (case.query if wrong[2] == "query" else case.headers) or {}
    return all(values.get(name) == "" for name in re.findall(r"`(.+?)`", wrong[1]))


def null_field(message, case, response):
    """An optional field with the value null counts as missing."""
    if "in body" not in message:
        return False
    without = drop_nulls(case.body)
    if without == case.body:
        return False
    operation = document["paths"][case.operation.path][case.operation.method]
    schema = operation["requestBody"]["content"][case.media_type]["schema"]
    schema = {**schema, "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(without)


def drop_nulls(value):
    if isinstance(value, dict):
        return {name: drop_nulls(v) for name, v in value.items() if v is not None}
    return [drop_nulls(v) for v in value] if isinstance(value, list) else value
