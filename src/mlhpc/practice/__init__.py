"""The practice cluster: real Slurm clusters and a real HTCondor pool on one machine, without root."""
