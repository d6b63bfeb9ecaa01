"""The four redemption callbacks in Python 3.8 or newer, standard library only: a WSGI application on SQLite.

CALLBACK_KEY=... CALLBACK_SECRET=... WALLET=0x... python3 callbacks.py

In production a WSGI server with several processes runs `app`; the table `seen_request` is shared by all of them.
"""

import hashlib
import hmac
import json
import os
import re
import sqlite3
import time
import traceback
import uuid
from contextlib import contextmanager
from pathlib import Path
from socketserver import ThreadingMixIn
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

KEY = os.environ["CALLBACK_KEY"]
SECRET = os.environ["CALLBACK_SECRET"]
BASE_PATH = "/game"
DATABASE = Path(__file__).with_name("game.db")

FRESH_MS = 300_000
MAX_BODY = 65_536
MAX_POINTS = 2**53 - 1
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


class Refusal(Exception):
    """Raised in a transaction, it undoes everything that the call did."""

    def __init__(self, code: str, message: str, **extra: str):
        super().__init__(message)
        self.body = {"success": False, "errorCode": code, "errorMessage": message, **extra}


# ---- The database ----

SCHEMA = """
CREATE TABLE IF NOT EXISTS player (
  id TEXT PRIMARY KEY,
  wallet TEXT NOT NULL UNIQUE,                  -- in lower case
  points INTEGER NOT NULL CHECK (points >= 0)
);
CREATE TABLE IF NOT EXISTS deduction (
  redemption_id TEXT PRIMARY KEY,               -- svcRedemptionId
  transaction_id TEXT UNIQUE,
  player_id TEXT REFERENCES player,
  wallet TEXT,                                  -- of the player at that time
  points INTEGER,
  status TEXT NOT NULL CHECK (status IN ('deducted', 'reverted', 'refused')),  -- refused: a tombstone
  revert_id TEXT UNIQUE,
  revert_reason TEXT
);
CREATE TABLE IF NOT EXISTS confirmation (
  redemption_id TEXT PRIMARY KEY REFERENCES deduction,
  status TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS seen_request (id TEXT PRIMARY KEY, seen_at_ms INTEGER NOT NULL);
"""


@contextmanager
def transaction():
    """All or nothing, one writer at a time. With PostgreSQL or MySQL add FOR UPDATE where a deduction is read."""
    db = sqlite3.connect(DATABASE, timeout=10, isolation_level=None)
    db.row_factory = sqlite3.Row
    try:
        db.execute("BEGIN IMMEDIATE")
        yield db
        db.execute("COMMIT")
    finally:
        db.close()  # Without the COMMIT this rolls back.


# ---- The four operations ----


def get_points(address: str) -> dict:
    with transaction() as db:
        player = db.execute("SELECT id, points FROM player WHERE wallet = ?", (address,)).fetchone()
    if player is None:
        raise Refusal("ERR-USER-NOT-FOUND", "No player has this wallet.")
    return {
        "success": True,
        "partnerUserId": player["id"],
        "address": address,
        "points": player["points"],
        "chain": "ethereum",
    }


def deduct(redemption_id: str, address: str, points: int) -> dict:
    transaction_id = f"ptx_{uuid.uuid4()}"
    with transaction() as db:
        # The primary key decides: of calls that come at once, one records the deduction.
        recorded = db.execute(
            "INSERT INTO deduction (redemption_id, transaction_id, player_id, wallet, points, status)"
            " SELECT ?, ?, id, wallet, ?, 'deducted' FROM player WHERE wallet = ?"
            " ON CONFLICT (redemption_id) DO NOTHING",
            (redemption_id, transaction_id, points, address),
        )
        if recorded.rowcount == 0:
            raise not_recorded(db, redemption_id, address, points)
        taken = db.execute(
            "UPDATE player SET points = points - ? WHERE wallet = ? AND points >= ?",
            (points, address, points),
        )
        if taken.rowcount == 0:
            raise Refusal("ERR-INSUFFICIENT-POINTS", "The player has fewer points than that.")
    return {"success": True, "partnerTransactionId": transaction_id}


def not_recorded(db, redemption_id: str, address: str, points: int) -> Refusal:
    earlier = find_deduction(db, redemption_id)
    if earlier is None:
        return Refusal("ERR-USER-NOT-FOUND", "No player has this wallet.")
    terms = (earlier["status"], earlier["wallet"], earlier["points"])
    # Names the deduction, so that a lost answer is found again; only while it stands, on these terms.
    stands = terms == ("deducted", address, points)
    extra = {"partnerTransactionId": earlier["transaction_id"]} if stands else {}
    return Refusal("ERR-DUPLICATE-REQUEST", "This redemption was already processed.", **extra)


def revert(redemption_id: str, address: str, points: int, transaction_id, reason) -> dict:
    revert_id = f"prv_{uuid.uuid4()}"
    with transaction() as db:
        # A tombstone, where there is no such deduction: one that comes later is refused.
        buried = db.execute(
            "INSERT INTO deduction (redemption_id, status) VALUES (?, 'refused')"
            " ON CONFLICT (redemption_id) DO NOTHING",
            (redemption_id,),
        )
        found = find_deduction(db, redemption_id)
        if buried.rowcount == 0 and found["status"] != "refused":
            check_revert(db, found, address, points, transaction_id)
            db.execute(
                "UPDATE deduction SET status = 'reverted', revert_id = ?, revert_reason = ?"
                " WHERE redemption_id = ?",
                (revert_id, reason, redemption_id),
            )
            # To the player whose points they were, even where another one has the wallet now.
            db.execute(
                "UPDATE player SET points = points + ? WHERE id = ?",
                (found["points"], found["player_id"]),
            )
    # Raised after the COMMIT, so that the tombstone stays.
    if found["status"] == "refused":
        raise Refusal("ERR-TRANSACTION-NOT-FOUND", "There is no such deduction.")
    return {
        "success": True,
        "partnerTransactionId": found["transaction_id"],
        "partnerRevertId": revert_id,
    }


def check_revert(db, found, address: str, points: int, transaction_id) -> None:
    if transaction_id not in (None, found["transaction_id"]):
        raise Refusal("ERR-TRANSACTION-NOT-FOUND", "The two ids are not of one deduction.")
    if found["status"] == "reverted":
        raise Refusal("ERR-ALREADY-REVERTED", "The points were given back before.")
    if points != found["points"]:
        raise Refusal("ERR-INVALID-AMOUNT", "deductPoints is not what was deducted.")
    claimed = db.execute(
        "SELECT 1 FROM confirmation WHERE redemption_id = ? AND status = 'claimed'",
        (found["redemption_id"],),
    ).fetchone()
    if address != found["wallet"] or claimed:
        raise Refusal("ERR-INTERNAL", "This contradicts our books.")


def confirm(redemption_id: str, address: str, points: int, status: str, body: str) -> dict:
    with transaction() as db:
        found = find_deduction(db, redemption_id)
        if found is None or found["status"] == "refused":
            raise Refusal("ERR-REDEMPTION-NOT-FOUND", "There is no such deduction.")
        expected = "reverted" if found["status"] == "reverted" else "claimed"
        if (status, address, points) != (expected, found["wallet"], found["points"]):
            raise Refusal("ERR-INTERNAL", "This contradicts our books.")
        # The same confirmation may come again.
        db.execute(
            "INSERT INTO confirmation (redemption_id, status, body) VALUES (?, ?, ?)"
            " ON CONFLICT (redemption_id) DO NOTHING",
            (redemption_id, status, body),
        )
    return {"success": True}


def find_deduction(db, redemption_id: str):
    return db.execute(
        "SELECT * FROM deduction WHERE redemption_id = ?", (redemption_id,)
    ).fetchone()


# ---- From the bytes to the operations, and back ----


def sign(method: str, path: str, request_id: str, body: bytes) -> str:
    content = f"{method}{path}{request_id}".encode("latin-1") + body
    return hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()


def same(expected: str, given: str) -> bool:
    """In constant time. As bytes, because compare_digest refuses texts that are not ASCII."""
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))


def authenticate(headers: dict, method: str, path: str, body: bytes) -> None:
    """The key, the signature over the raw body, the age, and that the call is new; in this order."""
    request_id = headers["request"]
    if not same(KEY, headers["key"]):
        raise Refusal("ERR-AUTH-FAILED", "X-API-KEY is missing or wrong.")
    if not same(sign(method, path, request_id, body), headers["signature"]):
        raise Refusal("ERR-AUTH-FAILED", "X-API-SIGNATURE is missing or does not match.")
    if not UUID.fullmatch(request_id) or request_id[14] != "7":
        raise Refusal("ERR-AUTH-FAILED", "X-API-REQUEST is not a UUID of version 7.")
    now_ms = time.time_ns() // 1_000_000
    made_at_ms = int(request_id.replace("-", "")[:12], 16)
    if abs(now_ms - made_at_ms) > FRESH_MS:
        raise Refusal("ERR-AUTH-FAILED", "X-API-REQUEST is more than 300 s from our clock.")
    with transaction() as db:
        db.execute("DELETE FROM seen_request WHERE seen_at_ms < ?", (now_ms - 2 * FRESH_MS,))
        first = db.execute(
            "INSERT INTO seen_request (id, seen_at_ms) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
            (request_id.lower(), now_ms),
        )
    if first.rowcount == 0:
        raise Refusal("ERR-AUTH-FAILED", "X-API-REQUEST was used before.")


def matching(pattern, value) -> str:
    """Wallets and ids in lower case, in whatever case they were sent."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Refusal("ERR-INTERNAL", "A field is missing or malformed.")
    return value.lower()


def terms_of(call: dict) -> tuple:
    points = call.get("deductPoints")
    if type(points) is not int or not 0 < points <= MAX_POINTS:
        raise Refusal("ERR-INTERNAL", "deductPoints is not a whole number of 1 or more.")
    redemption_id = matching(UUID, call.get("svcRedemptionId"))
    return redemption_id, matching(ADDRESS, call.get("address")), points


def run(name: str, query: str, body: bytes) -> dict:
    if name == "GET /get-points-by-address":
        return get_points(matching(ADDRESS, parse_qs(query).get("address", [None])[0]))
    text = body.decode("utf-8", "replace")
    try:
        call = json.loads(text)
    except ValueError:
        call = None
    if not isinstance(call, dict):
        raise Refusal("ERR-INTERNAL", "The body is not a JSON object.")
    terms = terms_of(call)
    if name == "POST /deduct-points-by-address":
        return deduct(*terms)
    if name == "POST /revert-deduct-points":
        return revert(*terms, call.get("partnerTransactionId"), call.get("revertReason"))
    if call.get("status") not in ("claimed", "reverted"):
        raise Refusal("ERR-INTERNAL", "status is neither claimed nor reverted.")
    return confirm(*terms, call["status"], text)


ENDPOINTS = (
    "GET /get-points-by-address",
    "POST /deduct-points-by-address",
    "POST /revert-deduct-points",
    "POST /confirm-redemption",
)


def answer(environ: dict, method: str, path: str, headers: dict) -> tuple:
    name = f"{method} {path[len(BASE_PATH):]}"
    if not path.startswith(BASE_PATH) or name not in ENDPOINTS:
        return "404 Not Found", Refusal("ERR-INTERNAL", "There is no such endpoint.").body
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length > MAX_BODY:
            raise Refusal("ERR-INTERNAL", "The body is too large.")
        body = environ["wsgi.input"].read(length)
        authenticate(headers, method, path, body)
        return "200 OK", run(name, environ.get("QUERY_STRING", ""), body)
    except Refusal as refusal:
        return "200 OK", refusal.body
    except Exception:
        traceback.print_exc()
        return "200 OK", Refusal("ERR-INTERNAL", "The call failed here.").body


def app(environ: dict, start_response) -> list:
    method = environ["REQUEST_METHOD"]
    # The path as it was sent, from gunicorn or from the handler below; elsewhere the decoded one, the same for our paths.
    sent = environ.get("RAW_URI") or environ["SCRIPT_NAME"] + environ["PATH_INFO"]
    path = sent.split("?")[0]
    headers = {
        name: environ.get(f"HTTP_X_API_{name.upper()}", "")
        for name in ("key", "request", "signature")
    }
    status, fields = answer(environ, method, path, headers)
    # Printed once: these bytes are signed, these bytes are sent. HEAD has no body.
    body = b"" if method == "HEAD" else json.dumps(fields).encode()
    start_response(
        status,
        [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("X-API-SIGNATURE", sign(method, path, headers["request"], body)),
        ],
    )
    return [body]


class Handler(WSGIRequestHandler):
    def get_environ(self) -> dict:
        return {**super().get_environ(), "RAW_URI": self.path}


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128


def main() -> None:
    port = int(os.environ.get("PORT", "4100"))
    players = [("player-1", os.environ["WALLET"].lower(), 50_000), ("player-2", "0x" + "e" * 40, 0)]
    with sqlite3.connect(DATABASE) as db:
        db.executescript(SCHEMA)
        db.executemany("INSERT INTO player VALUES (?, ?, ?) ON CONFLICT DO NOTHING", players)
    server = make_server("127.0.0.1", port, app, server_class=Server, handler_class=Handler)
    print(f"listening on http://127.0.0.1:{port}{BASE_PATH}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
