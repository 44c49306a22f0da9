"""A missing, unknown or impossible parameter is one line with file and dotted path."""

from typing import Annotated

import msgspec
import pytest

from pipeline.errors import ParameterError
from pipeline.params import Parameters


class Radius(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section with one bounded key."""

    radius_m: Annotated[float, msgspec.Meta(gt=0)]


def parameters(
    root, shared: str = "cities: {toy: {traces: data/toy/raw/traces}}\n", city: str = ""
):
    (root / "configs").mkdir(exist_ok=True)
    (root / "params.yaml").write_text(shared, encoding="utf-8")
    (root / "configs/toy.yaml").write_text(city or "name: Toy\n", encoding="utf-8")
    return Parameters(root)


def test_a_section_comes_back_typed_and_frozen(tmp_path):
    section = parameters(tmp_path, "match: {radius_m: 100}\n").section("match", Radius)
    assert section == Radius(radius_m=100.0)
    with pytest.raises(AttributeError):
        section.radius_m = 5.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("match: {}\n", r"params.yaml: match: object missing required field `radius_m`"),
        ("match: {radius_m: 1, radios: 2}\n", r"params.yaml: match: .*unknown field `radios`"),
        ("match: {radius_m: -1}\n", r"params.yaml: match.radius_m: expected `float` > 0"),
        ("match: {radius_m: far}\n", r"params.yaml: match.radius_m: expected `float`, got `str`"),
        ("other: 1\n", r"params.yaml: match: expected this key, found only other"),
        ("- a\n", r"params.yaml: expected a mapping of keys, found list"),
        ("match: {radius_m: [\n", r"params.yaml: expected YAML, found"),
    ],
)
def test_a_fault_names_file_and_dotted_path(tmp_path, text, message):
    with pytest.raises(ParameterError, match=message):
        parameters(tmp_path, text).section("match", Radius)


def test_an_unknown_city_lists_the_known_ones(tmp_path):
    with pytest.raises(ParameterError, match=r"expected one of toy, found no entry for 'prto'"):
        parameters(tmp_path).city("prto")


def test_a_city_without_a_config_file_is_told_to_write_it(tmp_path):
    with pytest.raises(ParameterError, match=r"configs/prto.yaml: expected this file"):
        parameters(tmp_path).config("prto", "bbox", list[float])


def test_no_cities_is_an_error(tmp_path):
    with pytest.raises(ParameterError, match="cities: expected a mapping of at least one city"):
        _ = parameters(tmp_path, "cities: {}\n").cities
