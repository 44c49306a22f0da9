"""Parameters: params.yaml and configs/<city>.yaml, handed out as frozen typed sections.

    Parameters(root).section("match", MatchSettings)   ->  MatchSettings(radius_m=100.0, ...)
    Parameters(root).section("mtach", MatchSettings)   ->  ParameterError with the known sections

There are no defaults in code: a missing, unknown or out-of-range key is an error that names the
file and the dotted path, because DVC can only track values that stand in a file.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from pipeline.errors import ParameterError


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
            city: _convert(entry, CityEntry, f"params.yaml: cities.{city}")
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
        return _read_yaml(self._root, f"configs/{city}.yaml")


def section_of(file: Path, name: str, kind: Any) -> Any:
    """Return one section of any YAML file, for a command that runs outside a project.

    Raises:
        ParameterError: As `Parameters.section`.
    """
    shared = _read_yaml(file.parent, file.name)
    if name not in shared:
        raise _missing(str(file), name, shared)
    return _convert(shared[name], kind, f"{file.name}: {name}")


def _missing(file: str, key: str, found: dict[str, Any]) -> ParameterError:
    return ParameterError(
        f"{file}: {key}: expected this key, found only {', '.join(map(str, found))}; add it (the"
        " comments in the committed file say what it means)"
    )


def _convert(value: Any, kind: Any, where: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as fault:
        text = str(fault)
        message, _, path = text.partition(" - at `$")
        dotted = where + path.rstrip("`")
        raise ParameterError(
            f"{dotted}: {message[:1].lower()}{message[1:]}; mend the file and rerun"
        ) from fault


def _read_yaml(root: Path, name: str) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - the one door to YAML

    path = root / name
    try:
        loaded = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError as fault:
        raise ParameterError(
            f"{name}: expected this file in {root}, found none; run from the project's root or"
            " write it (README, 'Add a city')"
        ) from fault
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        summary = " ".join(str(fault).split())
        raise ParameterError(f"{name}: expected YAML, found {summary}; mend the file") from fault
    if not isinstance(loaded, dict):
        raise ParameterError(f"{name}: expected a mapping of keys, found {type(loaded).__name__}")
    return loaded
