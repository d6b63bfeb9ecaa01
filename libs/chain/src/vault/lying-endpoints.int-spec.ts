/**
 * Endpoints with false statements about the final block itself (its time, its number, its hash, or its other fields), and
 * nodes that are behind, or leave out, invent and alter answers. None of them leads to false evidence.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { toFunctionSelector } from 'viem/utils';
import { type PayoutEvidence } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { type RpcWarning } from '../rpc/rpc-observer.js';
import { RpcPool } from '../rpc/rpc-pool.js';
import { CLAIMED, redemptionIdOf } from './vault-event.js';
import { VaultReader, type WatchedPayout } from './vault-reader.js';
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

type NodeFaults = Fault | readonly Fault[] | undefined;
interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}
/** @returns the altered answer, or the unchanged one */
type Lie = (call: Call, answer: unknown) => unknown;

function withNumbers({ method }: Call, answer: unknown): unknown {
  if (method !== 'eth_getLogs' && method !== 'eth_getTransactionReceipt') return undefined;
  const text = JSON.stringify(answer);
  return JSON.parse(
    text.replace(
      /"(logIndex|status)":"(0x\w+)"/g,
      (_, name: string, hex: string) => `"${name}":${Number(hex)}`,
    ),
  );
}

const STATUS = toFunctionSelector('status(bytes32)');

describe('VaultReader, among nodes that are wrong,', () => {
  let bench: VaultBench;
  let nodes: FaultyNode[] = [];
  let fromBlock: bigint;
  let expired: Voucher, claimed: Voucher, cancelled: Voucher;

  beforeAll(async () => {
    bench = await VaultBench.start();
    fromBlock = await bench.chain.player.head();
    [expired, claimed, cancelled] = [bench.voucher(), bench.voucher(), bench.voucher()];
    await bench.mine(await bench.claim(claimed), bench.cancel(cancelled));
    await bench.mine(await bench.claim(bench.voucher()));
    await bench.mineAt(expired.deadlineSeconds + 1);
    await bench.finalise();
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    nodes = [];
  });
  afterAll(() => bench.stop());

  /** The evidence of the first voucher, by one node for each of the behaviours. */
  async function observed(vouchers: Voucher | Voucher[], ...behaviours: (NodeFaults | Lie)[]) {
    const upstream = bench.chain.url;
    for (const one of behaviours) {
      const node =
        typeof one === 'function'
          ? await startFaultyNode({ upstream: liar(one) })
          : await startFaultyNode({ upstream, ...(one ? { fault: one } : {}) });
      nodes.push(node);
    }
    const clock = new FakeClock(0);
    const pool = new RpcPool({
      urls: nodes.map((node) => node.url),
      clock,
      timeoutMs: 1500,
      sleep: (ms) => {
        clock.advance(ms);
        return Promise.resolve();
      },
    });
    const reader = new VaultReader(pool, {
      vault: bench.vault,
      token: bench.chain.contracts.token,
      clock: new FakeClock(bench.seconds * 1000),
    });
    const watched = [vouchers]
      .flat()
      .map(({ vaultId, recipient, amount, deadlineSeconds }): WatchedPayout => {
        const redemptionId = redemptionIdOf(vaultId) ?? '';
        return { redemptionId, recipient, amount, deadlineSeconds, fromBlock };
      });
    const [evidence] = await reader.observe(watched);
    return evidence;
  }

  function liar(lie: Lie) {
    return async (call: Call): Promise<unknown> => {
      const answer = await bench.chain.rpc.call(call.method, ...call.params);
      return lie(call, answer);
    };
  }
  const says =
    (status: number): Lie =>
    ({ method, params }, answer) => {
      const data = (params[0] as { data?: string } | undefined)?.data ?? '';
      if (method !== 'eth_call' || !data.startsWith(STATUS)) return answer;
      return `0x${status.toString(16).padStart(64, '0')}`;
    };
  const silent: Lie = ({ method }, answer) => (method === 'eth_getLogs' ? [] : answer);
  const both =
    (...lies: Lie[]): Lie =>
    (call, answer) =>
      lies.reduce((value, lie) => lie(call, value), answer);
  const contradicted = (text: string) => ({
    outcome: 'live',
    doubt: { kind: 'contradiction', text: expect.stringContaining(text) },
  });

  describe('alone: what does not fit together is live, and reported', () => {
    it.each<[string, () => Voucher, Lie, string]>([
      ['a claim whose event is left out', () => claimed, silent, 'claimed, with no event'],
      ['a cancellation without its event', () => cancelled, silent, 'cancelled, with no event'],
      ['a claim without its status', () => claimed, says(0), 'none, with 1 claims'],
      ['a claim with another status', () => claimed, says(2), 'cancelled, with 1 claims'],
      ['a cancellation without its status', () => cancelled, says(0), 'none, with 1 cancell'],
      ['a status without any event', () => expired, says(1), 'claimed, with no event'],
    ])('%s', async (_case, voucher, lie, text) => {
      expect(await observed(voucher(), lie)).toMatchObject(contradicted(text));
    });

    it('an event of another payout, altered to be of this one', async () => {
      const { vaultId } = expired;
      const forge: Lie = ({ method, params }, answer) => {
        const filter = params[0] as { topics?: [unknown, unknown] };
        if (method === 'eth_getLogs')
          return bench.chain.rpc
            .call(method, {
              ...filter,
              topics: [[CLAIMED], [claimed.vaultId]],
            })
            .then(rename);
        return method === 'eth_getTransactionReceipt' ? rename(answer) : answer;
      };
      const rename = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value).replaceAll(claimed.vaultId, vaultId));
      expect(await observed(expired, forge)).toMatchObject(contradicted('none, with 1 claims'));
    });
  });

  describe('alone: what is plainly wrong is no answer at all', () => {
    it.each<[string, Fault | Lie]>([
      ['an altered amount', { kind: 'altered-amount' }],
      ['logs of another fork', { kind: 'other-fork-logs' }],
      ['a log twice', { kind: 'duplicate-log' }],
      ['a removed log', { kind: 'removed-log' }],
      ['a log of another block', { kind: 'log-out-of-range' }],
      ['no final block', { kind: 'result', method: 'eth_getBlockByNumber', result: null }],
      ['no receipt', { kind: 'result', method: 'eth_getTransactionReceipt', result: null }],
      ['another receipt', { kind: 'result', method: 'eth_getTransactionReceipt', result: {} }],
      ['logs that are no list', { kind: 'result', method: 'eth_getLogs', result: null }],
      ['logs that are no logs', { kind: 'result', method: 'eth_getLogs', result: [null] }],
      [
        'zero from every call',
        { kind: 'result', method: 'eth_call', result: `0x${'0'.repeat(64)}` },
      ],
      ['nothing from every call', { kind: 'result', method: 'eth_call', result: '0x' }],
      ['a status that does not exist', says(3)],
      ['no state', { kind: 'pruned' }],
      ['no batches', { kind: 'missing-answer' }],
      [
        'a failed transaction',
        ({ method }, answer) =>
          method === 'eth_getTransactionReceipt'
            ? { ...(answer as object), status: '0x0' }
            : answer,
      ],
      [
        'a log that was not asked for',
        ({ method, params }, answer) => {
          if (method !== 'eth_getLogs') return answer;
          const [filter] = params as [object];
          return bench.chain.rpc.call(method, { ...filter, topics: [[CLAIMED]] });
        },
      ],
    ])('%s', async (_case, behaviour) => {
      await expect(observed(claimed, behaviour)).rejects.toMatchObject({
        code: 'RPC_ALL_ENDPOINTS_FAILED',
        retryable: true,
      });
    });

    it('is asked the next of, where there is one', async () => {
      const bad: Fault = { kind: 'altered-amount' };
      expect(await observed(claimed, bad, undefined, undefined)).toMatchObject({ outcome: 'paid' });
    });
  });

  describe('together with another one', () => {
    const ends: [string, () => Voucher, PayoutEvidence['outcome']][] = [
      ['a claim', () => claimed, 'paid'],
      ['a cancellation', () => cancelled, 'dead'],
      ['silence', () => expired, 'dead'],
    ];

    it.each(ends)('needs both to see the same end: %s', async (_case, voucher, outcome) => {
      expect(await observed(voucher(), undefined, undefined)).toMatchObject({ outcome });
      const asked = nodes.map((node) => node.count('eth_getLogs'));
      expect(asked).toEqual([1, 1]);
    });

    it.each(ends)('waits while the second cannot be asked: %s', async (_case, voucher) => {
      const unconfirmed = { outcome: 'live', doubt: { kind: 'unconfirmed' } };
      const down: Fault = { kind: 'status', status: 503 };
      expect(await observed(voucher(), undefined, down)).toMatchObject(unconfirmed);
    });

    it('waits while the second lags behind the final block', async () => {
      const evidence = await observed(expired, undefined, { kind: 'lagging', blocks: 6n });
      expect(evidence).toMatchObject({ outcome: 'live', doubt: { kind: 'unconfirmed' } });
    });

    it.each<[string, () => Voucher, Lie]>([
      ['denies a claim altogether', () => claimed, both(says(0), silent)],
      ['denies a cancellation altogether', () => cancelled, both(says(0), silent)],
    ])('reports one that %s, whichever is asked first', async (_case, voucher, lie) => {
      expect(await observed(voucher(), lie, undefined)).toMatchObject(contradicted('sees'));
      await Promise.all(nodes.splice(0).map((node) => node.close()));
      expect(await observed(voucher(), undefined, lie)).toMatchObject(contradicted('sees'));
    });
  });

  describe('reads the same', () => {
    it.each<[string, Fault]>([
      ['of nodes that take no block hash', { kind: 'no-block-hash-calls' }],
      ['of nodes that take few blocks at once', { kind: 'range-limit', blocks: 1 }],
      ['of nodes that answer out of order', { kind: 'out-of-order' }],
      ['of nodes that take few calls at once', { kind: 'batch-limit', limit: 2 }],
      ['of nodes without log times', { kind: 'no-log-timestamps' }],
      ['of nodes that write numbers in place of hex', { kind: 'lie', change: withNumbers }],
    ])('%s', async (_case, fault) => {
      expect(await observed(claimed, fault, fault)).toMatchObject({ outcome: 'paid' });
      await Promise.all(nodes.splice(0).map((node) => node.close()));
      expect(await observed(expired, fault, fault)).toMatchObject({ outcome: 'dead' });
    });

    it('of nodes that give the newest logs first', async () => {
      const fault: Fault = { kind: 'unordered-logs' };
      const evidence = await observed([claimed, cancelled], fault, fault);
      expect(evidence).toMatchObject({ outcome: 'paid' });
    });
  });
});
