"""A fake file system tree and environment: the only stand-in for a machine in these tests."""

from pathlib import Path

from mlhpc.machine import Sources

CPUINFO = """processor\t: 0
model name\t: AMD EPYC 9654 96-Core Processor
flags\t\t: fpu sse2 avx2 avx512f avx512_bf16 not_a_real_flag

processor\t: 1
model name\t: AMD EPYC 9654 96-Core Processor
flags\t\t: fpu
"""

UNIFIED = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
VERSION_1 = (
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "36 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


class FakeTree:
    """Files under a temporary folder that look like ``/proc`` and ``/sys`` of a node with 64 cores."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment: dict[str, str] = {"PATH": "/fake/bin"}
        self.write("/proc/cpuinfo", CPUINFO)
        self.write("/proc/meminfo", "MemTotal:       268435456 kB\nMemFree:  1 kB\n")
        self.write("/proc/loadavg", "0.10 0.20 0.30 1/200 4242\n")
        self.write("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1 1 1\n")
        self.write("/proc/self/status", "Name:\tpython\nCpus_allowed_list:\t0-63\n")
        self.write("/proc/sys/kernel/osrelease", "6.1.0-13.site.example-amd64\n")
        self.write("/etc/os-release", 'NAME="Rocky Linux"\nVERSION_ID="9.4"\nHOME_URL="https://x"\n')
        self.write("/sys/devices/system/cpu/online", "0-63\n")
        self.write("/proc/self/cgroup", "0::/\n")
        self.write("/proc/self/mountinfo", UNIFIED)

    def write(self, path: str, text: str) -> None:
        """Write one file of the tree; ``path`` is absolute as in the real system."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def sources(self) -> Sources:
        """Return what the functions under test read from."""
        return Sources(root=self.root, environment=self.environment)
