/** The closing block of a sealed day if providers date blocks differently. Needs a build. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { type IndexStatus } from '../src/status/index-status.js';
import { type SealBench } from './seal-bench.js';
import { SealSuite } from './seal-suite.js';

/** Puts the first block after midnight into the day before. */
const EARLY: Fault = { kind: 'false-times', seconds: -5400 };
const OUT: Fault = { kind: 'status', status: 503 };
const RETRY_AFTER_MS = 10 * 60_000;

const suite = new SealSuite();

describe('the closing block of a sealed day', () => {
  let nodes: FaultyNode[] = [];

  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  /** One endpoint for each fault, in order of preference, beside an index that an honest node fed. */
  async function aBench(
    mode: 'total' | 'two',
    faults: readonly (Fault | undefined)[],
  ): Promise<SealBench> {
    nodes = await Promise.all(
      faults.map((fault) =>
        startFaultyNode({ upstream: suite.chain.rpc.url, ...(fault && { fault }) }),
      ),
    );
    await suite.twoDays();
    const indexer = await suite.anIndexer();
    const { verification } = indexer.status;
    if (verification === undefined) throw new Error('the index is verified');
    const status: IndexStatus = Object.assign(Object.create(indexer.status) as IndexStatus, {
      verification: { ...verification, mode },
    });
    return suite.aBench(
      { ...indexer, status },
      {
        rpcUrls: nodes.map(({ url }) => url),
      },
    );
  }

  async function again(bench: SealBench): Promise<void> {
    bench.clock.advance(RETRY_AFTER_MS);
    await bench.service.tick();
  }

  it.each([
    ['first', [EARLY, undefined, undefined]],
    ['second', [undefined, EARLY, undefined]],
  ])(
    'is told by two of three providers if the %s one dates blocks wrongly',
    async (_place, faults) => {
      const bench = await aBench('total', faults);
      await bench.service.tick();
      // A provider that is slow on a busy machine counts as out, and is asked again.
      await eventually(async () => {
        if ((await bench.days.summary()).days === 2) return true;
        await again(bench);
        return false;
      });
      await suite.expectSealed(bench);
    },
  );

  it('is not believed if one of two providers says otherwise, until they agree', async () => {
    const bench = await aBench('total', [EARLY, undefined]);
    await bench.service.tick();
    expect((await bench.days.summary()).days).toBe(0);
    const [error] = bench.log.filter(({ level }) => level === 'error');
    expect(error?.['err']).toMatchObject({ code: 'PROVIDERS_DISAGREE' });
    for (const [index, { url }] of nodes.entries()) {
      expect(JSON.stringify(error)).toContain(`by ${new URL(url).host}#${index + 1}`);
    }
    for (const node of nodes) node.fault = undefined;
    await again(bench);
    await suite.expectSealed(bench);
  });

  it('is told by one provider while the other is out', async () => {
    const alone = await aBench('total', [undefined, OUT]);
    await alone.service.tick();
    await suite.expectSealed(alone);
  });

  it('needs the other provider if two must agree', async () => {
    const bench = await aBench('two', [undefined, OUT]);
    await bench.service.tick();
    expect((await bench.days.summary()).days).toBe(0);
    for (const node of nodes) node.fault = undefined;
    await again(bench);
    await suite.expectSealed(bench);
  });
});
