"""What follows the program while a budget or a recording is active; all of it can be undone.

New threads switch interposition on, saving and pickling say that they only read, and an optimizer's
step is told to the runtime.
"""

import _thread
import contextlib
import functools
import multiprocessing.reduction
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Patches:
    def __init__(self, ops: Any) -> None:
        self._ops = ops
        self._undo = contextlib.ExitStack()
        self._active = True
        self._reading = Reading(ops)
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.undo)
            self._follow_threads()
            self._follow_saving()
            self._follow_lists()
            self._follow_addresses()
            self._follow_steps()
            on_failure.pop_all()

    def undo(self) -> None:
        self._active = False
        self._undo.close()

    def _swap(self, owner: Any, name: str, new: Any) -> None:
        """If someone puts another function over ours, that one stays, and ours passes calls on."""
        had_own, old = name in vars(owner), vars(owner).get(name)

        def restore() -> None:
            if vars(owner).get(name) is not new:
                return
            if had_own:
                setattr(owner, name, old)
            else:
                delattr(owner, name)

        setattr(owner, name, new)
        self._undo.callback(restore)

    def _follow_threads(self) -> None:
        for owner in (_thread, threading):
            for name in ("start_new_thread", "start_new", "start_joinable_thread"):
                for spelling in (name, "_" + name):
                    if original := getattr(owner, spelling, None):
                        self._swap(owner, spelling, self._starting(original))

    def _starting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def start(function: Any, *args: Any, **kwargs: Any) -> Any:
            managed = self._managed(function) if callable(function) else function
            return original(managed, *args, **kwargs)

        return start

    def _managed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self._active:
                self._ops.enable(True)
            return function(*args, **kwargs)

        return run

    def _follow_saving(self) -> None:
        """torch.save, pickle and copies by pickling all end in the first two."""
        import torch.serialization

        save, legacy_save = torch.serialization._save, torch.serialization._legacy_save
        pickler = multiprocessing.reduction.ForkingPickler
        dump, dumps = pickler.dump, pickler.dumps

        @functools.wraps(save)
        def save_reading(obj: Any, zip_file: Any, *args: Any, **kwargs: Any) -> None:
            with self._reading.on():
                save(obj, RecordWriter(zip_file, self._reading), *args, **kwargs)

        @functools.wraps(legacy_save)
        def legacy_save_reading(*args: Any, **kwargs: Any) -> None:
            with self._reading.on():
                legacy_save(*args, **kwargs)

        def dump_reading(pickling: Any, obj: Any) -> None:
            with self._reading.on():
                dump(pickling, obj)

        def dumps_reading(cls: Any, *args: Any, **kwargs: Any) -> Any:
            with self._reading.on():
                return dumps(*args, **kwargs)

        self._swap(torch.serialization, "_save", save_reading)
        self._swap(torch.serialization, "_legacy_save", legacy_save_reading)
        self._swap(pickler, "dump", dump_reading)
        self._swap(pickler, "dumps", classmethod(dumps_reading))

    def _follow_lists(self) -> None:
        """tolist reads bytes without an op: where they cannot come back it has to say so."""
        import torch

        tolist = torch.Tensor.tolist

        @functools.wraps(tolist)
        def tolist_reading(tensor: Any) -> Any:
            with self._reading.on():
                try:
                    tensor.data_ptr()
                except torch.OutOfMemoryError:
                    raise
                except RuntimeError:  # it has no bytes of its own
                    pass
                return tolist(tensor)

        self._swap(torch.Tensor, "tolist", tolist_reading)

    def _follow_addresses(self) -> None:
        """Who asks where a tensor's bytes are, only to read them, wants them to stay there too."""
        import torch

        const_data_ptr = torch.Tensor.const_data_ptr

        @functools.wraps(const_data_ptr)
        def staying(tensor: Any) -> Any:
            tensor.data_ptr()
            return const_data_ptr(tensor)

        self._swap(torch.Tensor, "const_data_ptr", staying)

    def _follow_steps(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def end_step(*_: Any) -> None:
            self._ops.step()

        self._undo.callback(register_optimizer_step_post_hook(end_step).remove)


class Reading:
    """Switches reading on for the outermost of nested uses, in each thread for itself."""

    def __init__(self, ops: Any) -> None:
        self._ops = ops
        self._here = threading.local()

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        self._here.depth = depth = getattr(self._here, "depth", 0) + 1
        try:
            if depth == 1:
                self._ops.reading(True)
            yield
        finally:
            self._here.depth -= 1
            if depth == 1:
                self._ops.reading(False)

    def renew(self) -> None:
        """Lets go of what was restored so far."""
        if self._here.depth == 1:
            self._ops.reading(False)
            self._ops.reading(True)


class RecordWriter:
    """torch.save writes one storage after the other: none need stay for the next."""

    def __init__(self, zip_file: Any, reading: Reading) -> None:
        self._zip_file = zip_file
        self._reading = reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._zip_file, name)

    def write_record(self, *args: Any) -> Any:
        written = self._zip_file.write_record(*args)
        self._reading.renew()
        return written
