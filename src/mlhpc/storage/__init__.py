"""Storage: which files a purge by age takes next. It lists files and never changes or removes one."""
