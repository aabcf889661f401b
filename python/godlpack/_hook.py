"""hatchling's build hook "godlpack": builds the library of the project's Go package into its wheel."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from ._project import identifier
from ._tool import TOOL, BuildError, environment, require_go


class GodlpackHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "godlpack"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds into the wheel; for an editable install, into the Python package in the project's folder."""
        if self.target_name != "wheel":
            return
        self.scratch = TemporaryDirectory(prefix="godlpack-")
        package = self.option("package")
        to = Path(self.root, package) if version == "editable" else Path(self.scratch.name)
        self.build(to)
        if version != "editable":
            build_data["force_include"].update({str(file): f"{package}/{file.name}" for file in to.iterdir()})
        build_data["pure_python"] = False
        # The library does not use Python's ABI, so one wheel serves every version.
        build_data["tag"] = "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            self.scratch.cleanup()

    def build(self, to: Path) -> None:
        try:
            env = environment(require_go())
        except BuildError as e:
            self.app.abort(str(e))
        command = [TOOL, "build", self.config.get("path", "."), "-o", to, "-name", self.option("name")]
        done = subprocess.run(command, cwd=self.root, env=env, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            self.app.abort(f"godlpack build failed:\n{done.stderr}")

    def option(self, name: str) -> str:
        """An option; by default the project's name as a Python identifier."""
        return str(self.config.get(name, identifier(self.metadata.core.name)))


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface[Any]]:
    return GodlpackHook
