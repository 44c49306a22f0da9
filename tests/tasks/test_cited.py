"""The paper's numbers: typed right, as far as they must fit each other and its prose."""

from itertools import pairwise

from pipeline.tasks.cited import cited

TABLES = {one.table: one for one in cited({"generation", "retrieval", "captioning"}).tables}
CITIES = ("Porto", "San Francisco", "Beijing")


# The paper prints SR@5 0.1898 and SR@10 0.1418, which cannot both hold.
PRINTED_SO = ("Porto", "UniTraj", "SR@5")


def column(table, name, city):
    """Return a column of a table: method -> value."""
    at = [head.removesuffix(" ↑").removesuffix(" ↓") for head in TABLES[table].columns].index(name)
    return {method: values[at] for method, values in TABLES[table].cities[city].items()}


def test_the_tables_of_results_are_there_with_their_cities_and_methods():
    assert TABLES.keys() == {f"Table {number}" for number in range(3, 9)}
    methods = {"Table 3": 7, "Table 6": 7, "Table 7": 6, "Table 4": 10, "Table 8": 10, "Table 5": 4}
    for name, one in TABLES.items():
        assert tuple(one.cities) == CITIES
        assert {len(rows) for rows in one.cities.values()} == {methods[name]}
        assert len({tuple(rows) for rows in one.cities.values()}) == 1


def test_measures_that_rise_with_k_rise():
    """A value in the wrong row or column breaks one of these orders."""
    rising = [
        [("Table 6", "H@1"), ("Table 6", "H@3"), ("Table 3", "H@5"), ("Table 6", "H@10")],
        [("Table 4", "J@1"), ("Table 4", "J@5"), ("Table 8", "J@10")],
        [("Table 4", "SR@1"), ("Table 4", "SR@5"), ("Table 8", "SR@10")],
        [("Table 4", "R@1"), ("Table 4", "MRR"), ("Table 4", "R@10"), ("Table 8", "R@50")],
        [("Table 4", "R@1"), ("Table 4", "SR@1"), ("Table 4", "J@1")],
        [("Table 3", "Jac"), ("Table 7", "O-Jac")],
        [("Table 7", "O-DTW"), ("Table 3", "DTW")],
        [("Table 7", "O-Dist (km)"), ("Table 3", "Dist (km)")],
        [("Table 7", "O-EDR"), ("Table 3", "EDR")],
        [("Table 7", "O-Haus"), ("Table 3", "Haus")],
    ]
    for order in rising:
        for city in CITIES:
            for (low, low_name), (high, high_name) in pairwise(order):
                lower, higher = column(low, low_name, city), column(high, high_name, city)
                for method in lower.keys() & higher.keys():
                    if (city, method, low_name) == PRINTED_SO:
                        continue
                    assert lower[method] <= higher[method], (city, method, low_name, high_name)


def test_the_numbers_fit_what_the_paper_says_of_them():
    for city in CITIES:
        for name in ("J@1", "SR@5"):  # "achieves the best spatial overlap across all three cities"
            values = column("Table 4", name, city)
            assert max(values, key=values.__getitem__) == "TrajFuse"
        assert column("Table 4", "R@1", city)["UniTraj"] < 0.02
        assert min(column("Table 5", "BS-F1", city).values()) > 0.83
        assert max(column("Table 5", "ROUGE-L", city).values()) < 0.33
        dtw = column("Table 3", "DTW", city)
        anchored = [value for method, value in dtw.items() if "Anchor" in method]
        assert max(anchored) < min(dtw["ConstrSP"], dtw["DestSP (Embed)"])
    fused = [round(column("Table 8", "J@10", city)["TrajFuse"], 2) for city in CITIES]
    assert fused == [0.64, 0.63, 0.60]
    assert round(column("Table 8", "J@10", "Beijing")["UniTraj"], 2) == 0.07
    r50 = column("Table 8", "R@50", "Porto")
    assert (round(r50["Sem."], 2), round(r50["TrajFuse"], 2)) == (0.55, 0.53)
    poi = column("Table 5", "POI-R", "Porto")
    assert (round(poi["Struct."], 2), round(poi["Sem."], 2)) == (0.12, 0.41)
    assert column("Table 5", "POI-R", "San Francisco")["Struct."] == 0.015
    assert round(max(column("Table 7", "O-Jac", "Porto").values()), 2) == 0.57
    assert max(column("Table 4", "R@1", "Porto").values()) < 0.10
    assert max(column("Table 4", "R@1", "San Francisco").values()) < 0.23


def test_only_the_tables_of_the_tasks_asked_for():
    assert [one.table for one in cited({"captioning"}).tables] == ["Table 5"]
    assert cited(set()).tables == []
    assert "arXiv:2605.10782v1" in cited(set()).source
