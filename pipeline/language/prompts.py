"""Render the prompts of a task: one system message for all its requests, one user message for each.

    prompt = Prompt(PROMPTS / "narrate", shared={"labels": [("WATERFRONT", "by the water")]})
    prompt.system                            ->  Message("system", "# Describing a small ...")
    prompt.user("8a1126d06cb7fff", {"record_json": '{"district":"Hakaniemi", ...}'})
                                             ->  Message("user", "Describe this cell. ...")

A task's folder under prompts/ holds system.j2, user.j2 and answer.schema.json (paper A.3.6). The
system message is the same for all requests of a run, so that a server reads it once. What comes
from data enters a template as JSON text and is never read as a template. All text is NFC.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import jinja2
import msgspec

from pipeline.errors import PromptError
from pipeline.language.requests import Message
from pipeline.schemas import fault_of_schema

PROMPTS = Path(__file__).resolve().parent.parent.parent / "prompts"
# What a template can meet in the values it is given, beyond Jinja's own faults.
_FAULTS_OF_VALUES = (
    TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RuntimeError, MemoryError,
)  # fmt: skip
# What Python's compiler raises on the code that Jinja makes of a template nested too deeply.
_FAULTS_OF_CODE = (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError)


def json_text(value: Any) -> str:
    """Return a value as compact JSON with native letters; the only form in which data is shown."""
    return msgspec.json.encode(value).decode("utf-8")


def nfc(text: str) -> str:
    """Return text with letters and their accents composed."""
    return unicodedata.normalize("NFC", text)


def files_hash(files: Iterable[Path]) -> str:
    """Return one hash over the names and contents of files, 64 hexadecimal digits.

    Raises:
        PromptError: A file is missing.
    """
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda file: (file.parent.name, file.name)):
        content = hashlib.sha256(_read(file)).hexdigest()
        digest.update(f"{file.parent.name}/{file.name} {content}\n".encode())
    return digest.hexdigest()


class Prompt:
    """The templates of one task, read and compiled once.

    Attributes:
        system: The system message, rendered.
        schema: Generation schema of the answer.
        files: The files read.
    """

    def __init__(self, folder: Path, *, shared: Mapping[str, Any]) -> None:
        """Read a task's folder.

        Args:
            folder: Holds system.j2, user.j2 and answer.schema.json.
            shared: What both templates may use in every request.

        Raises:
            PromptError: A file is missing or broken; names the file and the line.
        """
        self._folder = folder
        self._environment = jinja2.Environment(
            autoescape=False,  # noqa: S701 - it is read by a model, and `&` must stay `&`
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            loader=jinja2.FunctionLoader(self._source),
        )
        self._environment.filters["quoted"] = json_text
        self._environment.globals.update(shared)
        self.files = tuple(folder / name for name in ("system.j2", "user.j2", "answer.schema.json"))
        self._templates = {name: self._compiled(name) for name in ("system.j2", "user.j2")}
        self.system = Message("system", self._rendered("system.j2", "every request", {}))
        self.schema = self._read_schema()

    def user(self, item_id: str, values: Mapping[str, Any]) -> Message:
        """Return the user message of one item.

        Raises:
            PromptError: The template asks for what it is not given; names template, line and item.
        """
        return Message("user", self._rendered("user.j2", item_id, values))

    def _rendered(self, name: str, item_id: str, values: Mapping[str, Any]) -> str:
        try:
            return nfc(self._templates[name].render(values))
        except (jinja2.TemplateError, *_FAULTS_OF_VALUES) as fault:
            line = _line_in_template(fault.__traceback__, str(self._folder / name))
            raise PromptError(
                f"{_shown(self._folder / name)} line {line}: {item_id}: expected a value to show,"
                f" found: {fault}; mend the template"
            ) from fault

    def _source(self, name: str) -> tuple[str, str, Any]:
        file = self._folder / name
        try:
            return nfc(_read(file).decode("utf-8")), str(file), None
        except UnicodeDecodeError as fault:
            raise PromptError(
                f"{_shown(file)}: expected UTF-8, found {fault}; save it as UTF-8"
            ) from fault

    def _compiled(self, name: str) -> Any:
        try:
            return self._environment.get_template(name)
        except (jinja2.TemplateError, *_FAULTS_OF_CODE) as fault:
            line = f" line {fault.lineno}" if isinstance(fault, jinja2.TemplateSyntaxError) else ""
            found = (str(fault).splitlines() or [type(fault).__name__])[0]
            raise PromptError(
                f"{_shown(self._folder / name)}{line}: expected a Jinja template, found: {found};"
                " mend the template"
            ) from fault

    def _read_schema(self) -> dict[str, Any]:
        file = self._folder / "answer.schema.json"
        try:
            schema = dict(json.loads(_read(file)))
        except (ValueError, TypeError) as fault:
            raise PromptError(
                f"{_shown(file)}: expected a JSON Schema, found: {fault}; mend the file"
            ) from fault
        wrong = fault_of_schema(schema)
        if wrong is not None:
            raise PromptError(
                f"{_shown(file)}: expected a JSON Schema without references to other files, found:"
                f" {wrong}; mend the file"
            )
        return schema


def _line_in_template(trace: TracebackType | None, file: str) -> int:
    """Return the last line of the template that was being rendered; 0 where none was."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as fault:
        raise PromptError(
            f"{_shown(file)}: expected this file, found '{fault.strerror}'; restore it with"
            " `git checkout`"
        ) from fault


def _shown(file: Path) -> str:
    """Return the path as a user names it: prompts/<task>/<file>."""
    return f"prompts/{file.parent.name}/{file.name}"
