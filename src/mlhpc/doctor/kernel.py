"""The kernel: does a notebook's cell run?"""

import os
import tempfile
from pathlib import Path

from mlhpc.doctor.finding import Finding

SECONDS = 90
CELL = "import mlhpc, sys; print(sys.prefix)"


def check_kernel() -> Finding:
    """Start the course's kernel as Jupyter does, and run one cell."""
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import KernelManager

    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w") as log:
        manager = KernelManager(kernel_name="python3", connection_file=str(Path(folder) / "kernel.json"))
        try:
            manager.start_kernel(env=_variables(folder), stderr=log)
            said = _run(manager)
        except (RuntimeError, OSError, TimeoutError, NoSuchKernel) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            way = "python -m ipykernel install --sys-prefix makes it again"
            return Finding("kernel", "failed", f"The kernel does not start ({reason}): {way}.")
        finally:
            if manager.has_kernel:
                manager.shutdown_kernel(now=True)
            manager.cleanup_resources()
    return Finding("kernel", "ok", f"A cell ran in the kernel of {said}.")


def _variables(folder: str) -> dict[str, str]:
    return {**os.environ, "IPYTHONDIR": folder, "PYTHONNOUSERSITE": "1"}


def _run(manager: "object") -> str:
    """Run the cell and return what it printed.

    Raises:
        RuntimeError: if the cell fails or says nothing in time.
    """
    client = manager.client()  # type: ignore[attr-defined]
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)
        printed: list[str] = []

        def keep(message: dict[str, dict[str, str]]) -> None:
            if message["header"]["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        reply = client.execute_interactive(CELL, timeout=SECONDS, output_hook=keep)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"].get("evalue", "the cell failed"))
        return "".join(printed).strip()
    finally:
        client.stop_channels()
