"""Build wheel and sdist, install the wheel in a clean environment, and use it there; ``make wheel`` runs it.

What an editable install hides is looked for here: files that are not packaged, dependencies that are not
declared, imports that the core install cannot satisfy. A script, not a test, because it builds an environment.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Run in the clean environment, outside the checkout. Everything is read through the package.
_PROBE = """
import sys
from pathlib import Path

import graphmem
from graphmem.graph.queries import queries
from graphmem.interfaces.seeds import default_folder, load_seeds

package = Path(graphmem.__file__).parent
assert package.is_relative_to(sys.prefix), f"graphmem was imported from {package}"
assert default_folder() == package / "_seeds", default_folder()
for name in queries:
    assert queries[name].text.strip(), name
print("\\n".join(sorted(queries)))
print("--")
for agent in load_seeds(default_folder()).agents:
    print(agent.id)
"""


def main() -> None:
    """Build, inspect, install, use; the first thing that is wrong ends it with an error."""
    with tempfile.TemporaryDirectory(prefix="graphmem-wheel-") as folder:
        work = Path(folder)
        say("building wheel and sdist")
        run(sys.executable, "-m", "build", "--outdir", str(work / "dist"), str(ROOT))
        (wheel,) = (work / "dist").glob("*.whl")
        (sdist,) = (work / "dist").glob("*.tar.gz")
        check_contents(wheel, sdist)

        say(f"installing {wheel.name} in a clean environment")
        venv.create(work / "venv", with_pip=True)
        python = work / "venv" / "bin" / "python"
        pip = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
        run(*pip, "install", str(wheel))
        run(*pip, "check")

        say("using it")
        queries, _, agents = run(str(python), "-I", "-c", _PROBE, cwd=work).partition("--\n")
        expect("queries", set(queries.split()), {name_of(path) for path in shipped("cypher", "*.cypher")})
        expect(
            "agents of the seeds",
            set(agents.split()),
            # Those of a society, in a folder further down, live in simulate.
            {path.parent.name for path in shipped("seeds", "agent.toml") if path.parents[1].name == "seeds"},
        )
        graphmem = str(work / "venv" / "bin" / "graphmem")
        version = run(graphmem, "--version", cwd=work).strip()
        expect("version", {version}, {f"graphmem {wheel.name.split('-')[1]}"})
        run(graphmem, "--help", cwd=work)
        say(f"{version} runs; {wheel.name} holds {len(queries.split())} queries and {len(agents.split())} agents")


def check_contents(wheel: Path, sdist: Path) -> None:
    """Every query and story is in both, and so is what a licence asks for."""
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    for folder in ("cypher", "seeds"):
        expect(
            f"{folder} in the wheel",
            {name for name in inside if name.startswith(f"graphmem/_{folder}/")},
            {f"graphmem/_{folder}/{path.relative_to(ROOT / folder)}" for path in shipped(folder)},
        )
    expect(
        "modules in the wheel",
        {name for name in inside if name.endswith(".py")},
        {str(path.relative_to(ROOT)) for path in (ROOT / "graphmem").rglob("*.py")},
    )
    assert "graphmem/py.typed" in inside, "the wheel lacks py.typed"
    assert any(name.endswith("licenses/LICENSE") for name in inside), "the wheel lacks LICENSE"

    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "Makefile",
        "docker-compose.yml",
        "tests/check_wheel.py",
    ):
        assert needed in names, f"the sdist lacks {needed}"


def shipped(folder: str, pattern: str = "*") -> list[Path]:
    """The files of a folder that is packaged."""
    return [path for path in (ROOT / folder).rglob(pattern) if path.is_file()]


def name_of(query: Path) -> str:
    """What a query is addressed by."""
    return query.relative_to(ROOT / "cypher").with_suffix("").as_posix()


def expect(what: str, found: set[str], wanted: set[str]) -> None:
    """Both are the same, or it is said what is missing and what is too much."""
    assert wanted, f"{what}: nothing to compare with"
    assert found == wanted, f"{what}: missing {sorted(wanted - found)}, unexpected {sorted(found - wanted)}"


def run(*command: str, cwd: Path | None = None) -> str:
    """Run a command; what it wrote is shown when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def say(text: str) -> None:
    """Tell what happens."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
