"""The NVIDIA GPUs that this process can use, through NVML (the library behind ``nvidia-smi``).

NVML lists what the node, container or job lets this process see; CUDA then narrows it by
``CUDA_VISIBLE_DEVICES``. Rules: the CUDA C++ Programming Guide, "CUDA Environment Variables", and the MIG
User Guide, "Device Enumeration".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlhpc.machine.model import Gpu
from mlhpc.machine.sources import Sources


@dataclass(frozen=True)
class Device:
    """A GPU or a MIG instance as NVML shows it, before ``CUDA_VISIBLE_DEVICES`` is applied."""

    uuid: str
    name: str
    memory_bytes: int
    compute_capability: str | None
    in_multi_instance_mode: bool = False
    """True for a GPU that can be used only through its MIG instances."""
    instances: tuple["Device", ...] = ()
    """The MIG instances that such a GPU is cut into."""
    is_instance: bool = False
    """True for a MIG instance."""


@dataclass(frozen=True)
class Inventory:
    """All devices, the driver's version and what went wrong while asking."""

    devices: tuple[Device, ...] = ()
    driver: str | None = None
    faults: tuple[str, ...] = ()


def read_gpus(sources: Sources) -> tuple[tuple[Gpu, ...], tuple[str, ...]]:
    """Return the GPUs that CUDA would show to this process, in its order, and sentences about faults.

    ``index`` is the number in ``cuda:N``. A machine without the NVIDIA library has no GPU; that is no fault.
    """
    inventory = take_inventory()
    visible = select(inventory.devices, sources.environment.get("CUDA_VISIBLE_DEVICES"))
    gpus = tuple(
        Gpu(
            index=index,
            name=device.name,
            memory_bytes=device.memory_bytes,
            compute_capability=device.compute_capability,
            driver=inventory.driver,
            multi_instance=device.is_instance,
        )
        for index, device in enumerate(visible)
    )
    return gpus, inventory.faults


def select(devices: Sequence[Device], setting: str | None) -> tuple[Device, ...]:
    """Return the devices that ``CUDA_VISIBLE_DEVICES`` leaves, in its order; None means that it is not set.

    CUDA stops at the first entry that names no device, so an empty value and ``-1`` hide all. Of a GPU in MIG
    mode a process gets one instance, and of several instances only the first.
    """
    chosen: list[Device] = []
    for device in devices if setting is None else _named(devices, setting):
        has_instance = any(earlier.is_instance for earlier in chosen)
        usable = device.instances[:1] if device.in_multi_instance_mode else (device,)
        chosen += [choice for choice in usable if not (choice.is_instance and has_instance)]
    return tuple(chosen)


def _named(devices: Sequence[Device], setting: str) -> Iterator[Device]:
    """Yield what the entries name: a number, or the beginning of one device's UUID."""
    everything = [*devices, *(instance for device in devices for instance in device.instances)]
    for entry in (part.strip() for part in setting.split(",")):
        if entry.isascii() and entry.isdigit():
            matches = list(devices[int(entry) : int(entry) + 1])
        elif entry.startswith(("GPU-", "MIG-")):
            matches = [device for device in everything if device.uuid.startswith(entry)]
        else:
            matches = []
        if len(matches) != 1:
            return
        yield matches[0]


def take_inventory() -> Inventory:
    """Ask NVML for all devices that it shows to this process."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return Inventory()
    except pynvml.NVMLError as error:
        fault = f"The NVIDIA driver does not answer ({error}): choose another node or tell its operators."
        return Inventory(faults=(fault,))
    try:
        return _list_devices(pynvml)
    finally:
        pynvml.nvmlShutdown()


def _list_devices(nvml: Any) -> Inventory:
    devices: list[Device] = []
    faults: list[str] = []
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            devices.append(_describe(nvml, nvml.nvmlDeviceGetHandleByIndex(index)))
        except nvml.NVMLError as error:
            faults.append(
                f"GPU {index} does not answer ({error}): choose another node or tell its operators, "
                "and do not trust the numbers of the GPUs behind it."
            )
    driver = _optional(nvml, nvml.nvmlSystemGetDriverVersion)
    return Inventory(tuple(devices), driver, tuple(faults))


def _describe(nvml: Any, handle: Any) -> Device:
    capability = _optional(nvml, lambda: nvml.nvmlDeviceGetCudaComputeCapability(handle))
    text = None if capability is None else f"{capability[0]}.{capability[1]}"
    mode = _optional(nvml, lambda: nvml.nvmlDeviceGetMigMode(handle))
    device = _device(nvml, handle, text)
    if mode is None or mode[0] != nvml.NVML_DEVICE_MIG_ENABLE:
        return device
    instances = tuple(_instances(nvml, handle, text))
    return replace(device, in_multi_instance_mode=True, instances=instances)


def _instances(nvml: Any, handle: Any, capability: str | None) -> Iterator[Device]:
    """Yield the MIG instances of a GPU; the slots that hold none answer that nothing is there."""
    for index in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except nvml.NVMLError_NotFound:
            continue
        yield replace(_device(nvml, instance, capability), is_instance=True)


def _device(nvml: Any, handle: Any, capability: str | None) -> Device:
    memory = _optional(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(handle).total)
    if memory is None:
        # A chip that shares main memory with the processor (GB10, Jetson) has no memory of its own to report.
        import psutil

        memory = psutil.virtual_memory().total
    return Device(
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        memory_bytes=int(memory),
        compute_capability=capability,
    )


def _optional(nvml: Any, ask: Callable[[], Any]) -> Any:
    """Return the answer, or None where this device or driver does not know the question."""
    try:
        return ask()
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_FunctionNotFound):
        return None
