/**
 * The engine with two endpoints, of which one gives false answers about the final block: points and tokens are never
 * both given away.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';

const WEEK_SECONDS = 7 * 86_400;
const OTHER_HASH = `0x${'ab'.repeat(32)}`;

describe('the engine, beside an endpoint that lies about the final block,', () => {
  let bench: EngineBench;
  const nodes: FaultyNode[] = [];

  beforeAll(async () => {
    bench = await EngineBench.start(async (upstream) => {
      nodes.push(await startFaultyNode({ upstream }), await startFaultyNode({ upstream }));
      return nodes.map(({ url }) => url);
    });
  });
  beforeEach(mend);
  afterAll(async () => {
    await bench.stop();
    await Promise.all(nodes.map((node) => node.close()));
  });

  /** Removes the faults, and lets the pool ask the endpoints again. */
  function mend(): void {
    for (const node of nodes) node.fault = undefined;
    bench.clock.advance(5000);
  }

  function setFault(endpoint: number, fault: Fault): void {
    for (const [index, node] of nodes.entries()) if (index === endpoint) node.fault = fault;
  }

  /** Sweeps ten times in 200 seconds. @returns the states on the way */
  async function watch(id: UuidV7): Promise<Set<Redemption['state']>> {
    const states = new Set<Redemption['state']>();
    for (let look = 0; look < 10; look++) {
      await bench.engine.sweep();
      states.add((await bench.read(id)).state);
      await bench.pass(20);
    }
    return states;
  }

  const pointsOf = ({ wallet }: Redemption) => bench.partner.points.get(wallet);

  const lies: [string, Fault][] = [
    ['a time a week later', { kind: 'false-final', seconds: WEEK_SECONDS }],
    ['a time a week earlier', { kind: 'false-final', seconds: -WEEK_SECONDS }],
    ['a higher number', { kind: 'false-final', blocks: 2n }],
    ['another hash', { kind: 'false-final', fields: { hash: OTHER_HASH } }],
    [
      'another time, number and hash',
      {
        kind: 'false-final',
        seconds: WEEK_SECONDS,
        blocks: 2n,
        fields: { hash: OTHER_HASH },
      },
    ],
  ];
  const cases = lies.flatMap(([name, lie]): [string, number, Fault][] => [
    [name, 0, lie],
    [name, 1, lie],
  ]);

  it.each(cases)(
    'gives no points back for a voucher that can be claimed: %s, endpoint %d',
    async (_case, liar, lie) => {
      const id = await bench.authorised();
      setFault(liar, lie);
      expect([...(await watch(id))]).toEqual(['authorised']);
      expect(pointsOf(await bench.read(id))).toBe(0);
      expect(await bench.claim(id)).toBeUndefined();
      await watch(id);
      mend();
      const redemption = await bench.until(id, 'claimed');
      expect(await bench.chain.tokens(redemption.wallet)).toBe(340n);
      expect(pointsOf(redemption)).toBe(0);
    },
  );

  it.each(cases)(
    'gives points back once, after the endpoints agree again: %s, endpoint %d',
    async (_case, liar, lie) => {
      const id = await bench.redeem();
      const { plan } = await bench.until(id, 'authorised');
      setFault(liar, lie);
      const untilMs = ((plan?.deadlineSeconds ?? 0) + 100) * 1000;
      while (bench.clock.nowMs() < untilMs) await bench.pass(20);
      expect([...(await watch(id))]).toEqual(['authorised']);
      mend();
      const redemption = await bench.until(id, 'reverted');
      expect(pointsOf(redemption)).toBe(POINTS);
      expect(await bench.claim(id)).toBe('VoucherExpired');
    },
  );

  it('makes progress where one endpoint has fewer blocks final', async () => {
    setFault(0, { kind: 'late-final', blocks: 2n });
    const [claimed, left] = [await bench.authorised(), await bench.redeem()];
    expect(await bench.claim(claimed)).toBeUndefined();
    await bench.until(claimed, 'claimed');
    await bench.until(left, 'reverted');
  });
});
