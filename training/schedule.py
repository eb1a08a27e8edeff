"""How a training run is driven: optimisers, learning-rate shape, checkpoints, progress. Shared by target and draft.

Matrices inside the layers are trained by Muon, embeddings and gains by AdamW (both from torch.optim).
A run saves a checkpoint every minute and continues from it, so it can be interrupted without loss.
"""

import time
from collections.abc import Callable
from pathlib import Path

import torch

__all__ = ["Optimisers", "crops", "run"]

WARMUP_FRACTION, COOLDOWN_FRACTION = 0.02, 0.5
CHECKPOINT_SECONDS = 60


class Optimisers:
    """Muon for the matrices of the layers and AdamW for everything else, driven together."""

    def __init__(self, model: torch.nn.Module, peak_rate: float, weight_decay: float) -> None:
        layers = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
        others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
        muon = torch.optim.Muon(layers, lr=peak_rate, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
        adamw = torch.optim.AdamW(others, lr=peak_rate, betas=(0.9, 0.95), weight_decay=0.0)
        self.parts, self.peak_rate, self.model = (muon, adamw), peak_rate, model

    def step(self, progress: float) -> None:
        """Take one step at `progress` (0..1) of the run: linear warm-up, constant, then linear to zero."""
        rate = self.peak_rate * min(1.0, (progress + 1e-3) / WARMUP_FRACTION, (1.0 - progress) / COOLDOWN_FRACTION)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()
            part.zero_grad(set_to_none=True)


def crops(ids: torch.Tensor, length: int, batch: int, step: int, seed: int) -> torch.Tensor:
    """Return the (batch, length + 1) window of ids that belongs to `step`; a function of seed and step alone."""
    generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
    starts = torch.randint(0, len(ids) - length - 1, (batch,), generator=generator)
    return ids[starts[:, None] + torch.arange(length + 1)]


def run(
    name: str,
    optimisers: Optimisers,
    loss_at: Callable[[int], torch.Tensor],
    steps: int,
    checkpoint: Path,
) -> None:
    """Minimise `loss_at(step)` over `steps` steps, continuing from `checkpoint` where there is one."""
    model, first = optimisers.model, _resume(checkpoint, optimisers)
    saved = began = time.monotonic()
    mean: float | None = None
    for step in range(first, steps):
        loss = loss_at(step)
        loss.backward()
        optimisers.step(step / steps)
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if step % 20 == 0:
            left = (time.monotonic() - began) / (step + 1 - first) * (steps - step - 1)
            print(f"{name}: step {step}/{steps}  loss {mean:.4f}  {left / 60:.1f} min left", flush=True)
        if time.monotonic() - saved > CHECKPOINT_SECONDS or step == steps - 1:
            _save(checkpoint, step + 1, optimisers)
            saved = time.monotonic()
    model.eval()


def _save(checkpoint: Path, step: int, optimisers: Optimisers) -> None:
    state = {
        "step": step,
        "model": optimisers.model.state_dict(),
        "parts": [part.state_dict() for part in optimisers.parts],
    }
    partial = checkpoint.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(checkpoint)


def _resume(checkpoint: Path, optimisers: Optimisers) -> int:
    if not checkpoint.exists():
        return 0
    state = torch.load(checkpoint, weights_only=True)
    optimisers.model.load_state_dict(state["model"])
    for part, saved in zip(optimisers.parts, state["parts"], strict=True):
        part.load_state_dict(saved)
    return state["step"]
