"""Checks that every public name of a package has complete types, with pyright's `--verifytypes`.

Pyright looks for the package in the environment of the first `python` on the PATH, so that is set to ours. The report
is read as JSON and each incomplete name is printed with its reason, so that the output of a failed gate is short.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run pyright on the package named on the command line; 1 when a public type is missing or partly unknown."""
    package = sys.argv[1]
    scripts = Path(sys.executable).parent
    done = subprocess.run(
        [scripts / "pyright", "--verifytypes", package, "--ignoreexternal", "--outputjson"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"},
    )
    try:
        found = json.loads(done.stdout)["typeCompleteness"]
    except (ValueError, KeyError):
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        return 1
    public = [symbol for symbol in found["symbols"] if symbol["isExported"]]
    incomplete = [symbol for symbol in public if symbol["isTypeAmbiguous"] or not symbol["isTypeKnown"]]
    for symbol in incomplete:
        for diagnostic in symbol["diagnostics"]:  # a class is only incomplete because of what is in it, and has none
            print(f"{symbol['name']}: {' '.join(diagnostic['message'].split())}")
    print(f"{package}: {len(public)} public names, {len(incomplete)} of them without complete types")
    return 1 if incomplete or not public else 0


if __name__ == "__main__":
    sys.exit(main())
