"""Overture features in both category generations, and what is refused with which reason."""

from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from pipeline.city.context import (
    ContextConfig,
    OvertureFilesSource,
    OvertureSource,
    PinnedPath,
    checked_context,
    context_from_overture,
    context_manifest,
)
from pipeline.city.overture import ContextReason, check_rows, read_geoparquet, rows_of
from pipeline.city.sources import sha256_of
from pipeline.errors import SourceError
from pipeline.schemas import check_record
from pipeline.schemas import check_rows as check_schema
from tests.city.worlds import BBOX, at


def point(east: float = 0, north: float = 0) -> bytes:
    return bytes(shapely.to_wkb(shapely.Point(at(east, north))))


def place(number: str = "p1", **changes):
    made = {
        "id": number,
        "geometry": point(),
        "version": 1,
        "names": {"primary": "Thai Garden", "common": None},
        "taxonomy": {
            "primary": "thai_restaurant",
            "hierarchy": ["food_and_drink", "restaurant", "thai_restaurant"],
            "alternates": None,
        },
        "basic_category": "restaurant",
        "confidence": 0.9,
        "operating_status": "open",
        "sources": [{"property": "", "dataset": "meta", "license": "CDLA-Permissive-2.0"}],
    }
    return made | changes


def checked(*raw, kind="place"):
    return check_rows(kind, rows_of(kind, raw, Counter()))


def test_a_new_place_keeps_its_taxonomy():
    (row,) = checked(place()).rows
    assert row["taxonomy"]["hierarchy"] == ["food_and_drink", "restaurant", "thai_restaurant"]
    assert (row["basic_category"], row["ext_category_source"]) == ("restaurant", "taxonomy")
    assert row["names"] == {"primary": "Thai Garden"}


def test_an_old_place_is_converted_and_says_so():
    old = place(categories={"primary": "thai_restaurant", "alternate": ["bar"]})
    old = {k: v for k, v in old.items() if k not in {"taxonomy", "basic_category"}}
    (row,) = checked(old).rows
    assert row["taxonomy"] == {
        "primary": "thai_restaurant",
        "hierarchy": ["food_and_drink", "restaurant", "thai_restaurant"],
        "alternates": ["bar"],
    }
    assert row["ext_category_source"] == "categories"


def test_an_old_category_without_a_new_place_is_counted_and_kept():
    unmapped: Counter[str] = Counter()
    raw = place(
        taxonomy=None, basic_category=None, categories={"primary": "odd", "alternate": None}
    )
    (row,) = rows_of("place", [raw], unmapped)
    assert row["taxonomy"]["hierarchy"] == ["odd"]
    assert unmapped == {"categories=odd": 1}


def test_a_place_without_any_category_is_kept():
    (row,) = checked(place(taxonomy=None, basic_category=None)).rows
    assert (row["taxonomy"], row["ext_category_source"]) == (None, "none")


def test_a_taxonomy_whose_last_entry_is_not_its_primary_is_refused():
    odd = {"primary": "bar", "hierarchy": ["food_and_drink", "restaurant"], "alternates": None}
    made = checked(place(taxonomy=odd))
    assert [(item, reason) for item, reason, _ in made.refused] == [
        ("p1", ContextReason.TAXONOMY_DISAGREES)
    ]


def test_a_feature_overtures_model_refuses_is_refused_with_the_field():
    made = checked(place(confidence=1.5))
    ((item, reason, detail),) = made.refused
    assert (made.rows, item, reason) == ([], "p1", ContextReason.INVALID_FEATURE)
    assert "confidence" in detail


def test_of_two_features_with_one_id_the_first_is_kept():
    made = checked(place(names={"primary": "First"}), place(names={"primary": "Second"}))
    assert [row["names"]["primary"] for row in made.rows] == ["First"]
    assert [reason for _, reason, _ in made.refused] == [ContextReason.DUPLICATE_ID]


def test_an_area_with_a_class_overture_does_not_know_is_refused():
    raw = {"id": "w1", "geometry": point(), "version": 1, "subtype": "park", "class": "skatepark"}
    made = checked(raw, kind="land_use")
    assert made.refused[0][1] is ContextReason.INVALID_FEATURE


def files(folder: Path, **by_kind) -> dict[str, PinnedPath]:
    made = {}
    for kind, rows in by_kind.items():
        path = folder / f"{kind}.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
        made[kind] = PinnedPath(path=str(path), sha256=sha256_of(path))
    return made


def source(made: dict[str, PinnedPath]) -> OvertureFilesSource:
    return OvertureFilesSource(
        release="2026-10-21.0", files=made, licence="see sources", attribution="Overture Maps"
    )


def test_local_files_give_checked_tables_a_manifest_and_rejections(tmp_path):
    square = bytes(shapely.to_wkb(shapely.box(*at(0, 0), *at(1, 1))))
    division = {
        "id": "d1", "geometry": square, "version": 1, "names": {"primary": "Alpha"},
        "subtype": "neighborhood", "class": "land", "is_land": True, "is_territorial": True,
        "division_id": "x1", "country": "MC", "region": None,
    }  # fmt: skip
    made = source(
        files(
            tmp_path,
            place=[place("p2"), place("p1"), place("far", geometry=point(500)),
                   place("bad", confidence=2.0)],
            division_area=[division],
        )
    )  # fmt: skip
    manifest = context_manifest(made, tmp_path / "none", BBOX)
    done = checked_context(context_from_overture(made, bbox=BBOX), manifest=manifest)
    assert done.tables["place"]["id"].to_list() == ["p1", "p2"]
    assert done.tables["division_area"]["ext_district_method"].to_list() == ["overture"]
    assert done.tables["water"].is_empty()
    assert done.rejected.select("item_id", "stage", "reason").rows() == [
        ("bad", "pull_context", "invalid_feature")
    ]
    check_record("manifest", done.manifest, where="manifest")
    assert (done.manifest["counts"]["place"], done.manifest["counts"]["refused"]) == (2, 1)
    for kind, schema in (("place", "overture_place"), ("division_area", "overture_division")):
        rows = done.tables[kind].to_dicts()
        hexed = [row | {"geometry": row["geometry"].hex()} for row in rows]
        check_schema(schema, hexed, where=kind, first_row=0, key="id")


def test_an_unpinned_file_is_refused_with_the_value_to_pin(tmp_path):
    made = files(tmp_path, place=[place()])
    path = made["place"].path
    with pytest.raises(SourceError, match=sha256_of(Path(path))):
        context_from_overture(source({"place": PinnedPath(path=path, sha256=None)}), bbox=BBOX)


def test_a_file_that_is_not_geoparquet_is_a_source_error(tmp_path):
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"nothing")
    with pytest.raises(SourceError, match="expected Overture GeoParquet"):
        list(read_geoparquet(bad, BBOX))
    pq.write_table(pa.table({"id": ["a"]}), bad)
    with pytest.raises(SourceError, match="found no column geometry"):
        list(read_geoparquet(bad, BBOX))


def test_a_release_out_of_reach_is_a_source_error(monkeypatch):
    # An address nobody listens on stands for the missing network.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    lost = OvertureSource(release="2000-01-01.0", licence="x", attribution="x")
    with pytest.raises(SourceError, match=r"Overture release 2000-01-01\.0: expected place"):
        context_from_overture(lost, bbox=BBOX)


def test_a_config_names_its_kind_of_source():
    made = msgspec.convert(
        {"source": {"kind": "overture", "release": "r", "licence": "l", "attribution": "a"}},
        ContextConfig,
    )
    assert isinstance(made.source, OvertureSource)
