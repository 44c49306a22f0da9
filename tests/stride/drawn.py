"""Whatever a JSON Schema allows, drawn: what a guided model without any sense could answer."""

from typing import Any

from hypothesis import strategies as st


def answers(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for values that fit a schema; knows the keywords our answers use."""
    return _drawn(_resolved(schema, schema.get("$defs", {})))


def _resolved(part: Any, defs: dict[str, Any]) -> Any:
    """Return a schema with what it refers to put in."""
    if isinstance(part, list):
        return [_resolved(one, defs) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _resolved(defs[part["$ref"].removeprefix("#/$defs/")], defs)
    return {key: _resolved(one, defs) for key, one in part.items() if key != "$defs"}


def _drawn(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "anyOf" in schema:
        return st.one_of([_drawn(one) for one in schema["anyOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_OF_KIND[kind](schema) for kind in kinds])


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    assert set(schema["required"]) == set(schema["properties"])
    return st.fixed_dictionaries({k: _drawn(one) for k, one in schema["properties"].items()})


def _array(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    first = [_drawn(one) for one in schema.get("prefixItems", [])]
    least, most = (schema.get(key, 0) - len(first) for key in ("minItems", "maxItems"))
    if not schema["items"]:
        return st.tuples(*first).map(list)
    more = st.lists(_drawn(schema["items"]), min_size=max(0, least), max_size=most)
    return st.tuples(st.tuples(*first), more).map(lambda both: [*both[0], *both[1]])


def _number(schema: dict[str, Any]) -> st.SearchStrategy[float]:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", 50.0)
    return st.floats(low, high, exclude_min="exclusiveMinimum" in schema)


def _integer(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    # JSON Schema counts 20.0 as an integer.
    numbers = st.integers(schema["minimum"], schema["maximum"])
    return numbers | numbers.map(float)


def _string(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    words = st.lists(st.sampled_from(["people", "walk", "over", "the", "square", "."]), max_size=30)
    size = {"min_size": schema.get("minLength", 0), "max_size": min(schema["maxLength"], 80)}
    return words.map(" ".join).filter(lambda text: size["min_size"] <= len(text)) | st.text(**size)


_OF_KIND = {
    "object": _object, "array": _array, "number": _number, "integer": _integer, "string": _string,
    "boolean": lambda _: st.booleans(), "null": lambda _: st.none(),
}  # fmt: skip
