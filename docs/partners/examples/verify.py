"""Signatures in Python 3.8 or newer, standard library only.

python3 verify.py [signature-vectors.json]    checks every worked example
"""

import hashlib
import hmac
import json
import sys
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

FRESH_SECONDS = 300


def sign(secret: str, *parts: bytes) -> str:
    """Lower-case hex. The key is the text of the secret as you got it: not decoded, not trimmed."""
    return hmac.new(secret.encode("utf-8"), b"".join(parts), hashlib.sha256).hexdigest()


def matches(expected: str, given: str) -> bool:
    """In constant time. As bytes, because compare_digest refuses texts that are not ASCII."""
    return hmac.compare_digest(expected.encode(), (given or "").encode("utf-8", "replace"))


def is_from_staking_api(secret: str, method: str, path: str, body: bytes, signature: str) -> bool:
    """An answer of the staking API. `path` without the query; `body` as received, before json.loads."""
    return matches(sign(secret, method.encode(), path.encode(), body), signature)


def requested_at(answer: dict) -> datetime:
    """The time at which the staking API received the request."""
    moment = datetime.strptime(answer["requestedAt"], "%Y-%m-%dT%H:%M:%S.%fZ")
    return moment.replace(tzinfo=timezone.utc)


def is_timely(answer: dict, now: float) -> bool:
    """The signature of an answer of the staking API does not expire: one that is older may be a replay."""
    return abs(now - requested_at(answer).timestamp()) <= FRESH_SECONDS


def answers_question(
    answer: dict, now: float, wallet: str, last_days: int, end_day: str = "", contract: str = ""
) -> bool:
    """Whether snapshots are those that you asked for, after their signature was verified: it does not cover the query.

    `wallet` and `contract` in lower case. `end_day` such as 2026-11-20; without it the day before the request."""
    yesterday = requested_at(answer).date() - timedelta(days=1)
    last = date.fromisoformat(end_day) if end_day else yesterday
    days = [last - timedelta(days=before) for before in reversed(range(last_days))]
    return (
        is_timely(answer, now)
        and answer["walletAddress"] == wallet
        and answer.get("contract", "") == contract
        and [day["from"] for day in answer["stakingSnapshots"]]
        == [f"{day}T00:00:00.000Z" for day in days]
    )


def is_our_call(
    secret: str, method: str, path: str, request_id: str, body: bytes, signature: str
) -> bool:
    """A call to one of your endpoints. `body` is empty for the balance read."""
    content = (method + path + request_id).encode()
    return matches(sign(secret, content, body), signature)


def is_fresh(request_id: str, now: float) -> bool:
    """X-API-REQUEST is a UUID of version 7: its first 48 bits are the time, in milliseconds."""
    digits = request_id.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return False
    try:
        made_at = int(digits[:12], 16) / 1000
    except ValueError:
        return False
    return abs(now - made_at) <= FRESH_SECONDS


def sign_answer(secret: str, method: str, path: str, request_id: str, body: bytes) -> str:
    """For X-API-SIGNATURE of your answer. Method, path and id are those of the call; send exactly `body`."""
    return sign(secret, (method + path + request_id).encode(), body)


# ---- The rest checks the worked examples. ----


def tells_questions_apart(body: str) -> bool:
    """Takes the snapshots of an example for the answer to its own question, and to no other."""
    answer = json.loads(body)
    if "stakingSnapshots" not in answer:
        return True
    now, wallet = requested_at(answer).timestamp(), answer["walletAddress"]
    count = len(answer["stakingSnapshots"])
    return answers_question(answer, now, wallet, count) and not (
        answers_question(answer, now, "0x" + "0" * 40, count)
        or answers_question(answer, now, wallet, count + 1)
        or answers_question(answer, now, wallet, count, "2026-01-01")
        or answers_question(answer, now, wallet, count, "", "eip155:1:0x" + "0" * 40)
        or answers_question(answer, now + 301, wallet, count)
        or answers_question(answer, now - 301, wallet, count)
    )


def check(vector: dict) -> bool:
    secret, method, path = vector["secret"], vector["method"], vector["path"]
    body, signature = vector["body"].encode("utf-8"), vector["signature"]
    if vector["direction"] == "staking API to partner":
        return (
            is_from_staking_api(secret, method, path, body, signature)
            and not is_from_staking_api(secret, method, path, body + b" ", signature)
            and tells_questions_apart(vector["body"])
        )
    call = (secret, method, path, vector["xApiRequest"])
    if vector["direction"] == "service to partner":
        return is_our_call(*call, body, signature) and not is_our_call(
            *call, body + b" ", signature
        )
    return sign_answer(*call, body) == signature


def main() -> int:
    beside = Path(__file__).resolve().parent / "../../wire/signature-vectors.json"
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else beside
    vectors = json.loads(file.read_text("utf-8"))["vectors"]
    wrong = [vector["name"] for vector in vectors if not check(vector)]
    for name in wrong:
        print(f"WRONG  {name}")
    print(f"{len(vectors) - len(wrong)} of {len(vectors)} vectors verified")
    request_id, made_at = "01a1fdfa-467b-7abc-8def-0123456789ab", 1795262400.123
    fresh = is_fresh(request_id, made_at + 299) and not is_fresh(request_id, made_at + 301)
    if not fresh:
        print("WRONG  freshness")
    return 0 if vectors and not wrong and fresh else 1


if __name__ == "__main__":
    sys.exit(main())
