"""Checks proofs and lists of a sealed day in Python 3.8 or newer, standard library only. See docs/wire/days.md.

python3 proof.py FILE    checks {"root", "list": [{"walletAddress", "low"}, ...], "proofs": [an answer of .../proof, ...]}

Keccak-256 is not the sha3_256 of hashlib. In pure Python it takes about a millisecond: enough for proofs, and for lists of
some thousand wallets; for larger ones take a package such as pycryptodome.
"""

import json
import sys

FIRST, LAST = "0x" + "00" * 20, "0x" + "ff" * 20
MASK = (1 << 64) - 1


def rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (64 - by))) & MASK if by else value


def constants():
    """The round constants and rotations of Keccak-f[1600], as the specification derives them."""
    bits, state = [], 1
    for _ in range(168):
        bits.append(state & 1)
        state = (state << 1) ^ (0x171 if state & 0x80 else 0)
    rounds = [sum(bits[7 * turn + j] << ((1 << j) - 1) for j in range(7)) for turn in range(24)]
    turns, x, y = [[0] * 5 for _ in range(5)], 1, 0
    for step in range(24):
        turns[x][y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return rounds, turns


ROUNDS, TURNS = constants()


def permuted(a):
    for constant in ROUNDS:
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[x - 1] ^ rotated(c[(x + 1) % 5], 1) for x in range(5)]
        b = [[0] * 5 for _ in range(5)]
        for x in range(5):
            for y in range(5):
                b[y][(2 * x + 3 * y) % 5] = rotated(a[x][y] ^ d[x], TURNS[x][y])
        a = [[b[x][y] ^ (~b[(x + 1) % 5][y] & MASK & b[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        a[0][0] ^= constant
    return a


def keccak256(data: bytes) -> bytes:
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % 136))
    padded[-1] |= 0x80
    a = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), 136):
        for lane in range(17):
            word = padded[start + 8 * lane : start + 8 * lane + 8]
            a[lane % 5][lane // 5] ^= int.from_bytes(word, "little")
        a = permuted(a)
    return b"".join(a[lane % 5][lane // 5].to_bytes(8, "little") for lane in range(4))


def leaf_hash(wallet: str, low: int, following: str) -> bytes:
    words = (int(wallet, 16), low, int(following, 16))
    return keccak256(keccak256(b"".join(word.to_bytes(32, "big") for word in words)))


def pair_hash(one: bytes, other: bytes) -> bytes:
    return keccak256(min(one, other) + max(one, other))


def proven_low(wallet: str, root: str, leaf: dict, proof: list):
    """`root`: one that you trust, not that of the same answer. None: the proof does not lead to it, or tells of another wallet."""
    wallet, own = wallet.lower(), leaf["wallet"].lower()
    if wallet != own and not own < wallet < leaf["next"].lower():
        return None
    node = leaf_hash(leaf["wallet"], int(leaf["low"]), leaf["next"])
    for sibling in proof:
        node = pair_hash(node, bytes.fromhex(sibling[2:]))
    if node != bytes.fromhex(root[2:]):
        return None
    return int(leaf["low"]) if wallet == own else 0


def list_root(lines: list) -> str:
    """`lines`: (wallet in lower case, low), ascending, all wallets of the day."""
    leaves = [(FIRST, 0)] + [(wallet, int(low)) for wallet, low in lines]
    if leaves[-1][0] != LAST:
        leaves.append((LAST, 0))
    following = [wallet for wallet, _ in leaves[1:]] + [LAST]
    hashes = sorted(leaf_hash(wallet, low, after) for (wallet, low), after in zip(leaves, following))
    count = len(hashes)
    nodes = [b""] * (count - 1) + hashes[::-1]
    for place in range(count - 2, -1, -1):
        nodes[place] = pair_hash(nodes[2 * place + 1], nodes[2 * place + 2])
    return "0x" + nodes[0].hex()


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as opened:
        file = json.load(opened)
    wrong = 0
    for answer in file["proofs"]:
        low = proven_low(answer["walletAddress"], file["root"], answer["leaf"], answer["proof"])
        if low is None or low != int(answer["low"]):
            wrong += 1
            print(f"WRONG  {answer['walletAddress']}")
    if list_root([(line["walletAddress"], line["low"]) for line in file["list"]]) != file["root"]:
        wrong += 1
        print("WRONG  the list")
    print(f"{len(file['proofs'])} proofs and a list of {len(file['list'])} checked, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
