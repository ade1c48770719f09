"""Job scripts written from a site's profile: what is asked for, checked against what the site allows."""

from mlhpc.scripts.request import JobRequest, Script
from mlhpc.scripts.write import write_script

__all__ = ["JobRequest", "Script", "write_script"]
