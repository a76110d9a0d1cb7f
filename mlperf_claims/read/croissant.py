"""Describe `data/` as a Croissant dataset, from its own data dictionary."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from mlperf_claims import paths
from mlperf_claims.read.collect import load_pins
from mlperf_claims.read.grains import COLUMNS, CONSTANTS, KEYS

DESCRIPTION = paths.DATA / "croissant.json"
TYPES = {"text": "sc:Text", "int": "sc:Integer", "float": "sc:Float"}
LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
CONTEXT = {  # of Croissant 1.0, whose specification gives it: what each key means
    **{"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/"},
    **{"cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/"},
    **{"dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo"},
    **{key: {"@id": f"cr:{key}", "@type": "@json"} for key in ("data", "examples")},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{
        key: f"cr:{key}"
        for key in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
            *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
            "transform",
        )
    },
}


def describe_data(folder: Path = paths.DATA) -> dict[str, Any]:
    """Return the Croissant metadata of a data folder: each table with its checksum, columns, types and key.

    Source: Croissant 1.0, https://docs.mlcommons.org/croissant/docs/croissant-spec.html
    """
    dictionary = load_dictionary(folder / "README.md")
    files = {name: f"training/{name}.csv" for name in COLUMNS} | {name: f"{name}.csv" for name in CONSTANTS}
    keys = KEYS | {name: columns[:1] for name, columns in CONSTANTS.items()}
    cited = yaml.safe_load(paths.CITATION.read_text(encoding="utf-8"))
    rounds = ", ".join(pin["name"] for pin in load_pins(folder / "sources.csv"))
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "mlperf-training-logs-read",
        "description": "Facts read from the result logs of MLPerf Training, one table per grain, each run with path "
        f"and blob of its log. Read from {rounds}, at the commits in sources.csv.",
        "license": LICENCE,
        "version": str(cited["version"]),
        "datePublished": str(cited["date-released"]),
        "citeAs": f"{cited['title']}, version {cited['version']}. {cited['message']}",
        "creator": {"@type": "sc:Organization", "name": "MLCommons and its submitters (logs)"},
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": f"{name}.csv",
                "name": f"{name}.csv",
                "contentUrl": path,
                "encodingFormat": "text/csv",
                "sha256": hashlib.sha256((folder / path).read_bytes()).hexdigest(),
            }
            for name, path in files.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name,
                "name": name,
                "description": dictionary[name][0],
                "key": [{"@id": f"{name}/{column}"} for column in keys[name]],
                "field": [_describe_column(name, *row) for row in dictionary[name][1]],
            }
            for name in files
        ],
    }


def load_dictionary(path: Path) -> dict[str, tuple[str, list[tuple[str, str, str]]]]:
    """Load the data dictionary: table: (its grain, its columns as name, type, meaning with unit)."""
    tables = {}
    for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, *lines = section.splitlines()
        if not title.startswith("`"):
            continue
        rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines if line[:3] == "| `"]
        name, grain = title.strip("`").split(".csv`: ")
        tables[name] = (grain, [_read_row(row) for row in rows])
    return tables


def _read_row(cells: list[str]) -> tuple[str, str, str]:
    column, kind, unit, meaning, empty, _ = cells
    parts = [meaning.replace("`", ""), f"in {unit}" if unit else "", "" if "never" in empty else f"empty: {empty}"]
    return column, kind, "; ".join(part for part in parts if part).replace("`", "")


def _describe_column(table: str, column: str, kind: str, meaning: str) -> dict[str, Any]:
    source = {"fileObject": {"@id": f"{table}.csv"}, "extract": {"column": column}}
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        "description": meaning or column,
        "dataType": TYPES[kind],
        "source": source,
    }


def main() -> int:
    text = json.dumps(describe_data(), indent=1, ensure_ascii=False) + "\n"
    temporary = DESCRIPTION.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(DESCRIPTION)
    return 0


if __name__ == "__main__":
    sys.exit(main())
