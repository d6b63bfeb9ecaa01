/** Takes the index of a running indexer back to a block. Needs a build. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { IndexStore } from '#libs/db';
import { type IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import { blocks, ReindexingBench } from './reindexing.support.js';

const BLOCKS = 300;

let bench: ReindexingBench;
let indexer: IndexerProgram;
afterEach(async () => {
  await indexer.kill();
  await bench.stop();
});

async function aFollowedChain(): Promise<void> {
  bench = await ReindexingBench.start(BLOCKS);
  indexer = await bench.indexer();
  await indexer.level(bench.chain);
}

async function head(): Promise<bigint | undefined> {
  return (await new IndexStore(bench.database).state())?.head.number;
}

describe('index rewind', () => {
  it('mends rows that were changed by hand; a sealed day gets a revision only if it comes out differently', async () => {
    await aFollowedChain();
    const sealed = await bench.sealed();
    expect(sealed.length).toBeGreaterThan(15);
    await bench.falsify(150n);
    await bench.falsifySums(150n);
    await bench.recheck();
    const wrong = (await bench.sealed()).filter(({ revision }) => revision === 2);
    expect(wrong.length).toBeGreaterThan(0);
    const before = await head();
    const planned = await bench.index('rewind --to 140 --dry-run');
    expect(planned).toMatch(/^index +ends at block 303\nto +block 140 of 2025-\d\d-/);
    expect(planned).toMatch(/^taken back +163 blocks, 163 changes\nwallets +7\nsealed days +/m);
    expect(await bench.refused('rewind --to 140')).toContain('NOT_CONFIRMED');
    expect(await head()).toBe(before);
    const said = await bench.index('rewind --to 140 --yes');
    expect(said).toMatch(/^sealed days +\d+, from 2025-1\d-\d\d to 2025-/m);
    expect(said).toContain(
      'The index ends at block 140; 163 changes taken back. The indexer reads on from there.',
    );
    await bench.chain.player.play(blocks(BLOCKS, 1));
    await indexer.level(bench.chain);
    await bench.expectIndexed();
    expect(await bench.refused('rewind --to 1000 --yes')).toContain('REWIND_REFUSED');
    expect(await bench.refused('rewind --yes')).toContain('nothing has to be taken back');
    const mended = await bench.sealed();
    for (const { day, root: right } of sealed) {
      const roots = mended.filter((one) => one.day === day).map(({ root }) => root);
      const wrongRoot = wrong.find((one) => one.day === day)?.root;
      expect(roots).toEqual(wrongRoot === undefined ? [right] : [right, wrongRoot, right]);
    }
  }, 400_000);

  it('is what a reorganisation far below the final block asks for, and names the block that is safe', async () => {
    await aFollowedChain();
    await bench.sealed();
    const depth = 200;
    const fork = BLOCKS - depth;
    await bench.chain.player.reorganise(depth, blocks(fork, depth + 1, 1));
    await indexer.until('halted', ({ phase }) => phase === 'halted');
    const state = await new IndexStore(bench.database).state();
    expect(state?.halted?.reason).toMatch(/DEEP|no longer has the finalised block/);
    expect(state?.halted?.reason).toContain('index rewind --dry-run');
    const { startBlock } = bench.chain.contracts;
    const lastCommon = startBlock + BigInt(fork);
    const above = await bench.refused(`rewind --to ${lastCommon + 50n} --yes`);
    const safe = BigInt(/are known to share is (\d+)/.exec(above)?.[1] ?? -1);
    // The last block of the newest day that is sealed and that both forks have.
    expect(safe).toBeLessThanOrEqual(lastCommon);
    expect(safe).toBeGreaterThan(lastCommon - 30n);
    expect(await bench.index('rewind --yes')).toContain(`The index ends at block ${safe}`);
    await indexer.level(bench.chain);
    await bench.expectIndexed();
  }, 300_000);
});
