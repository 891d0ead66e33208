"""What each request does with a model. Requests are checked here; the numbers are computed in the models."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .. import clock
from ..errors import WorkerError, is_memory
from ..train.memory_plan import MemoryPlan

if TYPE_CHECKING:
    from torch import Tensor

    from ..sampler.engine import SampleModel
    from ..world import World

T = TypeVar("T")
Tensors = dict[str, "Tensor"]
Send = Callable[[dict[str, Any], "Tensors | None"], None]
# kind, spec, options, world; of a sampler also the trainer whose weights it takes
OpenModel = Callable[..., Any]


@dataclass
class Answer:
    result: dict[str, Any] = field(default_factory=dict)
    tensors: Tensors = field(default_factory=dict)


@dataclass
class Request:
    id: int
    op: str
    args: dict[str, Any]
    tensors: Tensors
    # asks whether Trinity wants this to stop; every rank has to ask equally often
    cancelled: Callable[[], bool]

    def arg(self, name: str) -> Any:
        if name not in self.args:
            raise WorkerError("engine/request", f"{self.op} without '{name}'")
        return self.args[name]


class Background(Protocol):
    """Work that goes on between requests, one step at a time, the same on every rank: sampling."""

    def busy(self) -> bool:
        """There is a step to do. Only rank 0 is asked."""

    def gathering(self) -> bool:
        """That step is the first, and better done for several requests at once. Only rank 0 is asked."""

    def requests(self) -> set[int]:
        """Requests under way that Trinity may cancel. Only rank 0 is asked."""

    def step(self, cancelled: list[int]) -> None: ...

    def fail(self, error: dict[str, Any]) -> None:
        """A step failed on some rank: every request under way has to be answered with this."""


class Worker:
    """One rank: its place in the world, its open models by handles that are the same on every rank, and its voice."""

    def __init__(self, world: World, open_model: OpenModel, send: Send | None = None) -> None:
        self.world = world
        self.open_model = open_model
        self.background: list[Background] = []
        # of the group that weights travel in, where trainer and samplers are different processes
        self.link: Any = None
        self._send = send
        self._models: dict[int, Any] = {}
        self._next = 1

    def add(self, model: Any) -> int:
        handle = self._next
        self._next += 1
        self._models[handle] = model
        return handle

    def model(self, request: Request) -> Any:
        return self.named(request.arg("model"))

    def named(self, handle: int) -> Any:
        model = self._models.get(handle)
        if model is None:
            raise WorkerError("engine/closed", "the model is closed")
        return model

    def remove(self, handle: int) -> Any:
        return self._models.pop(handle, None)

    def close_link(self) -> None:
        if self.link is not None:
            self.link.close()
        self.link = None

    def models(self) -> list[Any]:
        return list(self._models.values())

    def make_room(self, gradients: bool, anyway: bool = False) -> bool:
        """
        Before what needs much memory for a while: caches of samplers give way where they have to, or `anyway`. Whether one
        did.
        """
        return any([model.cede(gradients, anyway) for model in self.models() if hasattr(model, "cede")])

    def with_room(self, gradients: bool, work: Callable[[], T], repeatable: Callable[[], bool] = lambda: True) -> T:
        """Where memory does not suffice all the same, the plan was wrong: caches give way, and the work is done again."""
        self.make_room(gradients)
        try:
            return work()
        except Exception as error:
            if not is_memory(error) or not repeatable() or not self.make_room(gradients, anyway=True):
                raise
            # frames of the traceback hold what filled the memory
            traceback.clear_frames(error.__traceback__)
        return work()

    def send(self, header: dict[str, Any], tensors: Tensors | None = None) -> None:
        """An event for Trinity. Said by rank 0 alone; the others may call it all the same."""
        if self._send is not None:
            self._send(header, tensors)

    def answer(self, request: int, answer: Answer) -> None:
        self.send({"id": request, "ok": True, "result": answer.result}, answer.tensors)

    def refuse(self, request: int, error: dict[str, Any]) -> None:
        self.send({"id": request, "ok": False, "error": error})


# None: the answer comes later (sampling)
Operation = Callable[[Worker, Request], "Answer | None"]


def open_(worker: Worker, request: Request) -> Answer:
    with clock.whole(f"opened a model to {request.arg('kind')}"):
        return _open(worker, request)


def _open(worker: Worker, request: Request) -> Answer:
    kind, spec, options = (request.arg(name) for name in ("kind", "spec", "options"))
    plan = MemoryPlan.of(options)
    if plan is not None and not worker.models():
        plan.check(worker.world.device)
    if kind != "sample":
        model = worker.open_model(kind, spec, options, worker.world)
    else:
        trainer = worker.named(request.args["shareWith"]) if "shareWith" in request.args else None
        model = worker.open_model(kind, spec, options, worker.world, trainer)
        model.worker = worker
        worker.background.append(model)
    found = {"model": worker.add(model), "info": model.info, "memory": model.memory()}
    return Answer({**found, "stats": model.stats()} if kind == "sample" else found)


def close(worker: Worker, request: Request) -> Answer:
    model = worker.remove(request.arg("model"))
    if model is not None:
        model.close()
    return Answer()


def memory(worker: Worker, request: Request) -> Answer:
    return Answer(worker.model(request).memory())


def forward(worker: Worker, request: Request) -> Answer:
    from ..network.rows import Rows

    model = worker.model(request)
    rows = Rows.from_tensors(request.tensors, request.arg("columns"))
    wants, adapter, budget = request.arg("wants"), request.arg("adapter"), request.arg("tokenBudget")
    return Answer(tensors=worker.with_room(False, lambda: model.forward(rows, wants, adapter, budget, request.cancelled)))


def forward_backward(worker: Worker, request: Request) -> Answer:
    from ..network.rows import Rows

    model = worker.model(request)
    rows = Rows.from_tensors(request.tensors, request.arg("columns"))
    # a norm may be NaN or infinite, which JSON has as text
    norms = {name: float(value) for name, value in request.arg("norms").items()}
    given = [request.arg(name) for name in ("wants", "coupling", "tokenBudget")]
    result = worker.with_room(
        True,
        lambda: model.forward_backward(rows, request.arg("graph"), norms, *given, request.cancelled),
        # a gradient that was half added to others cannot be taken away again
        lambda: model.gradient != "partial",
    )
    return Answer(
        {"loss": result.loss, "metrics": result.metrics, "seconds": result.seconds, "memory": model.memory()},
        result.scores,
    )


def optim_step(worker: Worker, request: Request) -> Answer:
    names = ("lr", "betas", "eps", "weightDecay", "gradClip")
    model = worker.model(request)
    worker.make_room(gradients=True)
    norm, applied = model.optim_step(*(request.arg(name) for name in names))
    return Answer({"gradNorm": float(norm), "applied": bool(applied), "memory": model.memory()})


def discard_grad(worker: Worker, request: Request) -> Answer:
    worker.model(request).discard_grad()
    return Answer()


def save(worker: Worker, request: Request) -> Answer:
    # so that Trinity need not read the files for its list of them
    return Answer({"files": worker.model(request).save(request.arg("dir")) or {}})


def load(worker: Worker, request: Request) -> Answer:
    # moments come with it
    worker.make_room(gradients=True)
    worker.model(request).load(request.arg("dir"))
    return Answer()


def save_weights(worker: Worker, request: Request) -> Answer:
    return Answer({"files": worker.model(request).save_weights(request.arg("dir")) or {}})


def reward(worker: Worker, request: Request) -> Answer:
    model = worker.model(request)
    tokens, lengths = request.tensors["tokens"], request.tensors["lengths"]
    budget = request.arg("tokenBudget")
    found = worker.with_room(False, lambda: model.reward(tokens, lengths, budget, request.cancelled))
    return Answer(tensors={"reward": found})


def sample(worker: Worker, request: Request) -> None:
    worker.model(request).sample(request)


def allow(worker: Worker, request: Request) -> Answer:
    """Masks for samples that wait for them."""
    from ..sampler.guide import masks_of

    masks = masks_of(request.tensors["masks"].numpy(), request.arg("masked"))
    worker.model(request).allow(request.arg("request"), request.arg("places"), masks)
    return Answer()


def load_weights(worker: Worker, request: Request) -> None:
    from ..sampler.change import Change

    sampler = worker.model(request)
    weights = None if sampler.holds(request.arg("dir")) else sampler.load(request.arg("dir"))

    def put(to: SampleModel) -> None:
        if weights is not None:
            to.take(weights.items())

    Change(worker, request.id, [sampler], request.arg("version"), request.arg("inFlight"), put)


def transfer(worker: Worker, request: Request) -> None:
    """From a trained model to samplers of the same worker."""
    from ..sampler.change import Change

    trainer = worker.model(request)
    samplers = [worker.named(handle) for handle in request.arg("to")]
    for sampler in samplers:
        sampler.check_fit(trainer.network)
    Change(worker, request.id, samplers, request.arg("version"), request.arg("inFlight"), lambda to: to.take_from(trainer))


def hold(worker: Worker, request: Request) -> None:
    """Answers when the sampler has come to a point where its weights may change, and keeps it there."""
    from ..sampler.change import Hold

    Hold(worker, request.id, worker.model(request), request.arg("inFlight"))


def link(worker: Worker, request: Request) -> Answer:
    """Joins the group that weights travel in. Every member has to be asked at the same time."""
    from ..sampler.link import Link
    from ..sampler.stream_link import StreamLink

    worker.close_link()
    if worker.world.first:
        where = (request.arg("rank"), request.arg("size"), worker.world.device, request.arg("seconds"))
        channel = request.args.get("channel")
        worker.link = Link(request.arg("port"), *where) if channel is None else StreamLink(channel, *where)
    return Answer()


def send_weights(worker: Worker, request: Request) -> Answer:
    from ..sampler.link import send

    return Answer({"checksum": send(worker, worker.model(request))})


def receive_weights(worker: Worker, request: Request) -> Answer:
    from ..sampler.link import receive

    return Answer({"checksum": receive(worker, worker.model(request))})


def commit(worker: Worker, request: Request) -> Answer:
    """Ends a hold: with the weights that have arrived under a version, or (without one) as it was."""
    from ..sampler.change import Hold

    return Answer(Hold.of(worker, worker.model(request)).end(request.args.get("version")))


OPERATIONS: dict[str, Operation] = {
    "open": open_,
    "close": close,
    "memory": memory,
    "forward": forward,
    "forwardBackward": forward_backward,
    "optimStep": optim_step,
    "discardGrad": discard_grad,
    "save": save,
    "load": load,
    "saveWeights": save_weights,
    "reward": reward,
    "sample": sample,
    "allow": allow,
    "loadWeights": load_weights,
    "transfer": transfer,
    "hold": hold,
    "link": link,
    "sendWeights": send_weights,
    "receiveWeights": receive_weights,
    "commit": commit,
}
