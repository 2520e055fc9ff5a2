"""What a server refuses, by its code, with what a person can do about it."""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.errors import (
    AuthenticationFailed,
    GraphmemError,
    IndexUnavailable,
    NotPermitted,
    StoreError,
    StoreUnavailable,
)

FAULT = "this looks like a fault of graphmem: please report it, with what --debug shows or the traceback"


@dataclass(frozen=True)
class Target:
    """What a store is connected to, as errors tell it."""

    uri: str
    database: str
    user: str
    has_password: bool


def refusal(target: Target, *, code: str, message: str, account: bool, away: bool) -> GraphmemError:
    """What the server refused, as an error of ours.

    Args:
        target: What was talked to.
        code: Neo4j's, such as ``Neo.ClientError.Security.Forbidden``.
        message: Its message, on one line.
        account: Whether the driver takes it for a refusal of the account,
        away: or of a database that is not available.
    """
    where = f"database {target.database!r} at {target.uri}"
    its_account = "set GRAPHMEM_USER (or --user) and GRAPHMEM_PASSWORD to an account of that server"
    match code.removeprefix("Neo.").split(".", 1)[-1]:
        case "Security.CredentialsExpired":
            return AuthenticationFailed(
                f"{target.uri} wants the password of {target.user!r} changed before anything else",
                remedy="sign in to Neo4j Browser once, or run in its database system: "
                "ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'",
            )
        case "Security.AuthenticationRateLimit":
            return AuthenticationFailed(
                f"{target.uri} refuses {target.user!r} for a while, after too many wrong passwords",
                remedy="wait a few seconds, then try again with the right one",
            )
        case "Security.Unauthorized" if not target.has_password:
            return AuthenticationFailed(f"{target.uri} wants a password, and none was given", remedy=its_account)
        case _ if account:
            return AuthenticationFailed(f"{target.uri} refused the user name or password", remedy=its_account)
        case "Security.Forbidden":
            return NotPermitted(
                f"{target.user!r} may not do this in {where}: {message}",
                remedy="use an account that may read, write and, the first time, change the schema",
            )
        case "General.WriteOnReadOnlyAccessDatabase" | "General.ForbiddenOnReadOnlyDatabase" | "General.ReadOnly":
            return NotPermitted(
                f"{where} can only be read: {message}",
                remedy="have it opened for writing (server.databases.read_only in neo4j.conf), or use another database",
            )
        case "Database.DatabaseNotFound":
            return StoreError(
                f"there is no {where}",
                remedy="set GRAPHMEM_DATABASE (or --database) to one that SHOW DATABASES lists; "
                "the Community edition has one, neo4j",
            )
        case _ if away:
            return StoreUnavailable(
                f"{where} is not available: {message}",
                remedy="SHOW DATABASES tells its state, and the server's log why",
            )
        case tail if tail == "Transaction.TransactionLogError" or "encountered a critical error" in message:
            return StoreUnavailable(
                f"{where} has stopped after a failure of its own: {message[:200]}",
                remedy="what was committed is kept; the server's log tells the cause, such as a full disk, after which "
                "it must be restarted (the embedded one: graphmem down, graphmem up)",
            )
        case tail if tail == "Schema.IndexNotFound" or (
            tail == "Procedure.ProcedureCallFailed" and "index" in message.lower()
        ):
            return IndexUnavailable(message, remedy="run graphmem status, then open the store again")
        case tail if code.startswith("Neo.TransientError."):
            return StoreUnavailable(
                f"{where} was too busy for too long ({tail}): {message[:200]}",
                remedy="nothing was changed: try again, with fewer writers at once or a longer GRAPHMEM_RETRY_TIMEOUT",
            )
        case _:
            return StoreError(f"Neo4j refused a statement ({code}): {message}", remedy=FAULT)
