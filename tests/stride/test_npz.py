"""An .npz that states what is not so is one line, before any memory is asked for."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from pipeline.errors import SourceError
from pipeline.stride.importers.npz import NpzFile
from tests.damage import damaged

STATES = np.random.Generator(np.random.PCG64(7)).normal(size=(6, 5, 7)).round(3)


def member(head: str | bytes, data: bytes = b"", *, version: int = 1) -> bytes:
    text = head.encode("latin-1") if isinstance(head, str) else head
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def head_of(shape: str, descr: str = "'<f8'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"


def packed(path, content: bytes, method: int = zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as out:
        out.writestr("states.npy", content)
    return path


def fault_of(path) -> str:
    tracemalloc.start()
    with pytest.raises(SourceError) as fault, NpzFile(path) as file:
        file.array("states")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    message = str(fault.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert "expected" in message
    assert "found" in message
    return message


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "no array of numpy"),
        (member(head_of("(2, 2, 7)"))[:7], "no array of numpy"),
        (member(head_of("(2, 2, 7)"))[:40], "'"),
        (member("{'descr': '<f8', 'fortran_order': False, 'shape': (2,"), "was never closed"),
        (member("[" * 9_000), "'"),
        (member(b"\xff" * 60_000), "a head of 60,000 bytes"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"x" * 100, "a head of 4,294,967,295 bytes"),
        (b"\x93NUMPY\x07\x03\x00\x00", "an array of version 7.3"),
        (member(head_of("(True, True, True)"), bytes(8)), "the shape (True, True, True)"),
        (member(head_of("(-2, 2)"), bytes(32)), "the shape (-2, 2)"),
        (member(head_of("(2.0, 2)"), bytes(32)), "the shape (2.0, 2)"),
        (member(head_of("3"), bytes(24)), "the shape 3"),
        (member(head_of("(99999999999, 99999999999)")), "expected at most 134,217,728 numbers"),
        (member(head_of("(99999, 99, 7)"), bytes(800)), "800 bytes of data for the shape"),
        (member(head_of("(2, 2)"), bytes(40)), "40 bytes of data for the shape (2, 2)"),
        (member(head_of("(1,)", "'|O'"), bytes(8)), "object, expected an array of real numbers"),
        (member(head_of("(1,)", "'<c16'"), bytes(16)), "an array of real numbers"),
        (member(head_of("(1,)", "[('x', '<f8')]"), bytes(8)), "an array of real numbers"),
        (member(head_of("(1,)", "'nonsense'"), bytes(8)), "'"),
        (member("{'descr': '<f8'}", bytes(8)), "a head without"),
        (member("__import__('os')", bytes(8)), "'"),
    ],
)
def test_a_head_is_not_believed(tmp_path, content, found):
    assert found in fault_of(packed(tmp_path / "x.npz", content))


def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path):
    size = 100_000_000
    bomb = packed(tmp_path / "x.npz", member(head_of(f"({size // 8},)"), bytes(size)))
    assert bomb.stat().st_size < 200_000
    assert "which is no recording" in fault_of(bomb)


def test_agents_that_are_absent_most_of_the_time_are_read(tmp_path):
    states = np.zeros((400, 300, 7))
    states[:3] = 1.5
    np.savez_compressed(tmp_path / "x.npz", states=states)
    with NpzFile(tmp_path / "x.npz") as file:
        assert np.array_equal(file.array("states"), states)


@pytest.mark.parametrize("array", [STATES, np.asfortranarray(STATES), STATES > 0, np.arange(3)])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_any_array_of_numbers_is_read_as_it_is(tmp_path, array, save):
    save(tmp_path / "x.npz", states=array)
    with NpzFile(tmp_path / "x.npz") as file:
        found = file.array("states")
    assert found.dtype == np.float64
    assert np.array_equal(found, array.astype(np.float64))


def test_an_encrypted_member_is_refused(tmp_path):
    path = packed(tmp_path / "x.npz", member(head_of("(1,)"), bytes(8)))
    content = bytearray(path.read_bytes())
    content[6] |= 1  # the flag of the member itself
    content[content.index(b"PK\x01\x02") + 8] |= 1  # and that of the list of members
    path.write_bytes(content)
    assert "an encrypted member" in fault_of(path)


def sound_files(tmp_path):
    plain, deflated = io.BytesIO(), io.BytesIO()
    np.savez(plain, states=STATES, dt_s=np.float64(0.4))
    np.savez_compressed(deflated, states=STATES, dt_s=np.float64(0.4))
    files = [plain.getvalue(), deflated.getvalue()]
    array = io.BytesIO()
    np.save(array, STATES)
    others = (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2)
    packs = [packed(tmp_path / "y.npz", array.getvalue(), one).read_bytes() for one in others]
    return [*files, *packs]


@pytest.mark.parametrize("number", range(4), ids=["stored", "deflate", "lzma", "bzip2"])
def test_a_damaged_file_is_one_line_or_gives_the_very_same_numbers(tmp_path, number):
    path = tmp_path / "x.npz"
    whole = sound_files(tmp_path)[number]
    flipped = (
        whole[:place] + bytes([whole[place] ^ (1 + place * 37 % 255)]) + whole[place + 1 :]
        for place in range(len(whole))
    )
    for content in (*flipped, *damaged(whole, 300, seed=number)):
        path.write_bytes(content)
        found = read(path)
        if "states" in found:  # a name may have changed: that is another member
            assert np.array_equal(found["states"], STATES)


def read(path) -> dict:
    try:
        with NpzFile(path) as file:
            return {key: file.array(key) for key in file.keys}
    except SourceError as fault:
        message = str(fault)
    assert message.startswith(str(path))
    assert "\n" not in message
    return {}
