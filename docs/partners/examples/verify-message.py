"""HTTP Message Signatures (RFC 9421) of our answers in Python 3.8 or newer.

Ask for them with `Accept-Signature: sig=();alg="hmac-sha256";nonce="…"`, the nonce fresh for each request. For hmac-sha256 the standard library is enough; ed25519 takes
the package `cryptography`, or, as here, the program `openssl` (3.0 or newer).

python3 verify-message.py [message-signature-vectors.json]    checks every worked example
"""

import base64
import hashlib
import hmac
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OF_REQUEST = '"@status" "@method";req "@path";req "@query";req'


def is_our_answer(
    answer: dict,
    public_keys: dict,
    secret: str,
    nonce: str,
    now: int,
    covered: str = "content-digest",
) -> bool:
    """`answer`: method and target (path with query) of your request; status, body (bytes), and the three headers.

    `public_keys`: x by kid, from /.well-known/http-message-signatures-directory. `nonce`: what this request asked for; "": none.
    `now`: seconds; answers that are more than five minutes older or newer are refused. `covered`: for a list of a day
    "x-sealed-day"; then sealedDay, that header, is signed in place of the body, which its root proves.
    """
    value = answer["contentDigest" if covered == "content-digest" else "sealedDay"]
    if covered == "content-digest":
        digest = base64.b64encode(hashlib.sha256(answer["body"]).digest()).decode()
        if value != f"sha-256=:{digest}:":
            return False
    parameters = re.sub("^sig=", "", answer["signatureInput"])
    if not parameters.startswith(f'({OF_REQUEST} "{covered}");'):
        return False
    if text_of(parameters, "nonce") != nonce:
        return False
    created = re.search(r";created=(\d{1,15})(?:;|$)", parameters)
    if created is None or abs(now - int(created[1])) > 300:
        return False
    path, mark, query = answer["target"].partition("?")
    base = "\n".join(
        [
            f'"@status": {answer["status"]}',
            f'"@method";req: {answer["method"]}',
            f'"@path";req: {path}',
            f'"@query";req: {mark + query or "?"}',
            f'"{covered}": {value}',
            f'"@signature-params": {parameters}',
        ]
    ).encode()
    found = re.fullmatch(r"sig=:([A-Za-z0-9+/=]+):", answer["signature"])
    given = base64.b64decode(found[1]) if found else b""
    algorithm = text_of(parameters, "alg")
    if algorithm == "ed25519":
        x = public_keys.get(text_of(parameters, "keyid"))
        return x is not None and is_ed25519(x, base, given)
    if algorithm != "hmac-sha256":
        return False
    return hmac.compare_digest(hmac.new(secret.encode(), base, hashlib.sha256).digest(), given)


def text_of(parameters: str, name: str) -> str:
    found = re.search(f';{name}="([^"\\\\]*)"', parameters)
    return found[1] if found else ""


def is_ed25519(x: str, base: bytes, given: bytes) -> bool:
    """With `cryptography` it is Ed25519PublicKey.from_public_bytes(raw).verify(given, base)."""
    raw = base64.urlsafe_b64decode(x + "=" * (-len(x) % 4))
    # The head of a public key in DER (RFC 8410), then its 32 bytes.
    der = bytes.fromhex("302a300506032b6570032100") + raw
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder, name)) for name in ("key", "base", "signature")]
        for name, content in zip(names, (der, base, given)):
            Path(name).write_bytes(content)
        command = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER"]
        command += ["-inkey", names[0], "-in", names[1], "-sigfile", names[2]]
        return subprocess.run(command, capture_output=True).returncode == 0


# ---- The rest checks the worked examples. ----


def main() -> int:
    default = Path(__file__).resolve().parents[2] / "wire" / "message-signature-vectors.json"
    file = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else default).read_text("utf-8"))
    keys = {file["publicKey"]["kid"]: file["publicKey"]["x"]}
    vectors = file["vectors"] + file.get("lists", [])
    good = 0
    for vector in vectors:
        answer = {**vector, "body": vector.get("body", "").encode()}
        another = {**answer, "target": answer["target"] + "1"}
        expected = (vector["nonce"], vector["now"], vector["covered"])
        if is_our_answer(answer, keys, file["secret"], *expected) and not is_our_answer(
            another, keys, file["secret"], *expected
        ):
            good += 1
        else:
            print(f"WRONG  {vector['name']}")
    print(f"{good} of {len(vectors)} vectors verified")
    return 0 if vectors and good == len(vectors) else 1


if __name__ == "__main__":
    sys.exit(main())
