"""Reads a snapshot, verifies it and compares it with the request, in Python 3.8 or newer, standard library only. verify.py is beside it.

STAKING_URL=... STAKING_API_KEY=... STAKING_SECRET=... WALLET=0x... python3 snapshot.py
"""

import json
import os
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from verify import answers_question, is_from_staking_api, is_timely

PATH = "/api/staking/snapshots"
LAST_DAYS = 7


def read_snapshots(wallet: str):
    """None: the wallet never staked. What is not proven to be the service's answer to this request is an error."""
    wallet = wallet.lower()
    base = os.environ["STAKING_URL"].rstrip("/")
    url = f"{base}{PATH}?walletAddress={wallet}&lastDays={LAST_DAYS}"
    request = Request(url, headers={"X-API-KEY": os.environ["STAKING_API_KEY"]})
    try:
        answer = urlopen(request, timeout=10)
    except HTTPError as error:
        answer = error
    body = answer.read()
    if answer.status == 401:
        # Signed with no secret of ours: what it says is shown, and not used.
        raise ValueError(f"STAKING_API_KEY is wrong: {body.decode('utf-8', 'replace')[:300]}")
    signature = answer.headers.get("X-API-SIGNATURE", "")
    if not is_from_staking_api(os.environ["STAKING_SECRET"], "GET", PATH, body, signature):
        raise ValueError(f"Status {answer.status}, and not signed with our secret.")
    fields = json.loads(body)
    now = time.time()
    # A signed 404 of another URL does not name the wallet.
    if answer.status == 404 and wallet in fields["message"] and is_timely(fields, now):
        return None
    if answer.status != 200:
        raise ValueError(f"Status {answer.status}: {fields.get('message')}")
    # The signature covers neither the query nor the time: the answer could be one to another question.
    if not answers_question(fields, now, wallet, LAST_DAYS):
        raise ValueError("The answer is signed, and not the one to this question. Is the clock right?")
    return fields


def main() -> int:
    snapshots = read_snapshots(os.environ["WALLET"])
    average = snapshots["averageStakedAmount"] if snapshots else 0
    tier = "gold" if average >= 1000 else "silver" if average >= 100 else "bronze"
    print(f"{average} staked on average: {tier}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
