/**
 * Computes the root of a sealed day from its list, as in the service's `docs/wire/days.md`. The tree is a
 * `StandardMerkleTree` of `@openzeppelin/merkle-tree`. A million wallets take 100 MB and some seconds.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

type Keccak256 = (bytes: Uint8Array) => Uint8Array;

const WORD = 32;
const LAST_ADDRESS = 'f'.repeat(40);
/** Hashes between two pauses, which take some milliseconds. */
const HASHES_AT_ONCE = 4096;

/** Takes the wallets of a day in ascending order and computes their root. */
export class DayRoot {
  /** `wallet`, `low` and `next` of a leaf, 32 bytes each. */
  readonly #words = Buffer.alloc(3 * WORD);
  #hashes: Buffer;
  #count = 0;
  #wallet = '0'.repeat(40);
  #low = 0n;

  private constructor(
    private readonly keccak: Keccak256,
    wallets: number,
  ) {
    this.#hashes = Buffer.alloc((wallets + 2) * WORD);
  }

  /** @param wallets greatest number of wallets */
  static async create(wallets: number): Promise<DayRoot> {
    const { createKeccak } = await import('hash-wasm');
    const hasher = await createKeccak(256);
    return new DayRoot((bytes) => hasher.init().update(bytes).digest('binary'), wallets);
  }

  /** @param wallet 40 hex digits in lower case */
  add(wallet: string, low: bigint): void {
    this.#addLeaf(wallet);
    this.#wallet = wallet;
    this.#low = low;
  }

  /** @returns `0x` and 64 hex digits */
  async root(): Promise<string> {
    if (this.#wallet !== LAST_ADDRESS) this.add(LAST_ADDRESS, 0n);
    this.#addLeaf(LAST_ADDRESS);
    const nodes = this.#sorted();
    const pair = Buffer.alloc(2 * WORD);
    const at = (place: number): Buffer => nodes.subarray(place * WORD, (place + 1) * WORD);
    // The array is the tree in reverse, leaves first and root last. The parent of two adjacent nodes is appended.
    for (let read = 0, write = this.#count; write < 2 * this.#count - 1; read += 2, write += 1) {
      const [left, right] = [at(read), at(read + 1)];
      const isOrdered = left.compare(right) <= 0;
      pair.set(isOrdered ? left : right, 0);
      pair.set(isOrdered ? right : left, WORD);
      nodes.set(this.keccak(pair), write * WORD);
      if (write % HASHES_AT_ONCE === 0) await nextTurn();
    }
    return `0x${at(2 * this.#count - 2).toString('hex')}`;
  }

  /** Adds the leaf of the wallet that was added last, since its next wallet is known only now. */
  #addLeaf(next: string): void {
    const words = this.#words;
    words.write(this.#wallet.padStart(2 * WORD, '0'), 'hex');
    words.write(this.#low.toString(16).padStart(2 * WORD, '0'), WORD, 'hex');
    words.write(next.padStart(2 * WORD, '0'), 2 * WORD, 'hex');
    this.#hashes.set(this.keccak(this.keccak(words)), this.#count * WORD);
    this.#count += 1;
  }

  /** The hashes in ascending order, in a buffer with room for all inner nodes. */
  #sorted(): Buffer {
    const hashes = this.#hashes;
    const keys = new Float64Array(this.#count);
    for (let place = 0; place < keys.length; place += 1) {
      keys[place] = hashes.readUIntBE(place * WORD, 6);
    }
    const compare = (a: number, b: number): number =>
      (keys[a] as number) - (keys[b] as number) ||
      hashes.compare(hashes, b * WORD, (b + 1) * WORD, a * WORD, (a + 1) * WORD);
    const order = new Uint32Array(keys.keys()).sort(compare);
    const nodes = Buffer.alloc((2 * this.#count - 1) * WORD);
    order.forEach((from, to) => {
      hashes.copy(nodes, to * WORD, from * WORD, (from + 1) * WORD);
    });
    this.#hashes = Buffer.alloc(0);
    return nodes;
  }
}
