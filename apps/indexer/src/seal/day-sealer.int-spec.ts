/** Sealing on a real index, compared with trees in memory. */
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Database,
  DayLows,
  IndexStore,
  SealedDayStore,
  type SealOutcome,
  SealWriter,
} from '#libs/db';
import {
  addressBytes,
  type Address,
  type BlockDeltas,
  buildDayTree,
  dailyMinima,
  DayListBuilder,
  dayOf,
  type FoldedBlocks,
  type Keccak256,
} from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import {
  aBlock,
  anIndexOf,
  aWallet,
  createTestDatabase,
  listsOf,
  stakeHistories,
  type TestDatabase,
} from '#libs/testing/database';
import { DaySealer } from './day-sealer.js';
import { ScratchFolder } from './scratch-file.js';

const DAY = 86_400;
const FIRST_DAY = 100;
const WALLETS = [1, 2, 3, 4, 5, 6].map(aWallet);

let test: TestDatabase;
let database: Database;
let keccak: Keccak256;
let folder: string;
beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  keccak = await createKeccak256();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lowmark-sealer-'));
  await test.empty();
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(() => test.drop());

const histories = stakeHistories(WALLETS, FIRST_DAY, [0n, 1n, 7n, 100n, 2n ** 200n]);

interface Sealing {
  readonly folded: FoldedBlocks;
  readonly lastDay: number;
  /** Seals days one after another, from the first one on. */
  readonly seal: (day: number) => Promise<SealOutcome>;
}

/** An index of the history, all of whose days are final, and its sealer. */
async function sealing(
  history: readonly BlockDeltas[],
  dayLows = new DayLows(database, 2),
): Promise<Sealing> {
  const lastDay = dayOf(history.at(-1)?.timestampSeconds ?? 0) + 1;
  const head = aBlock(history.length + 1, (lastDay + 1) * DAY);
  const final = { head, finalised: head, verifiedNumber: head.number, synced: true };
  const previousHead = aBlock(0, FIRST_DAY * DAY);
  const { fence, folded } = await anIndexOf(database, history, { previousHead, ...final });
  const sealer = new DaySealer({
    dayLows,
    writer: new SealWriter(database),
    keccak,
    software: '1.2.3',
    folder: new ScratchFolder(folder),
  });
  const closingOf = (day: number) => {
    const block = history.findLast(({ timestampSeconds }) => dayOf(timestampSeconds) <= day);
    return aBlock(Number(block?.blockNumber ?? 0n), block?.timestampSeconds ?? FIRST_DAY * DAY);
  };
  const seal = (day: number) => {
    const above = closingOf(day - 1).number;
    return sealer.seal({ day, fence, above, closing: closingOf(day), keepsLists: true });
  };
  return { folded, lastDay, seal };
}

/** The tree of a day, computed from the days of each wallet by itself. */
function treeOf({ days }: FoldedBlocks, day: number) {
  const builder = new DayListBuilder();
  for (const wallet of WALLETS) {
    const rows = days.filter((row) => row.wallet === wallet && row.day <= day);
    const [low] = dailyMinima(rows, { firstDay: day, endDay: day + 1 });
    builder.add(addressBytes(wallet), low?.minimum ?? 0n);
  }
  return buildDayTree(builder.list(), keccak);
}

async function storedLists(day: number) {
  const [leaves, nodes] = await Promise.all(
    ['leaves, indices', 'nodes'].map((columns) =>
      database.query<Record<string, Buffer>>(
        {
          text: `SELECT ${columns} FROM staking.sealed_${columns.split(',')[0] ?? ''} WHERE day = $1 ORDER BY chunk`,
        },
        [day],
      ),
    ),
  );
  return { leaves, nodes };
}

function expectedLists(tree: ReturnType<typeof treeOf>) {
  const lists = listsOf(tree);
  const leaves = [...lists.leaves(256)].map(({ leaves: bytes, indices }) => {
    const view = Buffer.alloc(4 * indices.length);
    for (const [place, index] of indices.entries()) view.writeUInt32BE(index, 4 * place);
    return { leaves: bytes, indices: view };
  });
  return { leaves, nodes: [...lists.nodes(1024)].map((nodes) => ({ nodes })) };
}

const stakesOf = (wallet: number, day: number, amount: bigint): BlockDeltas => ({
  blockNumber: BigInt(day - FIRST_DAY + 1),
  timestampSeconds: day * DAY + 60,
  deltas: [{ wallet: WALLETS[wallet] ?? aWallet(1), amount }],
});

/** Wallet 1 stakes on the first day, wallet 2 on the second, wallet 3 on the third. */
const THREE_DAYS = [0, 1, 2].map((at) => stakesOf(at, FIRST_DAY + at, 1000n));

async function changeClosing(wallet: Address | undefined, by: bigint): Promise<void> {
  await database.query(
    { text: 'UPDATE staking.balance_day SET closing = closing + $1 WHERE wallet = $2' },
    [by, Buffer.from(wallet?.slice(2) ?? '', 'hex')],
  );
}

/** Adds 1 to the balance of the first wallet in the file that carries balances to the next day. */
async function changeCarried(): Promise<void> {
  const files = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false;
    }
  });
  expect(files).toHaveLength(1);
  const file = await open(`/proc/self/fd/${files[0] ?? ''}`, 'r+');
  try {
    const last = Buffer.alloc(1);
    const at = 20 + 32 + 31;
    await file.read(last, 0, 1, at);
    last.writeUInt8(last.readUInt8() + 1);
    await file.write(last, 0, 1, at);
  } finally {
    await file.close();
  }
}

describe('DaySealer', () => {
  it('seals the days of any history as trees in memory have them, carried forward or read', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.boolean(), async (history, goesBack) => {
        await test.empty();
        const { folded, lastDay, seal } = await sealing(history);
        for (let day = FIRST_DAY; day <= lastDay; day += 1) {
          const { kind, sealed } = await seal(day);
          const tree = treeOf(folded, day);
          const { length: wallets, total } = tree.leaves.list;
          expect({ kind, ...sealed }).toMatchObject({
            ...{ kind: 'sealed', day, root: tree.root, wallets, total },
          });
          expect(await storedLists(day)).toEqual(expectedLists(tree));
          // A day that does not follow the last one is read: the next one is carried forward again.
          if (goesBack && day > FIRST_DAY) expect((await seal(day - 1)).kind).toBe('same');
          if (goesBack) expect((await seal(day)).kind).toBe('same');
        }
      }),
      { numRuns: 15 },
    );
  });

  it.each([5n, -7n])(
    'does not seal a day whose closings are %s off, and tells by how much',
    async (difference) => {
      const { seal } = await sealing(THREE_DAYS);
      await seal(FIRST_DAY);
      await changeClosing(WALLETS[1], difference);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(seal(FIRST_DAY + 1)).rejects.toMatchObject({
          code: 'SEAL_SUM_DIFFERS',
          difference,
          message: `The balances of all wallets at the end of 1970-04-12 differ from the stored total by ${difference} in all; the day was not sealed`,
        });
      }
      expect(await new SealedDayStore(database).byDay(FIRST_DAY + 1)).toBeUndefined();
      await changeClosing(WALLETS[1], -difference);
      expect((await seal(FIRST_DAY + 1)).kind).toBe('sealed');
    },
  );

  it('finds a wrong closing in a sealed day too', async () => {
    const { seal } = await sealing(THREE_DAYS);
    await seal(FIRST_DAY);
    await changeClosing(WALLETS[0], 1n);
    await expect(seal(FIRST_DAY)).rejects.toMatchObject({ difference: 1n });
    expect(await new SealedDayStore(database).revisions(FIRST_DAY)).toHaveLength(1);
  });

  it('finds carried balances that are wrong, and reads them again', async () => {
    const { folded, seal } = await sealing(THREE_DAYS);
    await seal(FIRST_DAY);
    await changeCarried();
    const { sealed } = await seal(FIRST_DAY + 1);
    expect(sealed.root).toBe(treeOf(folded, FIRST_DAY + 1).root);
  });

  it('does not take a difference for one where the index changed meanwhile', async () => {
    class Late extends DayLows {
      override async total(day: number): Promise<bigint> {
        await new IndexStore(database).takeLead();
        return super.total(day);
      }
    }
    const { seal } = await sealing(THREE_DAYS, new Late(database));
    await changeClosing(WALLETS[0], 1n);
    await expect(seal(FIRST_DAY)).rejects.toMatchObject({ code: 'SEAL_OUTDATED' });
  });
});
