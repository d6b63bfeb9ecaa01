import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StandardMerkleTree } from '@openzeppelin/merkle-tree';
import { type Address, type DayTree, SECONDS_PER_DAY } from '#libs/domain';
import { compileTestContracts } from './compile-test-contracts.js';
import {
  ALICE,
  aWallet,
  BOB,
  type Deployed,
  leafOf,
  PUBLISHER,
  RegistryBench,
  STRANGER,
  verifyArgs,
  YESTERDAY,
} from './registry-bench.js';

const example = compileTestContracts('../examples/StakeTiers.sol')('StakeTiers');
let bench: RegistryBench;
let registry: Deployed;

beforeAll(async () => {
  bench = await RegistryBench.start();
  registry = await bench.registry('eip155:1337:0x01');
});
afterAll(() => bench.stop());

describe('a published period', () => {
  const FIRST = YESTERDAY - 40n;
  const LAST = FIRST + 30n;
  let days: DayTree[];
  let period: StandardMerkleTree<[day: string, root: string]>;

  beforeAll(async () => {
    days = Array.from({ length: 31 }, (_, day) => bench.treeOf([[ALICE, 100n + BigInt(day)]]));
    const roots = days.map(({ root }, day): [string, string] => [
      String(FIRST + BigInt(day)),
      root,
    ]);
    period = StandardMerkleTree.of(roots, ['uint256', 'bytes32']);
    await bench.send(registry, 'publishPeriod', [FIRST, LAST, period.root]);
  });

  const opening = (day: number): [bigint, bigint, string, string[]] => {
    const root = (days[day] as DayTree).root;
    const of = String(FIRST + BigInt(day));
    return [FIRST, BigInt(of), root, period.getProof([of, root])];
  };

  it('is opened day by day, by anyone, as often as they like', async () => {
    const args = verifyArgs(FIRST + 3n, days[3] as DayTree, ALICE);
    expect(await bench.ask(registry, 'verify', args)).toBe(false);
    await bench.send(registry, 'openDay', opening(3), STRANGER);
    await bench.send(registry, 'openDay', opening(3), STRANGER);
    expect(await bench.ask(registry, 'verify', args)).toBe(true);
    expect(await bench.ask(registry, 'publish', [FIRST + 3n, days[4]?.root], PUBLISHER)).toBe(
      'DayHasRoot',
    );
  });

  it('opens no day with the root of another, nor one outside of it', async () => {
    const [first, day, root, proof] = opening(5);
    expect(await bench.ask(registry, 'openDay', [first, day + 1n, root, proof])).toBe(
      'InvalidProof',
    );
    expect(await bench.ask(registry, 'openDay', [first, day, days[6]?.root, proof])).toBe(
      'InvalidProof',
    );
    expect(await bench.ask(registry, 'openDay', [first, LAST + 1n, root, proof])).toBe(
      'NotInPeriod',
    );
    expect(await bench.ask(registry, 'openDay', [first + 1n, day, root, proof])).toBe(
      'NotInPeriod',
    );
  });

  it('does not overlap with another', async () => {
    for (const [from, to] of [
      [FIRST, LAST],
      [LAST, LAST + 1n],
      [FIRST - 5n, FIRST - 1n],
    ]) {
      expect(await bench.ask(registry, 'publishPeriod', [from, to, period.root], PUBLISHER)).toBe(
        'PeriodOverlaps',
      );
    }
  });

  it('does not change a day that was published by itself', async () => {
    const root = bench.treeOf([[BOB, 9n]]).root;
    await bench.send(registry, 'publish', [FIRST + 7n, root]);
    expect(await bench.ask(registry, 'openDay', opening(7))).toBe('DayHasRoot');
    expect(await bench.ask(registry, 'rootOf', [FIRST + 7n])).toBe(root);
  });

  it('gives averages, rounded down, with 0 for days of absence', async () => {
    for (const day of [10, 11, 12]) await bench.send(registry, 'openDay', opening(day), STRANGER);
    const leaves = [10, 11, 12].map((day) => leafOf(days[day] as DayTree, ALICE));
    expect(await bench.ask(registry, 'verifyAverage', [FIRST + 12n, ALICE, leaves])).toBe(111n);
    const two = leaves.slice(1);
    expect(await bench.ask(registry, 'verifyAverage', [FIRST + 12n, ALICE, two])).toBe(111n);
    const absent = [10, 11, 12].map((day) => leafOf(days[day] as DayTree, BOB));
    expect(await bench.ask(registry, 'verifyAverage', [FIRST + 12n, BOB, absent])).toBe(0n);
  });

  it('gives no average of days in another order, of none, or of another wallet', async () => {
    const leaves = [10, 11, 12].map((day) => leafOf(days[day] as DayTree, ALICE));
    const refused = (end: bigint, wallet: Address, of: unknown[]): Promise<unknown> =>
      bench.ask(registry, 'verifyAverage', [end, wallet, of]);
    expect(await refused(FIRST + 12n, ALICE, leaves.toReversed())).toBe('InvalidProof');
    expect(await refused(FIRST + 13n, ALICE, leaves)).toBe('InvalidProof');
    // A wallet below Alice's is not between Alice's and the next one.
    expect(await refused(FIRST + 12n, aWallet('9'), leaves)).toBe('InvalidProof');
    expect(await refused(FIRST + 12n, ALICE, [])).toBe('InvalidWindow');
    expect(await refused(1n, ALICE, leaves)).toBe('InvalidWindow');
  });
});

describe('StakeTiers, the example', () => {
  it('grants the tier of the average for a week, and only to those who prove it', async () => {
    const trees = [1, 2].map((day) => bench.treeOf([[ALICE, BigInt(day) * 1000n]])) as [
      DayTree,
      DayTree,
    ];
    const set = await bench.registry('eip155:1337:0x03');
    await bench.send(set, 'publish', [YESTERDAY - 1n, trees[0].root]);
    await bench.send(set, 'publish', [YESTERDAY, trees[1].root]);
    const tiers = await bench.deploy(
      example.abi,
      example.bytecode,
      ...[set.address, 2n, [500n, 1500n, 5000n]],
    );
    const claim = (wallet: Address) => [YESTERDAY, trees.map((tree) => leafOf(tree, wallet))];
    await bench.send(tiers, 'claim', claim(ALICE), ALICE);
    await bench.send(tiers, 'claim', claim(BOB), BOB);
    expect(await bench.ask(tiers, 'tierOf', [ALICE])).toBe(2n);
    expect(await bench.ask(tiers, 'tierOf', [BOB])).toBe(0n);
    // Alice's proofs also prove that a wallet above hers is absent, but prove nothing about a wallet below hers.
    expect(await bench.ask(tiers, 'claim', claim(ALICE), BOB)).toBe(0n);
    expect(await bench.ask(tiers, 'claim', claim(ALICE), aWallet('9'))).toBe('InvalidProof');
    expect(await bench.ask(tiers, 'claim', [YESTERDAY, [leafOf(trees[1], ALICE)]], ALICE)).toBe(
      'WrongDays',
    );
    await bench.wait(8 * SECONDS_PER_DAY);
    expect(await bench.ask(tiers, 'tierOf', [ALICE])).toBe(0n);
    expect(await bench.ask(tiers, 'claim', claim(ALICE), ALICE)).toBe('TooOld');
  });
});
