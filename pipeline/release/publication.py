"""What is published together: some cities' contents and what params.yaml says of the data set.

Publication(settings, [helsinki, monaco], alone=False).path(helsinki, "generation/test.parquet")
->  "helsinki/generation/test.parquet"

Its sentences are said in the card and in the metadata alike.
"""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import msgspec

from pipeline.keys import Text

Version = Annotated[str, msgspec.Meta(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]
Date = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class Licence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Licence of the release.

    Attributes:
        id: SPDX identifier.
        hub: Its identifier on dataset hubs.
        url: Where its text stands.
    """

    id: Text
    hub: Text
    url: Text


class PublishSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `publish` of params.yaml.

    Attributes:
        name: Short name, for machines.
        title: Title of the card.
        version: Three numbers; the tag of the release is release@v<version>.
        date: Day of publication, ISO 8601.
        licence: Licence of the whole.
        creator: Who publishes.
        url: Where the release will be found; null where that is not settled.
        cite_as: What to cite.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Text
    version: Version
    date: Date
    licence: Licence
    creator: Text
    url: Text | None
    cite_as: Text


class Publication(NamedTuple):
    """A folder to be published.

    Attributes:
        settings: Section `publish`.
        cities: Records of `release_contents`, sorted by city.
        alone: Whether it is one city's own folder, without the city's name in its paths.
    """

    settings: PublishSettings
    cities: list[dict[str, Any]]
    alone: bool

    def path(self, record: dict[str, Any], file: str) -> str:
        """Return the path of a city's file within the folder."""
        return file if self.alone else f"{record['city']}/{file}"

    def summary(self) -> str:
        """Say in one sentence what is in it."""
        trips = sum(record["loss"]["released"]["trips"] for record in self.cities)
        instances = sum(record["loss"]["released"]["instances"] for record in self.cities)
        names = listed([record["name"] for record in self.cities])
        return (
            f"{trips:,} trips through {names} as {instances:,} task instances: navigation"
            " instructions to generate trajectories from (three a trip), queries to retrieve them"
            " by (three), captions to tell them in (one)."
        )

    def traces_in_words(self) -> str:
        """Say which cities' GPS traces are real and which simulated."""
        said = []
        for kind, words in (
            ("real", "recorded by real vehicles"),
            ("simulated", "SIMULATED on the real roads"),
        ):
            names = [r["name"] for r in self.cities if r["loss"]["traces"] == kind]
            said += [f"The GPS traces of {listed(names)} are {words}."] if names else []
        return " ".join(said)

    def authors(self) -> list[str]:
        """Say who wrote, verified and judged the texts, each once."""
        found = {
            f"{role}: {one['model']} {one['revision']} (engine {one['engine']})"
            for record in self.cities
            for role, one in roles_of(record)
        }
        return sorted(found)

    def limits(self) -> list[str]:
        """Say what the data is not good for."""
        said = [
            "Splits are by trip, as in the paper: train, val and test share routes.",
            "A path is the map matcher's, not the vehicle's own; its ends are whole segments.",
            "Names rest on the map of its date; what was never mapped or has closed is not there.",
        ]
        engines = {one["engine"] for record in self.cities for one in record["writers"]}
        if "template" in engines:
            said.append(
                "Texts of the engine `template` are put together by a grammar, not by a language"
                " model: they are true to the plan of a trip and poor in wording."
            )
        if any(one["engine"] == "rules" for record in self.cities for one in record["judges"]):
            said.append("Scores of the engine `rules` follow from checks; no model or person read"
                        " the texts.")  # fmt: skip
        if any(record["loss"]["traces"] == "simulated" for record in self.cities):
            said.append(
                "Simulated drivers choose by travel time; their routes and times are no evidence of"
                " how people drive."
            )
        return said

    def privacy(self) -> list[str]:
        """Say what of persons is in it."""
        real = [record["name"] for record in self.cities if record["loss"]["traces"] == "real"]
        said = ["No id of a vehicle or person is released but what a source's trip ids hold."]
        if real:
            said.append(
                f"Trips of {listed(real)} were driven by real vehicles at the times given: do not"
                " try to find out who they were."
            )
        return said


def roles_of(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield role and author of a city: who wrote the texts, verified and judged them.

    The trips of writer and judge are the released ones, the verifier's are all that were checked.
    """
    verified = record["verifier"] | {"trips": record["quality_control"]["trips"]}
    yield from (("texts", one) for one in record["writers"])
    yield from (("verifier", one) for one in [verified] if one["trips"])
    yield from (("judge", one) for one in record["judges"])


def listed(names: list[str]) -> str:
    """Put names into a list in words: A, B and C."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
