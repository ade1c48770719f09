"""``python -m mlhpc`` is the same as ``mlhpc``."""

from mlhpc.cli import main

if __name__ == "__main__":
    main()
