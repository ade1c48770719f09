"""The arithmetic of a case: fp32, tf32 or bf16, and what each device can do."""

from contextlib import AbstractContextManager

from mlhpc.errors import UsageError

PRECISIONS = ("fp32", "tf32", "bf16")


def check_precision(precision: str, device: str) -> None:
    """Refuse a precision that the device does not have.

    Raises:
        UsageError: for tf32 on a CPU, and for tf32 or bf16 on a GPU older than Ampere, which would run it by
            emulation or not at all.
    """
    if device == "cpu":
        if precision == "tf32":
            raise UsageError("tf32 is a mode of NVIDIA GPUs since Ampere; on a CPU choose fp32 or bf16.")
        return
    import torch

    major, minor = torch.cuda.get_device_capability()
    if precision in ("tf32", "bf16") and major < 8:
        name = torch.cuda.get_device_name()
        raise UsageError(
            f"{precision} needs compute capability 8.0 (Ampere); this {name} has {major}.{minor}: "
            "choose fp32."
        )


def set_float32_mode(precision: str) -> None:
    """Allow or forbid tf32 inside float32 products and convolutions of NVIDIA GPUs, for all that follows.

    torch allows it in convolutions unless told otherwise: "fp32" on an A100 would then be mostly tf32.
    """
    import torch

    mode = "tf32" if precision == "tf32" else "ieee"
    torch.backends.cuda.matmul.fp32_precision = mode
    torch.backends.cudnn.conv.fp32_precision = mode  # type: ignore[attr-defined]


def autocast(precision: str, device: str) -> AbstractContextManager[object]:
    """Return the block in which torch casts to bf16 where that is safe; without effect for fp32 and tf32."""
    import torch

    return torch.autocast(device, dtype=torch.bfloat16, enabled=precision == "bf16")
