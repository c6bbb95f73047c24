"""schemas.py "CRD..." FILE...: checks each object of Kubernetes in these files: by the schema of its CustomResourceDefinition, or of Kubernetes itself."""

import sys

import jsonschema
import kubernetes_validate
import yaml


def objects(path):
    with open(path, encoding="utf-8") as file:
        return [found for found in yaml.safe_load_all(file) if isinstance(found, dict)]


def closed(schema):
    """As an API server prunes or refuses them: no fields that the schema does not name."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and "additionalProperties" not in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema["additionalProperties"] = False
    return schema


schemas = {}
for path in sys.argv[1].split():
    for crd in objects(path):
        if crd.get("kind") == "CustomResourceDefinition":
            for version in crd["spec"]["versions"]:
                schema = version["schema"]["openAPIV3Schema"]
                schemas[f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"]] = closed(schema)

for path in sys.argv[2:]:
    for found in objects(path):
        if "kind" not in found or "apiVersion" not in found:
            continue
        name = found["apiVersion"], found["kind"]
        if name in schemas:
            schemas[name]["properties"]["metadata"] = {"type": "object"}
            jsonschema.validate(found, schemas[name])
        else:
            try:
                kubernetes_validate.validate(found, "1.31", strict=True)
            except kubernetes_validate.SchemaNotFoundError:
                if schemas:
                    sys.exit(f"{path}: there is no schema for {' '.join(name)}: name its CustomResourceDefinition in CRDS=")
                print(f"# {path}: {found['kind']} was not checked: CRDS= names no schema of it")
                continue
        print(f"# {path}: {found['kind']} is valid")
