/** The tree that is built in files, compared with the one that is built in memory. */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addressBytes,
  buildDayTree,
  type DayLow,
  DayListBuilder,
  type DayTree,
  FIRST_ADDRESS,
  type Keccak256,
  LAST_ADDRESS,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { aWallet, listsOf } from '#libs/testing/database';
import { DayFile } from './day-file.js';
import { DayTreeFile } from './day-tree-file.js';
import { ScratchFolder } from './scratch-file.js';

const MOST = 2n ** 256n - 1n;

interface WalletDay extends DayLow {
  readonly closing: bigint;
}

let keccak: Keccak256;
let folder: string;
let scratch: ScratchFolder;
beforeAll(async () => {
  keccak = await createKeccak256();
  folder = await mkdtemp(join(tmpdir(), 'lowmark-seal-spec-'));
  // Small blocks, so that few wallets fill many.
  scratch = new ScratchFolder(folder, 1024);
});
afterAll(() => rm(folder, { recursive: true }));

const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: MOST }),
  fc.constantFrom(0n, 0n, 1n, 2n ** 64n, MOST),
);
const walletDays: fc.Arbitrary<WalletDay[]> = fc
  .tuple(fc.array(fc.tuple(amounts, amounts), { maxLength: 40 }), fc.boolean())
  .map(([drafts, endsAtLast]) =>
    drafts.map(([a, b], place) => {
      const isLast = endsAtLast && place === drafts.length - 1;
      const wallet = isLast ? LAST_ADDRESS : aWallet(3 * place + 3);
      return { wallet, low: a < b ? a : b, closing: b };
    }),
  );

function fileOf(wallets: readonly WalletDay[]): DayFile {
  const file = new DayFile(scratch);
  for (const { wallet, low, closing } of wallets) {
    file.add({ wallet: Buffer.from(addressBytes(wallet)), low, closing });
  }
  return file;
}

function treeInMemory(wallets: readonly WalletDay[]): DayTree {
  const builder = new DayListBuilder();
  for (const { wallet, low } of wallets) builder.add(addressBytes(wallet), low);
  return buildDayTree(builder.list(), keccak);
}

/** All that is stored of a tree, as text. */
function storedOf(lists: ReturnType<typeof listsOf>, leaves: number, nodes: number): string[] {
  const rows: string[] = [];
  for (const part of lists.leaves(leaves)) {
    rows.push(`${part.leaves.toString('hex')} ${part.indices.join(' ')}`);
  }
  for (const part of lists.nodes(nodes)) rows.push(part.toString('hex'));
  return rows;
}

function expectSame(wallets: readonly WalletDay[], file: DayFile, sortedAtOnce?: number): void {
  const expected = treeInMemory(wallets);
  const { list } = expected.leaves;
  const tree = DayTreeFile.build(file, keccak, scratch, sortedAtOnce);
  try {
    expect(tree.root).toBe(expected.root);
    expect(storedOf(tree, 8, 16)).toEqual(storedOf(listsOf(expected), 8, 16));
    expect([file.wallets, file.total]).toEqual([list.length, list.total]);
    expect(file.closingTotal).toBe(wallets.reduce((sum, { closing }) => sum + closing, 0n));
  } finally {
    tree.close();
    file.close();
  }
}

describe('DayTreeFile', () => {
  it('is the tree in memory, byte for byte, in however many parts the leaves are sorted', () => {
    fc.assert(
      fc.property(walletDays, fc.integer({ min: 1, max: 50 }), (wallets, sortedAtOnce) => {
        expectSame(wallets, fileOf(wallets), sortedAtOnce);
      }),
    );
  });

  it('is the tree in memory where its files have many blocks', () => {
    const wallets = Array.from({ length: 1_000 }, (_, place): WalletDay => {
      const closing = BigInt(place * 7919) ** 3n + 1n;
      return { wallet: aWallet(3 * place + 3), low: place % 5 === 0 ? 0n : closing, closing };
    });
    expectSame(wallets, fileOf(wallets), 250);
  });
});

describe('DayFile', () => {
  it('carries the balances at the end of a day forward, in which nothing changes', () => {
    fc.assert(
      fc.property(walletDays, (wallets) => {
        const before = fileOf(wallets);
        const file = new DayFile(scratch);
        for (const wallet of before.closings()) file.carry(wallet);
        before.close();
        expectSame(
          wallets.map((one) => ({ ...one, low: one.closing })),
          file,
        );
      }),
    );
  });

  it.each([
    ['a wallet below the one before', [aWallet(5), aWallet(4)], 1n],
    ['a wallet twice', [aWallet(5), aWallet(5)], 1n],
    ['the zero address', [FIRST_ADDRESS], 1n],
    ['an amount that is no uint256', [aWallet(1)], MOST + 1n],
    ['an amount below zero', [aWallet(1)], -1n],
  ])('refuses %s', (_case, addresses, closing) => {
    const wallets = addresses.map((wallet) => ({ wallet, low: 0n, closing }));
    expect(() => fileOf(wallets)).toThrow(RangeError);
  });

  it('leaves no name in the folder, also while it is open', () => {
    const file = fileOf([{ wallet: aWallet(3), low: 1n, closing: 1n }]);
    expect(readdirSync(folder)).toEqual([]);
    file.close();
  });
});
