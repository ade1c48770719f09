"""From a request to a script, whatever the scheduler is."""

from mlhpc.scripts.choose import choose_cluster
from mlhpc.scripts.htcondor import condor_script
from mlhpc.scripts.request import JobRequest, Script
from mlhpc.scripts.slurm import slurm_script
from mlhpc.sites.clusters import SlurmCluster
from mlhpc.sites.schema import Site


def write_script(site: Site, request: JobRequest) -> Script:
    """Return the script that asks ``site`` for what ``request`` names.

    What the profile does not know is left out and becomes a remark; what the site does not allow is refused.

    Raises:
        UsageError: with the reason and the nearest thing that works.
    """
    cluster = choose_cluster(site, request)
    if isinstance(cluster, SlurmCluster):
        return slurm_script(site, cluster, request)
    return condor_script(site, cluster, request)
