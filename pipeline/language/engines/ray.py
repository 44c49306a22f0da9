"""Many engines on a Ray cluster behind one: workers answer, this process alone collects.

    RayEngine(VllmSettings(...), RayExecutor(workers=8, gpus_per_worker=1, ...))
      -> eight processes with vLLM each; whoever has room gets more

An answer depends on its request alone, so neither the number of workers nor which one was asked
changes it. When a worker or its machine dies, what it was asked goes to the others; a late answer
to a request that was answered meanwhile is dropped. The project lies at the same path on every
machine, with the model and the key's environment variable where the engine needs one.
"""

import os
import queue
import socket
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

import pipeline
from pipeline.errors import ModelError, PipelineError
from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import (
    EngineSettings,
    LocalExecutor,
    RayExecutor,
    TemplateSettings,
    not_installed,
    one_line,
    requests_at_a_time,
)
from pipeline.language.requests import Answer, Request

_STORE_BYTES = 200 << 20  # shared memory of a cluster started here; it passes texts only
_KNOCK_S = 10.0  # longest wait for a cluster to answer at all
_STOP_S = 60.0  # longest wait for a worker to free its model


class RayEngine:
    """An `Engine` of several; once closed in the middle of answering it answers no more."""

    def __init__(self, settings: EngineSettings, executor: RayExecutor) -> None:
        self._settings, self._executor = settings, executor
        # While a worker's answers are on their way here it goes on with what it has in hand.
        self._most = 2 * requests_at_a_time(settings)

    def __enter__(self) -> Self:
        try:
            import ray  # noqa: PLC0415
        except ImportError as fault:
            raise not_installed("ray", "ray") from fault
        self._ray = ray
        self._started_here = not ray.is_initialized()
        if self._started_here:
            _join_cluster(ray, self._executor.address)
        try:
            _check_room(ray.nodes(), self._executor)
            self._hands = [self._new_hand() for _ in range(self._executor.workers)]
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        self._leave()

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says.

        At most twice the engine's own window per worker are pulled and not answered.

        Raises:
            ModelError: A worker's model or server cannot answer, or no worker is left.
        """
        source = _Source(requests)
        try:
            while True:
                self._give(source)
                if source.is_empty() and not any(hand.flying for hand in self._hands):
                    return
                calls = {hand.call: hand for hand in self._hands if hand.call is not None}
                # One is waited for; whatever else is ready is taken along.
                self._ray.wait(list(calls), num_returns=1)
                ready, _ = self._ray.wait(list(calls), num_returns=len(calls), timeout=0)
                for call in ready:
                    answers = self._collect(calls[call], source)
                    if answers:
                        yield answers
        finally:
            if any(hand.flying for hand in self._hands):
                self._stop()

    def _give(self, source: "_Source") -> None:
        """Fill up every worker that is there and not being waited for."""
        for hand in self._hands:
            if hand.call is not None:
                continue
            given = source.take(self._most - len(hand.flying))
            hand.flying |= {_name(request): request for request in given}
            if hand.flying:
                sent = [self._as_sent(request) for request in given]
                hand.call = hand.worker.exchange.remote(sent)

    def _collect(self, hand: "_Hand", source: "_Source") -> list[Answer]:
        """Take what a worker has finished; give a dead worker's requests back to the source."""
        call, hand.call = hand.call, None
        try:
            answers = self._ray.get(call)
            hand.is_up = True
        except self._ray.exceptions.RayTaskError as fault:
            if isinstance(fault.cause, PipelineError):
                raise fault.cause from None
            raise
        except self._ray.exceptions.RayError as fault:
            self._hands.remove(hand)
            self._kill(hand)
            source.put_back(hand.flying.values())
            if not self._hands:
                raise ModelError(
                    f"executor ray: expected answers from {self._executor.workers} workers, found"
                    f" that all have died (the last: {one_line(fault)}); see their logs with"
                    " `ray logs`, then rerun (answers so far are kept)"
                ) from fault
            return []
        return [answer for answer in answers if hand.flying.pop(_name(answer), None) is not None]

    def _as_sent(self, request: Request) -> Request:
        """Return the request without what only the template engine reads."""
        if isinstance(self._settings, TemplateSettings):
            return request
        return msgspec.structs.replace(request, facts=None)

    def _new_hand(self) -> "_Hand":
        worker = self._ray.remote(Worker).options(
            num_cpus=self._executor.cpus_per_worker,
            num_gpus=self._executor.gpus_per_worker,
            scheduling_strategy="SPREAD",
            runtime_env={"env_vars": {"PYTHONPATH": str(Path(pipeline.__file__).parents[1])}},
        )
        return _Hand(worker.remote(self._settings))

    def _stop(self) -> None:
        """Let every worker free its model, then end it."""
        hands, self._hands = self._hands, []
        stops = [hand.worker.stop.remote() for hand in hands if hand.is_up]
        if stops:
            self._ray.wait(stops, num_returns=len(stops), timeout=_STOP_S)
        for hand in hands:
            self._kill(hand)

    def _kill(self, hand: "_Hand") -> None:
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(hand.worker)

    def _leave(self) -> None:
        if self._started_here:
            self._ray.shutdown()


class _Hand:
    """One worker as seen from here: what it was asked, and the call that waits for its answers.

    The first call only tells that the process is up: one that Ray finds no room for, or whose
    machine dies before, holds no requests.
    """

    def __init__(self, worker: Any) -> None:
        self.worker = worker
        self.flying: dict[tuple[str, int, str], Request] = {}
        self.call: Any = worker.ready.remote()
        self.is_up = False


class _Source:
    """The requests still to be given out; those of dead workers come first."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests = iter(requests)
        self._ended = False
        self._again: deque[Request] = deque()

    def is_empty(self) -> bool:
        """Tell whether there are no more, as far as has been seen."""
        return self._ended and not self._again

    def take(self, most: int) -> list[Request]:
        """Return so many requests, fewer when there are no more."""
        taken: list[Request] = []
        while len(taken) < most:
            request = self._again.popleft() if self._again else next(self._requests, None)
            if request is None:
                self._ended = True
                break
            taken.append(request)
        return taken

    def put_back(self, requests: Iterable[Request]) -> None:
        """Take back what was given out and not answered."""
        self._again.extend(requests)


class Worker:
    """The process on the other side: an engine in a thread, a queue to it and a queue from it."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._asked: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._answered: queue.SimpleQueue[list[Answer] | BaseException] = queue.SimpleQueue()
        self._in_engine = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def ready(self) -> list[Answer]:
        """Tell that this process is up, by no answers."""
        return []

    def exchange(self, requests: list[Request]) -> list[Answer]:
        """Take requests in, then wait for at least one answer to any that were ever taken in."""
        for request in requests:
            self._asked.put(request)
        answers: list[Answer] = []
        while not answers or not self._answered.empty():
            found = self._answered.get()
            if not isinstance(found, BaseException):
                answers += found
            elif answers:
                self._answered.put(found)  # for the next call; what is finished goes first
                break
            else:
                raise found
        return answers

    def stop(self) -> None:
        """Free the model; nothing more is answered."""
        self._stopping = True
        self._asked.put(None)
        self._thread.join(_STOP_S)

    def _work(self) -> None:
        try:
            with engine_for(self._settings, LocalExecutor()) as engine:
                while not self._stopping:
                    for answers in engine.answers(self._pull()):
                        self._in_engine -= len(answers)
                        self._answered.put(answers)
                        if self._stopping:
                            return
        except BaseException as fault:  # raised again where somebody waits for it
            self._answered.put(fault)

    def _pull(self) -> Iterator[Request]:
        """Yield requests, but never let the engine wait for one while it could answer others."""
        while True:
            try:
                request = self._asked.get(block=self._in_engine == 0)
            except queue.Empty:
                return
            if request is None:
                return
            self._in_engine += 1
            yield request


def _name(of: Request | Answer) -> tuple[str, int, str]:
    return of.key, of.attempt, of.item_id


def _join_cluster(ray: Any, address: str | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    here = {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's notes on its own coming versions
        try:
            if address is None:
                ray.init(address="local", **quiet, **here)
            else:
                if address != "auto":
                    _knock(address)  # Ray itself would try for ten minutes
                ray.init(address=address, **quiet)
        except (OSError, RuntimeError, ValueError) as fault:
            raise ModelError(
                f"executor ray: expected a cluster at {address or 'this machine'}, found"
                f" {one_line(fault)}; start one with `ray start --head`, mend executor.address, or"
                " set null to start one here"
            ) from fault


def _knock(address: str) -> None:
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), timeout=_KNOCK_S).close()


def _check_room(nodes: list[dict[str, Any]], executor: RayExecutor) -> None:
    """Refuse more workers than will ever fit: Ray would wait for room without end."""
    needs = {"CPU": executor.cpus_per_worker, "GPU": executor.gpus_per_worker}
    needs = {name: need for name, need in needs.items() if need}
    has = [node["Resources"] for node in nodes if node["Alive"]]
    room = sum(
        int(min((node.get(name, 0) // need for name, need in needs.items()), default=2**31))
        for node in has
    )
    if room < executor.workers:
        found = ", ".join(
            f"{sum(node.get(name, 0) for node in has):g} {name}" for name in ("CPU", "GPU")
        )
        raise ModelError(
            f"executor ray: expected room for {executor.workers} workers of"
            f" {executor.cpus_per_worker:g} CPU and {executor.gpus_per_worker:g} GPU, found room"
            f" for {room} ({found} on {len(has)} machines); lower executor.workers or add machines"
        )
