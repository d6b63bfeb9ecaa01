"""Reads a snapshot and verifies it, in Python 3.8 or newer, standard library only. verify.py is beside it.

STAKING_URL=... STAKING_API_KEY=... STAKING_SECRET=... WALLET=0x... python3 snapshot.py
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from verify import is_from_staking_api

PATH = "/api/staking/snapshots"


def read_snapshots(wallet: str):
    """None: the wallet never staked. What is not proven to be the service's answer is an error."""
    base = os.environ["STAKING_URL"].rstrip("/")
    url = f"{base}{PATH}?walletAddress={wallet}&lastDays=7"
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
    # A signed 404 of another URL does not name the wallet.
    if answer.status == 404 and wallet.lower() in fields["message"].lower():
        return None
    if answer.status != 200 or fields["walletAddress"] != wallet.lower():
        raise ValueError(f"Status {answer.status}: {fields.get('message')}")
    return fields


def main() -> int:
    snapshots = read_snapshots(os.environ["WALLET"])
    average = snapshots["averageStakedAmount"] if snapshots else 0
    tier = "gold" if average >= 1000 else "silver" if average >= 100 else "bronze"
    print(f"{average} staked on average: {tier}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
