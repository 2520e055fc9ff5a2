"""The process of the embedded Neo4j server: started by ``embedded.py`` as a script, never imported.

It reads what to start as one JSON object on its standard input, leaves its parent, starts Neo4j inside its own JVM
and waits for SIGTERM. Only the standard library and JPype are imported, which keeps it quick and small.

Its whole life it holds the lock on the data directory that it inherited. The kernel drops that lock however the
process ends, so the lock alone tells whether a server is alive; process ids can be reused, a lock cannot.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

_WATCH_SECONDS = 5.0


def main() -> None:
    """Run the server that standard input describes until SIGTERM."""
    launch: dict[str, Any] = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # the starter waits for this process only, and so never has to reap the server
    sys.stdin.close()
    os.umask(0o077)
    # Nothing that this process may start itself shall keep the lock alive.
    os.set_inheritable(launch["lock_fd"], False)
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _write_state(launch, pid=os.getpid())
    try:
        server = _start(launch)
        _write_state(launch, pid=os.getpid(), ready=True)
        _log(f"ready, process {os.getpid()}")
        _wait(stopped, Path(launch["state_file"]))
        server.shutdown()
        _log("stopped")
        if Path(launch["state_file"]).exists():
            _write_state(launch, pid=None)
    except Exception as error:  # whatever it is, the starter shows the last line of this log
        traceback.print_exc()
        _log(_root_cause(error))
        _exit(1)
    # Not sys.exit: Neo4j is down, and waiting for the JVM's own shutdown would only cost time.
    _exit(0)


def _start(launch: dict[str, Any]) -> Any:
    """Start the JVM and Neo4j in it; returns when the database answers.

    Returns:
        Neo4j's ``DatabaseManagementService``.
    """
    jpype: Any = importlib.import_module("jpype")  # it has no type stubs
    jpype.startJVM(launch["jvm"], *launch["jvm_options"], classpath=launch["class_path"])
    path_of = jpype.JClass("java.nio.file.Path").of
    home = path_of(launch["home"])
    password = Path(launch["password_file"]).read_text("ascii")
    if not (Path(launch["home"]) / "data" / "databases").exists():
        _set_first_password(jpype, home, password)
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")(home)
    server = builder.loadPropertiesFromFile(path_of(launch["config_file"])).build()
    _ensure_password(jpype, server, password)
    if not server.database("neo4j").isAvailable(60_000):
        raise RuntimeError("the database neo4j did not become available within 60 s")
    return server


def _set_first_password(jpype: Any, home: Any, password: str) -> None:
    """Have the store made with this password: what ``neo4j-admin dbms set-initial-password`` does.

    Changing it afterwards takes a statement, and the first statement of a server costs seconds.
    """
    silent = jpype.JClass("java.io.PrintStream")(jpype.JClass("java.io.OutputStream").nullOutputStream())
    files = jpype.JClass("org.neo4j.io.fs.DefaultFileSystemAbstraction")()
    context = jpype.JClass("org.neo4j.cli.ExecutionContext")(home, home, silent, silent, files)
    command = jpype.JClass("org.neo4j.commandline.admin.security.SetInitialPasswordCommand")(context)
    jpype.JClass("picocli.CommandLine").populateCommand(command, "--", password)
    command.execute()


def _ensure_password(jpype: Any, server: Any, password: str) -> None:
    """Make the password in the file the one that the server takes.

    It is not when the password file was lost and made anew, or when the very first start was killed half-way.
    """
    system = server.database("system")
    tokens = jpype.JClass("org.neo4j.kernel.api.security.AuthToken")
    logins = system.getDependencyResolver().resolveDependency(jpype.JClass("org.neo4j.kernel.api.security.AuthManager"))
    token = tokens.newBasicAuthToken("neo4j", password)
    where = jpype.JClass("org.neo4j.internal.kernel.api.connectioninfo.ClientConnectionInfo")
    result = logins.login(token, where.EMBEDDED_CONNECTION).subject().getAuthenticationResult()
    if str(result) == "SUCCESS":
        return
    parameters = jpype.JClass("java.util.HashMap")()
    parameters.put("password", password)
    system.executeTransactionally("ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED", parameters)


def _wait(stopped: threading.Event, state_file: Path) -> None:
    """Wait for SIGTERM, or for someone to delete the data directory, whose server nobody could find any more."""
    while not stopped.wait(_WATCH_SECONDS):
        if not state_file.exists():
            _log("the data directory is gone")
            return


def _write_state(launch: dict[str, Any], *, pid: int | None, ready: bool = False) -> None:
    file = Path(launch["state_file"])
    state = launch["state"] | {"pid": pid, "ready": ready}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(state), "utf-8")
    part.replace(file)


def _root_cause(error: BaseException) -> str:
    """The innermost cause in one line: Neo4j wraps the reason in several layers."""
    cause: Any = error
    while (inner := getattr(cause, "getCause", lambda: None)()) is not None:
        cause = inner
    return " ".join(str(cause).split()) or type(cause).__name__


def _log(message: str) -> None:
    sys.stdout.write(f"graphmem: {message}\n")
    sys.stdout.flush()


def _exit(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
