"""Settings of the ground for tests: the values the tests' arithmetic is made for."""

from pipeline.city.cells import CellsSettings
from pipeline.city.geotag import DistanceBand, GeoTagClassifier, GeoTagRules, ShareBand
from pipeline.city.roads import RoadsSettings
from pipeline.city.sources import FileSource, NetworkConfig
from pipeline.city.ways import HIGHWAY_CLASSES

ROADS = RoadsSettings(
    class_speed_kph=dict.fromkeys(HIGHWAY_CLASSES, 36.0), slowest_kph=5.0, fastest_kph=140.0
)
FILE = FileSource(path="x.osm", sha256=None, date="2024", licence="ODbL-1.0", attribution="(c) OSM")
NETWORK = NetworkConfig(source=FILE, service_roads=False)
RULES = GeoTagRules(
    green_share=ShareBand(weak=0.1, strong=0.3),
    coast_m=DistanceBand(strong=20.0, weak=100.0),
    water_m=DistanceBand(strong=10.0, weak=60.0),
    smallest_water_m2=1000.0,
    built_places=2,
)
CLASSIFIER = GeoTagClassifier(
    rings=1, holdout_share=0.3, fewest_cells=20, regularisation=1.0, iterations=300
)
CELLS = CellsSettings(
    cut_tolerance_m=0.5,
    overlap_m2=25.0,
    geo_tag=RULES,
    classifier=CLASSIFIER,
    residential_low=0.1,
    residential_high=0.4,
    mixed_places=3,
    natural_words=4,
    facility_words=2,
    dull_categories=["parking"],
    district_subtypes=["neighborhood"],
)
