"""Verifies a webhook (Standard Webhooks) in Python 3.8 or newer, standard library only.

python3 verify-webhook.py FILE    checks {"id", "timestamp", "signature", "body", "secret", "now"}
"""

import base64
import hashlib
import hmac
import json
import re
import sys


def is_our_webhook(headers: dict, body: bytes, secret: str, now: int) -> bool:
    """`headers`: webhook-id, webhook-timestamp, webhook-signature. `body`: the bytes as they came. `secret`: whsec_… as you got it.

    `now`: seconds; what is more than five minutes older or newer is refused.
    """
    identity, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now - int(timestamp)) > 300:
        return False
    # The key is the bytes that are base64 behind whsec_, not the text.
    key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret)
    content = f"{identity}.{timestamp}.".encode() + body
    made = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    # While one secret replaces another, there are several.
    given = [one[len("v1,") :] for one in headers["webhook-signature"].split() if one.startswith("v1,")]
    return any(hmac.compare_digest(made.encode(), one.encode()) for one in given)


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as opened:
        file = json.load(opened)
    headers = {f"webhook-{name}": file[name] for name in ("id", "timestamp", "signature")}
    is_ours = is_our_webhook(headers, file["body"].encode(), file["secret"], file["now"])
    print("verified" if is_ours else "WRONG")
    return 0 if is_ours else 1


if __name__ == "__main__":
    sys.exit(main())
