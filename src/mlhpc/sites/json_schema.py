"""The JSON schema of a profile, made from the types, so that editors complete and check profiles."""

import json

from mlhpc.sites.schema import Site


def schema_text() -> str:
    """Return the schema (JSON Schema 2020-12) as text that ends with a line break."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Profile of a site in ML on HPC",
        **Site.model_json_schema(),
    }
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
