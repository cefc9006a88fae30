"""The build hook that compiles the core by mypyc, so that a wheel is one of a platform.

The modules are listed in ``pyproject.toml``, and nowhere else. The source is the same for both builds; the wheel has
it too: Python imports the compiled module that lies beside it, and tracebacks show the source. What the compiler has to
be told of a class stands in ``agentrt/native.py``. All is made in a temporary folder, so that a checkout stays pure.

Hatch calls it for a wheel where HATCH_BUILD_HOOK_ENABLE_CUSTOM is set; never for one that is installed for editing.
AGENTRT_OPTIMIZE is the level of the C compiler, 3 without it; 0 is for tests, which do not need it quick.

Rejected: hatch-mypyc (it writes into the source tree).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCore(BuildHookInterface[Any]):
    """Compiles the modules that are listed in its settings."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the compiled modules into the wheel."""
        if version == "editable":
            return
        folder = tempfile.TemporaryDirectory(prefix="agentrt-compile-")
        self._folder = folder
        built = compile_modules(self.config["modules"], Path(self.root), Path(folder.name))
        build_data["force_include"].update({str(file): str(file.relative_to(folder.name)) for file in built})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Clear up."""
        if version != "editable":
            self._folder.cleanup()


def compile_modules(modules: list[str], root: Path, folder: Path) -> list[Path]:
    """Compile modules of a tree into a folder; what was built there."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    here = Path.cwd()
    os.chdir(root)  # the compiler makes names of modules from the paths that it is given
    try:
        extensions = mypycify(
            ["--config-file=pyproject.toml", "--follow-imports=silent", *modules],
            opt_level=os.environ.get("AGENTRT_OPTIMIZE", "3"),
            debug_level="0",
            target_dir=str(folder / "made"),
            group_name="agentrt",
        )
    finally:
        os.chdir(here)
    build = Distribution({"name": "agentrt", "ext_modules": extensions}).get_command_obj("build_ext")
    build.build_lib, build.build_temp = str(folder), str(folder / "made")
    build.ensure_finalized()
    build.run()
    return [Path(file) for file in build.get_outputs()]
