"""A first profile from what the machine itself says: Slurm's commands, the file systems, the GPUs here."""
