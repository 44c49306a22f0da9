"""Parameters: params.yaml and configs/<city>.yaml, handed out as frozen typed sections.

    Parameters(root).section("match", MatchSettings)   ->  MatchSettings(radius_m=100.0, ...)
    Parameters(root).section("mtach", MatchSettings)   ->  ParameterError with the known sections

There are no defaults in code: a missing, unknown or out-of-range key is an error that names the
file and the dotted path, because DVC can only track values that stand in a file.
"""

import math
import re
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import yaml

from pipeline.errors import ParameterError
from pipeline.keys import check_values

# dvc.lock of a hundred cities has about 200,000.
_MOST_VALUES = 10_000_000
# A city's name becomes names of files and folders, and must not lead out of them.
_CITY = re.compile(r"\w[\w.-]*")


class CityEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry under `cities:`: where the city's raw traces lie.

    Attributes:
        traces: Folder of raw trace files, from the project's root: the user's own
            (`data/<city>/raw/traces`) or the simulator's (`data/<city>/simulated/traces`).
    """

    traces: str


class Parameters:
    """The parameter files of a project."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _shared(self) -> dict[str, Any]:
        return _read_yaml(self._root, "params.yaml")

    @property
    def shared_keys(self) -> set[str]:
        """Return the top-level keys of params.yaml."""
        return set(self._shared)

    def config_keys(self, city: str) -> set[str]:
        """Return the top-level keys of the city's own file."""
        return set(self._config(city))

    @cached_property
    def cities(self) -> dict[str, CityEntry]:
        """Return the cities of the benchmark, in the order of params.yaml."""
        found = self._shared.get("cities")
        if not isinstance(found, dict) or not found:
            raise ParameterError(
                "params.yaml: cities: expected a mapping of at least one city, found"
                f" {found!r}; add a line such as `helsinki: {{traces: data/helsinki/...}}`"
            )
        return {
            _checked_name(city): _convert(entry, CityEntry, f"params.yaml: cities.{city}")
            for city, entry in found.items()
        }

    def city(self, city: str) -> CityEntry:
        """Return a city's entry; an unknown city is an error that lists the known ones."""
        if city not in self.cities:
            raise ParameterError(
                f"params.yaml: cities: expected one of {', '.join(self.cities)}, found no entry for"
                f" {city!r}; add it, write configs/{city}.yaml and run `python -m pipeline check"
                f" {city}`"
            )
        return self.cities[city]

    def section(self, name: str, kind: Any) -> Any:
        """Return one section of params.yaml, converted to its type.

        Raises:
            ParameterError: The section or one of its keys is missing, unknown or out of range.
        """
        if name not in self._shared:
            raise _missing("params.yaml", name, self._shared)
        return _convert(self._shared[name], kind, f"params.yaml: {name}")

    def config(self, city: str, key: str, kind: Any) -> Any:
        """Return one key of configs/<city>.yaml, converted to its type."""
        config = self._config(city)
        if key not in config:
            raise _missing(f"configs/{city}.yaml", key, config)
        return _convert(config[key], kind, f"configs/{city}.yaml: {key}")

    def _config(self, city: str) -> dict[str, Any]:
        return _read_yaml(self._root, f"configs/{_checked_name(city)}.yaml")


def section_of(file: Path, name: str, kind: Any) -> Any:
    """Return one section of any YAML file, for a command that runs outside a project.

    Raises:
        ParameterError: As `Parameters.section`.
    """
    shared = _read_yaml(file.parent, file.name)
    if name not in shared:
        raise _missing(str(file), name, shared)
    return _convert(shared[name], kind, f"{file.name}: {name}")


def document_of(file: Path, kind: Any) -> Any:
    """Return a whole YAML file, converted to its type; for data files such as a vocabulary.

    Raises:
        ParameterError: As `Parameters.section`; the first key of the path is the file's own name.
    """
    return _convert(_read_yaml(file.parent, file.name), kind, f"{file.name}: {file.stem}")


# Folders below data/ that belong to all cities.
_RESERVED = frozenset({"contents", "release", "reviews", "stride"})


def _checked_name(city: str) -> str:
    if city in _RESERVED:
        raise ParameterError(
            f"params.yaml: cities: expected a name other than {', '.join(sorted(_RESERVED))}, which"
            f" are folders of all cities, found {city!r}; rename it"
        )
    if not _CITY.fullmatch(city):
        raise ParameterError(
            f"city {city!r}: expected letters, digits, `_`, `-` and `.` only, as in `porto`; rename"
            " it and its file configs/<city>.yaml"
        )
    return city


def _missing(file: str, key: str, found: dict[str, Any]) -> ParameterError:
    return ParameterError(
        f"{file}: {key}: expected this key, found only {', '.join(found)}; add it (the comments in"
        " the committed file say what it means)"
    )


def _convert(value: Any, kind: Any, where: str) -> Any:
    """Convert a section, and hold it to the rules of `pipeline.keys`.

    A settings struct refuses keys that do not go together in its `__post_init__`, by a ValueError
    "<key>: expected ..., found ...", which lands here with the path of the struct.
    """
    file, _, key = where.rpartition(": ")
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError as fault:
        message, path = _message_and_path(str(fault))
        raise _refusal(f"{where}{_with_key(value, kind, path)}", message) from fault
    fault_of_value = check_values(value, key)
    if fault_of_value:
        path, message = fault_of_value
        raise _refusal(f"{file}: {path}", message)
    return converted


def _message_and_path(text: str) -> tuple[str, str]:
    """Split "Expected ... - at `$.x`" into message and ".x"; "y: ..." at ".x" lies at ".x.y"."""
    message, _, place = text.partition(" - at `")
    _, _, path = place.rpartition("$")
    key, colon, rest = message.partition(": ")
    if colon and key.isidentifier():
        return rest, f"{path.rstrip('`')}.{key}"
    return message, path.rstrip("`")


def _with_key(value: Any, kind: Any, path: str) -> str:
    """Name the entry of a mapping that is at fault; msgspec writes "[...]" for its key."""
    before, unnamed, after = path.partition("[...]")
    if not unnamed or "[" in before:  # a mapping within a list is near enough by the list's place
        return path
    names = before.split(".")[1:]
    mapping = value
    for name in names:
        mapping = mapping[name]
    for key in mapping:
        try:
            msgspec.convert(_with_one_entry(value, names, key), kind)
        except msgspec.ValidationError as fault:
            if _message_and_path(str(fault))[1] == path:
                return f"{before}.{key}{after}"
    return path


def _with_one_entry(value: dict[str, Any], names: list[str], key: str) -> dict[str, Any]:
    if not names:
        return {key: value[key]}
    return value | {names[0]: _with_one_entry(value[names[0]], names[1:], key)}


def _refusal(place: str, message: str) -> ParameterError:
    return ParameterError(f"{place}: {message[:1].lower()}{message[1:]}; mend the file and rerun")


class _StrictLoader(yaml.SafeLoader):
    """YAML whose mappings have text for keys, each once: a second one would win in silence."""

    # A table of its own: lm-format-enforcer, which vLLM brings, makes text of dates in everybody's.
    yaml_constructors: ClassVar = {
        **yaml.SafeLoader.yaml_constructors,
        "tag:yaml.org,2002:timestamp": yaml.SafeLoader.construct_yaml_timestamp,
    }

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            text = key.value if isinstance(key, yaml.ScalarNode) else "?"
            if key.tag not in {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}:
                problem = f"the key `{text}`, which is no text (put it in quotes),"
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
            if text in seen:
                problem = f"the key `{text}` for the second time"
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
            seen.add(text)
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep=deep)
        except yaml.YAMLError:
            raise
        # 2024-13-45 looks like a date and is none; `!!int ''` has no first letter to look at.
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as fault:
            problem = f"`{str(node.value)[:40]}` ({fault})"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from fault


def _read_yaml(root: Path, name: str) -> dict[str, Any]:
    path = root / name
    try:
        # Safe: the strict loader is PyYAML's own safe one, and refuses more.
        loaded = yaml.load(path.read_text("utf-8"), Loader=_StrictLoader)  # noqa: S506
        values = _size(loaded, {})
    except FileNotFoundError as fault:
        raise ParameterError(
            f"{name}: expected this file in {root}, found none; run from the project's root or"
            " write it (README, 'Add a city')"
        ) from fault
    except OSError as fault:
        raise ParameterError(
            f"{path}: expected a YAML file, found '{fault.strerror}'; name or mend the file"
        ) from fault
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as fault:
        raise ParameterError(
            f"{name}: expected YAML, found {_yaml_problem(fault)}; mend the file"
        ) from fault
    if values > _MOST_VALUES:
        raise ParameterError(
            f"{name}: expected at most {_MOST_VALUES:,} values, found aliases (`*name`) that stand"
            " for more, or for themselves; write the values out"
        )
    if not isinstance(loaded, dict):
        found = "nothing" if loaded is None else type(loaded).__name__
        raise ParameterError(
            f"{name}: expected a mapping of keys, found {found}; write lines `key: value` (the"
            " committed file shows them)"
        )
    return loaded


def _size(value: Any, known: dict[int, float]) -> float:
    """Return how many values a value holds, those behind an alias each time it is used."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = math.inf  # of itself, until it is known
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(one, known) for one in inner)
    return known[id(value)]


def _yaml_problem(fault: Exception) -> str:
    if isinstance(fault, yaml.MarkedYAMLError) and fault.problem and fault.problem_mark:
        problem = fault.problem.removeprefix("found ")
        return f"{' '.join(problem.split())} in line {fault.problem_mark.line + 1}"
    return " ".join(str(fault).split())
