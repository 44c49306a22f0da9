"""The control: a grammar that reads no prompt writes the same texts whatever the prompt says."""

import msgspec
import pytest

from pipeline.audit.audit import audit
from pipeline.language import annotate as annotation
from pipeline.runner import run_stage
from tests.audit.conftest import NONE, SENTENCE
from tests.audit.project import Project
from tests.language.template_trips import trip_number


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Texts by the template engine, before and after an edit of the prompt, by the real stage."""
    made = Project(tmp_path_factory.mktemp("control"))
    made.set("annotate", shots=1)
    trips = [trip_number(number) for number in range(40)]
    made.put("monaco", "planned", msgspec.to_builtins(trips))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(annotation, "PROMPTS", made.root / "prompts")
        for tag in ("v1", "v2"):
            (made.root / "configs/monaco.yaml").write_text("name: M\nlanguage: en\n", "utf-8")
            run_stage("annotate", "monaco", root=made.root)
            made.keep(tag)
            made.edit("prompts/annotate/system.j2", *SENTENCE) if tag == "v1" else None
    return made


def test_a_prompt_edit_changes_the_request_of_every_trip_and_no_text(project):
    (city,) = audit(project.root, "v1", "v2", options=NONE._replace(prompts=1, worse=5)).cities
    assert (city.rows.paired, city.rows.other_request, city.rows.changed) == (40, 40, 0)
    assert set(city.rows.changed_texts.values()) == {0}
    assert [one.cause for one in city.causes if one.differs] == ["prompt"]
    assert {(one.difference, one.p) for one in city.measures} == {(0.0, 1.0)}
    assert [one.of for one in city.prompts] == ["system message, the same for all"]
    assert city.worse == []
    assert [one.engine for one in city.writers_after] == ["template"]
    assert city.notes == []
