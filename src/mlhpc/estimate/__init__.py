"""What a run will need, from counting and from small measurements: memory and time."""
