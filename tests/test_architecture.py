"""The shape of the code: imports point backwards, libraries have doors, files stay small."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "pipeline").rglob("*.py"))
# A chapter may import from those before it; files directly under pipeline/ are the kernel.
CHAPTERS = (
    "kernel", "city", "trips", "language", "quality", "release", "tasks", "audit", "stride",
    "show", "review",
)  # fmt: skip
# The command line and the check open every chapter by design.
TOP_OF_ALL = {"__main__.py", "check.py"}
# Slow or awkward libraries and the few rooms that may open them.
DOORS = {
    "h3": {"pipeline/city/hexgrid.py"},
    "yaml": {"pipeline/params.py", "pipeline/dvcfile.py"},
    "jsonschema": {"pipeline/schemas.py"},
    "jsonschema_rs": {"pipeline/schemas.py"},
    "tqdm": {"pipeline/progress.py"},
    "sklearn": {"pipeline/city/geotag.py", "pipeline/tasks/baselines/latent.py"},
    "jinja2": {"pipeline/language/prompts.py"},
    "vllm": {"pipeline/language/engines/vllm.py"},
    "openai": {"pipeline/language/engines/openai.py"},
    "ray": {"pipeline/language/engines/ray.py"},
    "torch": {"pipeline/tasks/reference/contrast.py"},
    "jupedsim": {"pipeline/stride/generators/jupedsim.py"},
    "bm25s": {"pipeline/tasks/text_index.py"},
    "nltk": {"pipeline/tasks/meteor.py"},
    "tokenizers": {"pipeline/tasks/minilm.py"},
    "sentence_transformers": {"pipeline/tasks/embedding.py"},
}
SLOW = {"osmnx", "geopandas", "sklearn", "overturemaps", "matplotlib", "networkx"} | {
    "vllm", "openai", "ray", "torch", "transformers", "jupedsim", "nltk",
    "sentence_transformers",
}  # fmt: skip
FILE_LINES = 450


def chapter_of(parts: tuple[str, ...]) -> str:
    return parts[1] if len(parts) > 2 else "kernel"


def imports_of(file: Path) -> list[tuple[str, bool]]:
    """Return (module, is at the top level) for every import of a file."""
    tree = ast.parse(file.read_text("utf-8"))
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, id(node) in top))
    return found


def place(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", MODULES, ids=place)
def test_imports_point_backwards_only(file):
    if file.name in TOP_OF_ALL:
        return
    own = CHAPTERS.index(chapter_of(file.relative_to(ROOT).parts))
    for module, _ in imports_of(file):
        parts = module.split(".")
        if parts[0] == "pipeline" and len(parts) > 1 and parts[1] in CHAPTERS:
            assert CHAPTERS.index(parts[1]) <= own, f"{place(file)} imports {module}"


@pytest.mark.parametrize("library", DOORS)
def test_a_library_has_its_doors(library):
    rooms = {
        place(f) for f in MODULES for module, _ in imports_of(f) if module.split(".")[0] == library
    }
    assert rooms == DOORS[library]


@pytest.mark.parametrize("file", MODULES, ids=place)
def test_slow_libraries_are_imported_where_they_are_used(file):
    at_top = {module.split(".")[0] for module, top in imports_of(file) if top}
    assert not at_top & SLOW


@pytest.mark.parametrize("file", MODULES, ids=place)
def test_a_file_is_short_has_a_docstring_and_a_telling_name(file):
    text = file.read_text("utf-8")
    assert len(text.splitlines()) <= FILE_LINES
    assert ast.get_docstring(ast.parse(text))
    assert file.stem not in {"utils", "common", "helpers", "misc"}


@pytest.mark.parametrize("file", MODULES, ids=place)
def test_randomness_comes_from_rng_for_alone(file):
    if place(file) == "pipeline/seeds.py":
        return
    text = file.read_text("utf-8")
    assert "import random" not in text
    assert "np.random.default_rng" not in text
    assert "np.random.seed" not in text


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-models.txt"])
def test_a_pin_file_names_no_host_and_no_path(name):
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert " @ " not in text


def test_both_pin_files_pin_the_same_versions():
    core, models = (
        set((ROOT / name).read_text("utf-8").splitlines())
        for name in ("requirements.txt", "requirements-models.txt")
    )
    assert core < models
