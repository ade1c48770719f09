"""An Open OnDemand app for the course, made from a site's profile."""
