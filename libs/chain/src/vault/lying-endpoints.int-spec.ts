/**
 * Endpoints with false statements about the final block itself: its time, its number, its hash, or its other fields.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FakeClock } from '#libs/testing/clock';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { type RpcWarning } from '../rpc/rpc-observer.js';
import { RpcPool } from '../rpc/rpc-pool.js';
import { redemptionIdOf } from './vault-event.js';
import { VaultReader } from './vault-reader.js';
import { type Voucher } from './voucher.js';

const WEEK_SECONDS = 7 * 86_400;
const OTHER_HASH = `0x${'ab'.repeat(32)}`;
type Faults = readonly (Fault | undefined)[];

describe('VaultReader, among endpoints that lie about the final block,', () => {
  let bench: VaultBench;
  let nodes: FaultyNode[] = [];
  let warnings: RpcWarning[] = [];
  let poolClock = new FakeClock(0);
  let fromBlock: bigint;
  /** `open` is claimed later, or never. */
  let open: Voucher, claimed: Voucher, cancelled: Voucher, expired: Voucher;

  beforeAll(async () => {
    bench = await VaultBench.start();
    fromBlock = await bench.chain.player.head();
    [claimed, cancelled] = [bench.voucher(), bench.voucher()];
    expired = bench.voucher({ deadlineSeconds: bench.seconds + 15 });
    await bench.mine(await bench.claim(claimed), bench.cancel(cancelled));
    await bench.finalise();
    await bench.finalise();
    open = bench.voucher({ deadlineSeconds: bench.seconds + 60 });
  });
  afterEach(closeNodes);
  afterAll(() => bench.stop());

  async function closeNodes(): Promise<void> {
    await Promise.all(nodes.splice(0).map((node) => node.close()));
  }

  /** A reader over one node for each of the faults, at a moment of our clock. */
  async function aReader(faults: Faults, nowSeconds: number, marginSeconds = 0) {
    await closeNodes();
    const upstream = bench.chain.url;
    nodes = await Promise.all(
      faults.map((fault) => startFaultyNode({ upstream, ...(fault && { fault }) })),
    );
    warnings = [];
    poolClock = new FakeClock(0);
    const clock = new FakeClock(nowSeconds * 1000);
    const pool = new RpcPool({
      urls: nodes.map((node) => node.url),
      clock: poolClock,
      timeoutMs: 1500,
      observer: { request: () => undefined, warning: (warning) => warnings.push(warning) },
      sleep: () => Promise.resolve(),
    });
    const { vault } = bench;
    const { token } = bench.chain.contracts;
    return new VaultReader(pool, { vault, token, clock, marginSeconds });
  }

  async function observe(reader: VaultReader, voucher: Voucher) {
    const { vaultId, recipient, amount, deadlineSeconds } = voucher;
    const redemptionId = redemptionIdOf(vaultId) ?? '';
    const watched = { redemptionId, recipient, amount, deadlineSeconds, fromBlock };
    const [evidence] = await reader.observe([watched]);
    return evidence;
  }

  async function observed(voucher: Voucher, faults: Faults, nowSeconds = bench.seconds) {
    return observe(await aReader(faults, nowSeconds), voucher);
  }

  /** Removes all faults, and waits until failed endpoints are asked again. */
  function mend(): void {
    for (const node of nodes) node.fault = undefined;
    poolClock.advance(60_000);
  }

  const codes = () => warnings.map(({ code }) => code);
  const shifted = (seconds: number): Fault => ({ kind: 'false-final', seconds });

  /** No time is so far ahead that our clock alone refuses it. */
  const lies: [string, Fault][] = [
    ['a later time', shifted(200)],
    ['an earlier time', shifted(-WEEK_SECONDS)],
    ['a higher number', { kind: 'false-final', blocks: 3n }],
    ['a lower number', { kind: 'false-final', blocks: -3n }],
    ['another hash', { kind: 'false-final', fields: { hash: OTHER_HASH } }],
    ['another state', { kind: 'false-final', fields: { stateRoot: OTHER_HASH } }],
    ['a field that is left out', { kind: 'false-final', fields: { extraData: null } }],
    [
      'a higher number and a later time',
      { kind: 'false-final', blocks: 3n, seconds: 200, fields: { nonce: null } },
    ],
    ['later times of all blocks', { kind: 'false-times', seconds: 200 }],
  ];
  const places = lies.flatMap(([name, lie]): [string, Faults][] => [
    [`${name}, first in the list`, [lie, undefined]],
    [`${name}, second in the list`, [undefined, lie]],
  ]);

  describe('one of two', () => {
    it.each(places)(
      'ends no voucher, and lets nothing be done on what is over, by %s',
      async (_case, faults) => {
        // The chain stands still, and the deadline has passed by our clock.
        const evidence = await observed(open, faults, open.deadlineSeconds + 1);
        expect(evidence).toMatchObject({ outcome: 'live' });
        for (const voucher of [expired, claimed, cancelled]) {
          expect(await observed(voucher, faults)).toMatchObject({ outcome: 'live' });
        }
      },
    );

    it.each(places)('is named with both figures, by %s, and heals', async (_case, faults) => {
      const reader = await aReader(faults, bench.seconds + 3600);
      expect(await observe(reader, expired)).toMatchObject({ doubt: { kind: 'disagreement' } });
      expect(codes()).toEqual(['RPC_ENDPOINTS_DISAGREE']);
      expect(warnings[0]?.message).toMatch(
        /#1 says .*#2 says |#2 says .*#1 says |fields do not hash to 0x/,
      );
      mend();
      expect(await observe(reader, expired)).toMatchObject({ outcome: 'dead', reason: 'expired' });
      expect(await observe(reader, claimed)).toMatchObject({ outcome: 'paid' });
      expect(await observe(reader, cancelled)).toMatchObject({ outcome: 'dead' });
    });

    it.each(places)('leaves no final block for a plan, by %s', async (_case, faults) => {
      const reader = await aReader(faults, bench.seconds);
      const refusal = { code: 'RPC_ENDPOINTS_DISAGREE', retryable: true };
      await expect(reader.finalised()).rejects.toMatchObject(refusal);
      mend();
      const number = (await bench.chain.player.head()) - 4n;
      expect(await reader.finalised()).toMatchObject({ number });
    });

    it.each([
      ['first', [shifted(WEEK_SECONDS), undefined]],
      ['second', [undefined, shifted(WEEK_SECONDS)]],
    ])('is refused for a time a week ahead of our clock, %s in the list', async (_case, faults) => {
      for (const voucher of [open, expired, claimed, cancelled]) {
        expect(await observed(voucher, faults)).toMatchObject({ outcome: 'live' });
      }
      const reader = await aReader(faults, bench.seconds);
      await observe(reader, expired);
      expect(codes()).toEqual(['RPC_FINAL_BLOCK_REFUSED']);
      expect(warnings[0]?.message).toMatch(/final block \d+ is of \d{4}-.* clock says \d{4}-/);
      mend();
      expect(await observe(reader, expired)).toMatchObject({ outcome: 'dead' });
    });

    it('that holds its clock back is found out when the voucher should have ended', async () => {
      const late = bench.seconds + 3600;
      const faults = [shifted(-WEEK_SECONDS), shifted(-WEEK_SECONDS)];
      for (const honest of [0, 1]) {
        const some = faults.map((fault, index) => (index === honest ? undefined : fault));
        expect(await observed(expired, some, late)).toMatchObject({
          doubt: { kind: 'disagreement' },
        });
      }
    });

    it('hides no claim of a redemption without a plan by an old block', async () => {
      const blocks = (await bench.chain.player.head()) - 4n - fromBlock;
      const unplanned = { ...claimed, deadlineSeconds: 0 };
      for (const faults of [
        [{ kind: 'late-final', blocks } as const, undefined],
        [undefined, { kind: 'late-final', blocks } as const],
      ]) {
        expect(await observed(unplanned, faults)).toMatchObject({ outcome: 'live' });
      }
    });
  });

  describe('honest ones', () => {
    it('make progress where one has fewer blocks final, by the lower block', async () => {
      const head = await bench.chain.player.head();
      const late: Fault = { kind: 'late-final', blocks: 2n };
      for (const faults of [
        [late, undefined],
        [undefined, late],
      ]) {
        for (const [voucher, outcome] of [
          [expired, 'dead'],
          [claimed, 'paid'],
          [cancelled, 'dead'],
        ] as const) {
          const evidence = await observed(voucher, faults);
          expect(evidence).toMatchObject({ outcome, finalised: { number: head - 6n } });
        }
        const reader = await aReader(faults, bench.seconds);
        expect(await reader.finalised()).toMatchObject({ number: head - 6n });
        expect(warnings).toEqual([]);
      }
    });

    it('wait for each other where the end is final for one of them only', async () => {
      const voucher = bench.voucher();
      await bench.mine(await bench.claim(voucher));
      await bench.finalise();
      const late: Fault = { kind: 'late-final', blocks: 1n };
      for (const faults of [
        [late, undefined],
        [undefined, late],
      ]) {
        expect(await observed(voucher, faults)).toMatchObject({ outcome: 'live' });
        expect(warnings).toEqual([]);
      }
      expect(await observed(voucher, [undefined, undefined])).toMatchObject({ outcome: 'paid' });
    });

    it('of a chain with another header format pass on the other rules, which is told once', async () => {
      const other: Fault = { kind: 'other-format' };
      const reader = await aReader([other, other], bench.seconds);
      expect(await observe(reader, expired)).toMatchObject({ outcome: 'dead' });
      expect(await observe(reader, claimed)).toMatchObject({ outcome: 'paid' });
      expect(codes()).toEqual(['RPC_HEADER_FORMAT']);
      for (const node of nodes.slice(0, 1)) node.fault = [other, shifted(-60)];
      expect(await observe(reader, expired)).toMatchObject({ doubt: { kind: 'disagreement' } });
    });
  });

  describe('alone', () => {
    it.each([
      ['a time a week ahead', shifted(WEEK_SECONDS)],
      ['a later time', shifted(200)],
      ['an earlier time', shifted(-60)],
      ['another number', { kind: 'false-final', blocks: -3n }],
      ['another hash', { kind: 'false-final', fields: { hash: OTHER_HASH } }],
    ] as [string, Fault][])('says nothing by %s', async (_case, lie) => {
      const reader = await aReader([lie], open.deadlineSeconds + 1);
      await expect(observe(reader, open)).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
      });
      await expect(reader.finalised()).rejects.toMatchObject({ code: 'RPC_ALL_ENDPOINTS_FAILED' });
      expect(codes()).toEqual(['RPC_FINAL_BLOCK_REFUSED']);
    });

    it('ends no voucher before its deadline and a margin have passed by our clock', async () => {
      const { deadlineSeconds } = expired;
      const at = async (nowSeconds: number) =>
        (await observe(await aReader([undefined], nowSeconds, 300), expired))?.outcome;
      expect(await at(deadlineSeconds + 300)).toBe('live');
      expect(await at(deadlineSeconds + 301)).toBe('dead');
    });

    it('of a chain with another header format passes on the other rules', async () => {
      const reader = await aReader([{ kind: 'other-format' }], bench.seconds);
      expect(await observe(reader, expired)).toMatchObject({ outcome: 'dead' });
      expect(codes()).toEqual(['RPC_HEADER_FORMAT']);
    });
  });
});
