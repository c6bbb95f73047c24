#!/usr/bin/env python3
"""crates.py DIR PACKAGE...: writes what is in binaries that are built of these packages to DIR/sbom.cdx.json, in CycloneDX's format, and
the licences of the crates among them to DIR/crates.txt."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

LICENCE = re.compile(r"(licen[sc]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def cargo(workspace, command, *arguments):
    manifest = f"--manifest-path={workspace}/Cargo.toml"
    return subprocess.run(["cargo", command, "--locked", manifest, *arguments], check=True, capture_output=True, text=True).stdout


def shipped(workspace, packages):
    """The names and versions of all crates in the binaries of those of these packages that are in this workspace: no tools and no tests."""
    own = {it["name"] for it in json.loads(cargo(workspace, "metadata", "--no-deps", "--format-version=1"))["packages"]}
    names = [option for package in packages if package in own for option in ("--package", package)]
    if not names:
        return set()
    lines = cargo(workspace, "tree", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}", *names).splitlines()
    return {tuple(line.split()[:2]) for line in lines if line and "(/" not in line}


def texts(directory):
    """The licences that a crate has in its root."""
    paths = sorted(path for path in directory.iterdir() if path.is_file() and LICENCE.match(path.name))
    return [path.read_text(errors="replace").strip() for path in paths]


def main(directory, *packages):
    by_name, checksums, crates = {}, {}, set()
    for workspace in (".", "agent"):
        of_all = json.loads(cargo(workspace, "metadata", "--format-version=1"))["packages"]
        by_name |= {(package["name"], "v" + package["version"]): package for package in of_all}
        locked = tomllib.loads(Path(workspace, "Cargo.lock").read_text())["package"]
        checksums |= {(it["name"], "v" + it["version"]): it.get("checksum") for it in locked}
        crates |= shipped(workspace, packages)
    crates = sorted(crates)
    txid = by_name[("txid", "v" + tomllib.loads(Path("Cargo.toml").read_text())["package"]["version"])]

    components = [
        {
            "type": "library",
            "name": name,
            "version": version[1:],
            "purl": f"pkg:cargo/{name}@{version[1:]}",
            "licenses": [{"expression": by_name[name, version]["license"].replace("/", " OR ")}],
            "hashes": [{"alg": "SHA-256", "content": checksums[name, version]}],
        }
        for name, version in crates
    ]
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "name": "txid", "version": txid["version"], "licenses": [{"expression": txid["license"]}]}
        },
        "components": components,
    }
    users = {}
    for name, version in crates:
        package = by_name[name, version]
        found = texts(Path(package["manifest_path"]).parent)
        # Some have none, and only name it.
        for text in found or [f"{package['license']}: " + ", ".join(package["authors"])]:
            users.setdefault(text, []).append(f"{name} {version[1:]}")
    Path(directory).mkdir(parents=True, exist_ok=True)
    Path(directory, "sbom.cdx.json").write_text(json.dumps(bom, indent=1, ensure_ascii=False) + "\n")
    parts = [", ".join(names) + "\n\n" + text + "\n" for text, names in users.items()]
    Path(directory, "crates.txt").write_text(("\n" + "-" * 72 + "\n\n").join(parts))


main(*sys.argv[1:])
