"""Sites: where one can run, and what its rules are. A profile per site, typed and strict."""
