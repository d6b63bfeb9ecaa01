import { expect, it } from '@jest/globals';
import { addressBytes, buildDayTree, DayListBuilder, DEFAULT_STAKE_SET } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { eventually, FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';
import { DayTrees } from './day-trees.js';

const WALLET = aWallet(1);
const TEN_MINUTES_MS = 600_000;

it('a day that differed is read again after ten minutes: its rows may have been repaired', async () => {
  const keccak = await createKeccak256();
  const list = new DayListBuilder();
  list.add(addressBytes(WALLET), 5n);
  const { root } = buildDayTree(list.list(), keccak);
  const sealed = { stakeSet: DEFAULT_STAKE_SET, day: 7, revision: 1, root, wallets: 1 };
  const rows = { low: 4n, reads: 0 };
  async function* readLows() {
    rows.reads += 1;
    const { low } = rows;
    yield await Promise.resolve({ wallet: Buffer.from(addressBytes(WALLET)), low, closing: low });
  }
  const clock = new FakeClock(1_000_000);
  const trees = new DayTrees(readLows, keccak, 1_000_000, clock);
  const prove = async () => (await trees.prove(sealed, WALLET, aPartnerId())).kind;
  expect(await prove()).toBe('differs');
  rows.low = 5n;
  clock.advance(TEN_MINUTES_MS - 1);
  expect([await prove(), rows.reads]).toEqual(['differs', 1]);
  clock.advance(1);
  expect([await prove(), rows.reads]).toEqual(['proof', 2]);
});

it('the next tree to be built is that of the partner who has waited longest', async () => {
  const keccak = await createKeccak256();
  const list = new DayListBuilder();
  list.add(addressBytes(WALLET), 5n);
  const { root } = buildDayTree(list.list(), keccak);
  const dayOf = (day: number) => ({
    ...{ stakeSet: DEFAULT_STAKE_SET, day, revision: 1, root, wallets: 1 },
  });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const read: number[] = [];
  async function* readLows({ day }: { readonly day: number }) {
    read.push(day);
    if (day === 7) await held;
    yield { wallet: Buffer.from(addressBytes(WALLET)), low: 5n, closing: 5n };
  }
  const trees = new DayTrees(readLows, keccak, 1_000_000, new FakeClock(1_000_000));
  const [one, other, third] = [aPartnerId(), aPartnerId(), aPartnerId()];
  const prove = async (day: number, partner = one) =>
    (await trees.prove(dayOf(day), WALLET, partner)).kind;
  const first = prove(7);
  expect(await prove(9, other)).toBe('busy');
  expect(await prove(8, third)).toBe('busy');
  release();
  expect(await first).toBe('proof');
  await eventually(() => read.length === 3);
  expect(read).toEqual([7, 9, 8]);
});
