"""The Ray executor on a real cluster of two nodes: same answers, each once, whoever dies."""

import json
from collections.abc import Iterator

import msgspec
import pytest
import ray
import ray._private.ray_constants as constants
from ray.cluster_utils import Cluster

from pipeline.errors import ModelError
from pipeline.language.asking import ask
from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import LocalExecutor, RayExecutor, TemplateSettings
from pipeline.language.ledger import Ledger
from tests.language.engine_requests import (
    GOOD,
    Pulled,
    answered,
    openai_settings,
    recorded_settings,
    request_to,
    requests_to,
    vllm_settings,
)
from tests.language.odd_server import OddServer
from tests.language.template_trips import trip_number

# What Ray itself leaves open when it stops is no fault of ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_NODE = {
    "node_ip_address": "127.0.0.1",
    "object_store_memory": 100 << 20,
    "include_dashboard": False,
}


@pytest.fixture(scope="module")
def cluster(small_models) -> Iterator:
    """Start two nodes on the loopback, one core and two; nobody is connected to them yet."""
    with pytest.MonkeyPatch.context() as patch:
        # Else the driver would write another address for the loopback, where nobody listens.
        patch.setattr(constants, "ENABLE_RAY_CLUSTER", False)
        made = Cluster(initialize_head=True, head_node_args=_NODE | {"num_cpus": 1})
        made.add_node(num_cpus=2, **_NODE)
        yield made
        made.shutdown()


def workers(cluster, count: int) -> RayExecutor:
    return RayExecutor(
        address=cluster.address, workers=count, cpus_per_worker=1.0, gpus_per_worker=0.0
    )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Settings and requests whose answers lie in a file."""
    file = tmp_path_factory.mktemp("recorded") / "responses.jsonl"
    settings = recorded_settings(file)
    requests = requests_to(settings, 600)
    lines = [
        json.dumps({"key": request.key, "text": GOOD.replace("7", str(number % 99))})
        for number, request in enumerate(requests)
    ]
    file.write_text("\n".join(lines) + "\n")
    return settings, requests


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer() as server:
        yield server


def slow_requests(settings, count: int):
    return [request_to(settings, f"{n}", prompt=f"{n} pause") for n in range(count)]


def test_without_an_address_ray_is_started_here_and_stopped_again(small_models, recorded):
    settings, requests = recorded
    with engine_for(settings, RayExecutor(None, 1, 1.0, 0.0)) as engine:
        assert len(answered(engine, requests[:100])) == 100
    assert not ray.is_initialized()


@pytest.mark.parametrize("count", [1, 3])
def test_any_number_of_workers_gives_the_answers_of_one_process(cluster, recorded, count):
    settings, requests = recorded
    with engine_for(settings, LocalExecutor()) as engine:
        expected = answered(engine, requests)
    with engine_for(settings, workers(cluster, count)) as engine:
        assert answered(engine, requests[::-1]) == expected
        assert answered(engine, requests[:5]) == {f"{n}": expected[f"{n}"] for n in range(5)}


def test_the_template_engine_in_workers_sees_the_facts_of_its_requests(cluster):
    settings = TemplateSettings()
    requests = [
        msgspec.structs.replace(
            request_to(settings, f"trip-{number}"), facts=trip_number(number), schema={}
        )
        for number in range(150)
    ]
    with engine_for(settings, LocalExecutor()) as engine:
        expected = answered(engine, requests)
    with engine_for(settings, workers(cluster, 2)) as engine:
        assert answered(engine, requests) == expected
    assert len({answer.text for answer in expected.values()}) > 100


def test_the_requests_in_hand_are_bounded(cluster, odd):
    settings = openai_settings(odd.url, concurrency=2)
    pulled = Pulled(slow_requests(settings, 40))
    done = 0
    with engine_for(settings, workers(cluster, 2)) as engine:
        for answers in engine.answers(pulled):
            done += len(answers)
            assert pulled.count - done <= 2 * 2 * 2
    assert done == 40
    assert odd.most_at_once <= 4


def test_what_a_dead_worker_had_in_hand_is_asked_elsewhere(cluster, odd):
    settings = openai_settings(odd.url, concurrency=3)
    requests = slow_requests(settings, 60)
    with engine_for(settings, workers(cluster, 2)) as engine:
        killed = []

        def requests_and_a_kill():
            yield from requests[:30]
            killed.append(engine._hands[0])
            engine._ray.kill(engine._hands[0].worker)
            yield from requests[30:]

        found = answered(engine, requests_and_a_kill())
        assert len(engine._hands) == 1
    assert {answer.status for answer in found.values()} == {"ok"}
    assert len(found) == 60
    # Nothing but what it had in hand was asked twice, and nothing three times.
    assert sum(times - 1 for times in odd.asked.values()) <= 6
    assert max(odd.asked.values()) <= 2


def test_what_a_dead_machine_had_in_hand_is_asked_elsewhere(cluster, odd):
    node = cluster.add_node(num_cpus=1, **_NODE)
    settings = openai_settings(odd.url, concurrency=3)
    given = []

    # How soon Ray learns that a machine is gone is its own affair: there is work until it has.
    def requests_and_a_loss():
        for request in slow_requests(settings, 4000):
            if len(given) == 40:
                cluster.remove_node(node, allow_graceful=False)
            if len(given) >= 80 and len(engine._hands) == 3:
                return
            given.append(request)
            yield request

    with engine_for(settings, workers(cluster, 4)) as engine:
        # A worker that is not up when its machine goes is none: it waits for another machine.
        ray.get([hand.call for hand in engine._hands])
        found = answered(engine, requests_and_a_loss())
        assert len(engine._hands) == 3
    assert set(found) == {request.item_id for request in given}
    assert {answer.status for answer in found.values()} == {"ok"}
    assert max(odd.asked.values()) <= 2


def test_when_all_workers_are_dead_the_run_ends_in_one_line(cluster, odd):
    settings = openai_settings(odd.url)
    requests = slow_requests(settings, 60)
    with engine_for(settings, workers(cluster, 2)) as engine:

        def requests_and_kills():
            yield from requests[:30]
            for hand in engine._hands:
                engine._ray.kill(hand.worker)
            yield from requests[30:]

        with pytest.raises(ModelError, match=r"from 2 workers, found that all have died") as caught:
            answered(engine, requests_and_kills())
    assert "\n" not in str(caught.value)


def ask_through(cluster, settings, requests, ledger, *, at_first=lambda _engine: None):
    """Ask through two workers, as a stage does."""

    class Watched:
        def __enter__(self):
            self.engine = engine_for(settings, workers(cluster, 2)).__enter__()
            return self

        def __exit__(self, *fault):
            self.engine.__exit__(*fault)

        def answers(self, stream):
            for number, answers in enumerate(self.engine.answers(stream)):
                yield answers
                if number == 0:
                    at_first(self.engine)

    return ask(
        lambda: iter(requests), total=len(requests), ledger=ledger, engine=Watched, attempts=1,
        most_failed_share=0.0, desc="toy",
    )  # fmt: skip


def test_workers_that_all_die_use_up_nothing_and_the_next_run_goes_on(cluster, odd, tmp_path):
    settings = openai_settings(odd.url)
    requests = slow_requests(settings, 40)

    def kill_all(engine) -> None:
        for hand in engine._hands:
            engine._ray.kill(hand.worker)

    with Ledger(tmp_path) as ledger:
        with pytest.raises(ModelError, match="all have died"):
            ask_through(cluster, settings, requests, ledger, at_first=kill_all)
        kept = sum(map(len, ledger.stored()))
        assert 0 < kept < 40
        summary = ask_through(cluster, settings, requests, ledger)
        assert (summary.reused, summary.ok, summary.failed) == (kept, 40 - kept, {})
        assert {answer.attempt for some in ledger.stored() for answer in some} == {1}


def test_a_busy_server_is_waited_for_by_workers_and_ends_the_run_in_one_line(cluster, tmp_path):
    busy = (503, {"message": "busy"})
    with OddServer(lambda count, _: busy if count <= 3 or count > 30 else None) as server:
        settings = openai_settings(server.url, concurrency=2, patience_s=3.0)
        requests = requests_to(settings, 40)
        with Ledger(tmp_path) as ledger:
            with pytest.raises(ModelError, match=r"answered no request for 3 s .*: status 503"):
                ask_through(cluster, settings, requests, ledger)
            assert sum(map(len, ledger.stored())) == 27
    with OddServer() as server, Ledger(tmp_path) as ledger:
        healthy = openai_settings(server.url, concurrency=2)
        summary = ask_through(cluster, healthy, requests, ledger)
        assert (summary.reused, summary.ok) == (27, 13)


def test_a_fault_of_the_engine_is_told_as_by_the_engine_itself(cluster, recorded):
    settings, _ = recorded
    unknown = request_to(settings, "unknown")
    messages = []
    for executor in (LocalExecutor(), workers(cluster, 2)):
        with (
            pytest.raises(ModelError) as caught,
            engine_for(settings, executor) as engine,
        ):
            answered(engine, [unknown])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_more_workers_than_there_is_room_for_are_refused_at_once(cluster, recorded):
    with (
        pytest.raises(ModelError, match=r"room for 9 workers of 1 CPU and 0 GPU, found room for"),
        engine_for(recorded[0], workers(cluster, 9)),
    ):
        pytest.fail("it started")


def test_a_cluster_that_is_not_there_is_named(small_models, recorded):
    executor = RayExecutor("127.0.0.1:9", 1, 1.0, 0.0)
    with (
        pytest.raises(ModelError, match=r"expected a cluster at 127\.0\.0\.1:9, found"),
        engine_for(recorded[0], executor),
    ):
        pytest.fail("it started")


def test_closing_early_ends_the_workers(cluster, odd):
    settings = openai_settings(odd.url)
    with engine_for(settings, workers(cluster, 2)) as engine:
        stream = engine.answers(slow_requests(settings, 30))
        next(stream)
        stream.close()
        assert engine._hands == []


def test_vllm_in_two_workers_answers_as_vllm_in_one_process(cluster, tiny_llama):
    settings = vllm_settings(tiny_llama)
    requests = requests_to(settings, 40, temperature=1.0)
    with engine_for(settings, workers(cluster, 2)) as engine:
        spread = answered(engine, requests)
    with engine_for(settings, LocalExecutor()) as engine:
        assert spread == answered(engine, requests)
    assert {answer.status for answer in spread.values()} == {"ok"}
