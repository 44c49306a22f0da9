"""The road graph as arrays, and the numbers of segments and of one-ways driven backwards."""

import numpy as np
import polars as pl
import pytest

from pipeline.errors import ContractError
from pipeline.tasks.ground import UNKNOWN, Ground
from tests.tasks.town import node_place, road_cells, roads, route


def test_each_segment_keeps_its_ends_length_and_cell():
    table = roads(3)
    ground = Ground.build(table, road_cells(table))
    assert ground.segments == table.height == len(ground.ids)  # no one-way, nothing reversed
    assert ground.nodes == 9
    for k, row in enumerate(table.iter_rows(named=True)):
        assert tuple(ground.place[ground.u[k]]) == node_place(row["u"])
        assert tuple(ground.place[ground.v[k]]) == node_place(row["v"])
        assert ground.length_m[k] == 100.0
    cells = [ground.cells[int(n)] for n in ground.cell]
    assert cells == road_cells(table)["cell"].to_list()


def test_a_one_way_driven_backwards_has_a_number_of_its_own():
    table = roads(3, one_way=[1])
    ground = Ground.build(table, road_cells(table))
    assert len(ground.ids) == ground.segments + 2  # 0 > 1 and 1 > 2 of the first row
    there, back = ground.numbered(pl.Series([route(0, 1), route(1, 0)])).values
    assert there < ground.segments <= back
    assert (ground.u[back], ground.v[back]) == (ground.v[there], ground.u[there])
    assert ground.cell[back] == ground.cell[there]


def test_a_second_segment_between_two_nodes_is_reversed_as_itself():
    table = roads(3, one_way=[1])
    twice = table.filter(edge_id="1:0:1").with_columns(edge_id=pl.lit("1:0:1:2"))
    both = pl.concat([table, twice]).sort("edge_id")
    ground = Ground.build(both, road_cells(both))
    assert {"1:1:0", "1:1:0:2"} <= set(ground.ids[ground.segments :])


def test_ids_of_another_form_have_no_reverse():
    table = roads(3, one_way=[1]).with_columns(edge_id=pl.int_range(pl.len()).cast(pl.String))
    ground = Ground.build(table, road_cells(table))
    assert len(ground.ids) == ground.segments


def test_lists_are_numbered_in_their_order():
    table = roads(3)
    ground = Ground.build(table, road_cells(table))
    lists = pl.Series([route(0, 1, 2), None, [], ["nowhere", None], route(2, 1)])
    found = ground.numbered(lists)
    assert found.starts.tolist() == [0, 2, 2, 2, 4, 5]
    known = [UNKNOWN if n == UNKNOWN else ground.ids[int(n)] for n in found.values]
    assert known == [*route(0, 1, 2), UNKNOWN, UNKNOWN, *route(2, 1)]
    empty = ground.numbered(pl.Series([], dtype=pl.List(pl.String)))
    assert (empty.starts.tolist(), len(empty.values)) == ([0], 0)
    assert np.issubdtype(found.values.dtype, np.int32)


def test_a_segment_without_cells_is_named():
    table = roads(3)
    with pytest.raises(ContractError, match="found none of 1:0:1 and 0 more"):
        Ground.build(table, road_cells(table.filter(pl.col("edge_id") != "1:0:1")))
