"""``mlhpc doctor``: whether the course will work here for an ordinary account, before a class finds out."""
