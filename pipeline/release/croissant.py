"""Describe the release to machines: Croissant 1.1 metadata with provenance (PROV-O) and RAI notes.

data/release/croissant.json   one FileObject per file with its hash, one record set per table and
                              city with a field for every column, nested ones included

Fields are read from the JSON Schemas of the tables, counts and sources from each city's contents:
nothing is typed twice. Read it with `mlcroissant`.
"""

from pathlib import Path
from typing import Any

from pipeline.release.publication import Publication, roles_of
from pipeline.schemas import followed, schema_document

SPECIFICATION = "http://mlcommons.org/croissant/1.1"
FORMATS = {".parquet": "application/x-parquet", ".json": "application/json"}
# Folder or file of a city's release, and the schema of its rows.
TABLES = {
    "generation": "generation_instance",
    "retrieval": "retrieval_instance",
    "captioning": "caption_instance",
    "candidates": "retrieval_candidate",
    "ground/roads.parquet": "road",
    "ground/road_cells.parquet": "road_cell",
    "ground/cells.parquet": "cell",
    "ground/names.parquet": "city_name",
}
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_DEEDS = {
    "texts": "wrote the texts of",
    "verifier": "verified the texts of",
    "judge": "judged the texts of",
}
_TYPES = {
    "string": "sc:Text",
    "integer": "cr:Int64",
    "number": "cr:Float64",
    "boolean": "sc:Boolean",
}


def croissant(publication: Publication) -> dict[str, Any]:
    """Return the Croissant document of a publication."""
    settings = publication.settings
    distribution, record_sets = [], []
    for record in publication.cities:
        files = {file["path"]: file for file in record["files"]}
        distribution += [_file(publication, record, file) for file in record["files"]]
        for table, schema in TABLES.items():
            for path in (one for one in files if one == table or one.startswith(f"{table}/")):
                inner = path.removeprefix("ground/").removesuffix(".parquet")
                name = f"{record['city']}-{inner.replace('/', '-')}"
                record_sets.append(_record_set(name, schema, publication.path(record, path)))
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": SPECIFICATION,
        "name": settings.name,
        "description": f"{publication.summary()} {publication.traces_in_words()}",
        "version": settings.version,
        "datePublished": settings.date,
        "license": settings.licence.url,
        "creator": {"@type": "sc:Organization", "name": settings.creator},
        "citeAs": settings.cite_as,
        "inLanguage": "en",
        "keywords": ["trajectories", "navigation instructions", "retrieval", "captioning"],
        "prov:wasDerivedFrom": [_source(record, one) for record in publication.cities
                                for one in record["sources"]],
        "prov:wasGeneratedBy": [_activity(record, role, one) for record in publication.cities
                                for role, one in roles_of(record)],
        "rai:dataCollection": publication.traces_in_words(),
        "rai:machineAnnotationTools": publication.authors(),
        "rai:dataLimitations": publication.limits(),
        "rai:personalSensitiveInformation": publication.privacy(),
        "distribution": distribution,
        "recordSet": record_sets,
    }  # fmt: skip
    if settings.url is not None:
        document["url"] = settings.url
    return document


def _file(publication: Publication, record: dict[str, Any], file: dict[str, Any]) -> dict[str, Any]:
    path = publication.path(record, file["path"])
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{file['bytes']} B",
        "encodingFormat": FORMATS[Path(path).suffix],
        "sha256": file["sha256"],
    }


def _record_set(name: str, schema: str, file: str) -> dict[str, Any]:
    document = schema_document(schema)
    key = document["required"][0]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": document["description"],
        "key": {"@id": f"{name}/{key}"},
        "field": _fields(document, schema, name, {"fileObject": {"@id": file}}, ()),
    }


def _fields(
    spec: dict[str, Any], schema: str, above: str, source: dict[str, Any], path: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return a field for each property of an object, sub-fields within."""
    return [
        _field(one, schema, f"{above}/{name}", source, (*path, name))
        for name, one in spec["properties"].items()
    ]


def _field(
    spec: dict[str, Any], schema: str, identity: str, source: dict[str, Any], path: tuple[str, ...]
) -> dict[str, Any]:
    told = spec.get("description")
    spec, schema = followed(spec, schema)
    field = {"@type": "cr:Field", "@id": identity, "name": path[-1]}
    if words := told or spec.get("description"):
        field["description"] = words
    shape: list[str] = []
    kind = _kind(spec)
    while kind == "array":
        spec, schema = followed(spec["items"], schema)
        kind, shape = _kind(spec), [*shape, "-1"]
    extra: dict[str, Any] = {"isArray": True, "arrayShape": ",".join(shape)} if shape else {}
    if kind == "object":
        return field | extra | {"subField": _fields(spec, schema, identity, source, path)}
    column, *keys = path
    origin = source | {"extract": {"column": column}}
    if keys:
        origin["transform"] = [{"jsonPath": key} for key in keys]
    return field | extra | {"dataType": _data_type(spec, kind), "source": origin}


def _kind(spec: dict[str, Any]) -> str:
    kinds = spec.get("type", "string")  # an enum without a type lists strings
    return str(next(k for k in (kinds if isinstance(kinds, list) else [kinds]) if k != "null"))


def _data_type(spec: dict[str, Any], kind: str) -> str | list[str]:
    if spec.get("contentEncoding") == "base16":
        return ["sc:Text", "http://www.opengis.net/ont/geosparql#wkbLiteral"]
    return _TYPES[kind]


def _source(record: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    entity = {
        "@type": "prov:Entity",
        "@id": f"{record['city']}/sources/{source['what']}",
        "name": source["name"],
        "license": source["licence"],
        "creditText": source["attribution"],
    }
    known = {"version": source["release"], "identifier": source["hash"]}
    return entity | {name: value for name, value in known.items() if value is not None}


def _activity(record: dict[str, Any], role: str, author: dict[str, Any]) -> dict[str, Any]:
    deed = _DEEDS[role]
    agent = {
        "@type": "prov:SoftwareAgent",
        "name": author["model"],
        "softwareVersion": author["revision"],
        "description": f"engine {author['engine']}; prompt files {author['prompt_hash'] or 'none'}",
    }
    return {
        "@type": "prov:Activity",
        "description": f"{author['model']} {deed} {author['trips']} trips of {record['name']}",
        "prov:wasAssociatedWith": agent,
    }
