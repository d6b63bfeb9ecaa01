import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address, type DayTree, SECONDS_PER_DAY } from '#libs/domain';
import { compileTestContracts } from './compile-test-contracts.js';
import { ALICE, aWallet, BOB, leafOf, RegistryBench, YESTERDAY } from './registry-bench.js';

const example = compileTestContracts('../examples/StakeTiers.sol')('StakeTiers');
let bench: RegistryBench;

beforeAll(async () => {
  bench = await RegistryBench.start();
});
afterAll(() => bench.stop());

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
