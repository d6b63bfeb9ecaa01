import { afterEach, describe, expect, it } from '@jest/globals';
import { type ProviderBehaviour } from './provider-behaviour.js';
import { ReplayBench } from './testing/replay-bench.js';

describe('what a replay provider does wrong', () => {
  const bench = new ReplayBench();

  afterEach(() => bench.stop());

  const post = async (
    calls: unknown,
  ): Promise<{ status: number; body: unknown; headers: Headers }> => {
    const response = await fetch(bench.provider.url, {
      method: 'POST',
      body: JSON.stringify(calls),
    });
    return { status: response.status, body: await response.json(), headers: response.headers };
  };
  const call = (id: number, method: string, ...params: unknown[]): object => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  });

  it.each<[NonNullable<ProviderBehaviour['rangeCap']>['style'], RegExp]>([
    ['alchemy', /this block range should work: \[0xa, 0x13\]/],
    ['quicknode', /limited to a 10 range/],
    ['plain', /block range is too wide/],
  ])('refuses longer ranges in the words of %s', async (style, text) => {
    await bench.start({ rangeCap: { blocks: 10, style } });
    await bench.ourLogs(10, 19);
    await expect(bench.ourLogs(10, 20)).rejects.toThrow(text);
  });

  it('refuses answers with more logs than its cap, and proposes a range that it then answers', async () => {
    await bench.start({ resultCap: { logs: 50 } });
    const refusal = await bench.ourLogs(0, 300).catch((error: unknown) => String(error));
    const to = /should work: \[0x0, (0x[0-9a-f]+)\]/.exec(String(refusal))?.[1];
    expect((await bench.ourLogs(0, Number(to))).length).toBeLessThanOrEqual(50);
    await expect(bench.ourLogs(0, Number(to) + 20)).rejects.toThrow(/Log response size exceeded/);
  });

  it.each([
    ['object', { error: { code: -32600 } }],
    ['first', [{ id: 1, error: { code: -32600 } }]],
    [
      'rest',
      [
        { id: 1, result: '0x12c' },
        { id: 2, result: '0x12c' },
        { id: 3, error: { code: -32600 } },
      ],
    ],
  ] as const)('refuses larger batches: %s', async (style, expected) => {
    await bench.start({ batchCap: { calls: 2, style } });
    const calls = [1, 2, 3].map((id) => call(id, 'eth_blockNumber'));
    expect((await post(calls)).body).toMatchObject(expected);
    expect((await post(calls.slice(0, 2))).body).toHaveLength(2);
  });

  it('refuses requests by chance, as often as told, and single calls in the other style', async () => {
    await bench.start({ refusals: { tooMany: 0.2, unavailable: 0.1, retryAfterSeconds: 7 } });
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => post(call(1, 'eth_blockNumber'))),
    );
    const share = (status: number): number =>
      answers.filter((one) => one.status === status).length / 500;
    expect(share(429)).toBeCloseTo(0.2, 1);
    expect(share(503)).toBeCloseTo(0.1, 1);
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('7');
    const { refused = 0 } = bench.provider.stats().byMethod['eth_blockNumber'] ?? {};
    expect(refused / 500).toBeCloseTo(share(429) + share(503), 10);
    bench.provider.setFaults({ refusals: { tooMany: 0.5, style: 'call' } });
    const batch = Array.from({ length: 200 }, (_, id) => call(id, 'eth_blockNumber'));
    const body = (await post(batch)).body as { error?: { code: number } }[];
    expect(body.filter(({ error }) => error?.code === 429).length / 200).toBeCloseTo(0.5, 1);
    expect(body).toHaveLength(200);
  });

  it('refuses what is over its budget, whole requests or the calls that are too many', async () => {
    await bench.start({ budget: { unitsPerSecond: 1, burstSeconds: 150, retryAfter: true } });
    await bench.ourLogs(0, 10);
    const second = [
      call(1, 'eth_getLogs', { fromBlock: '0x1', toBlock: '0x1' }),
      call(2, 'eth_blockNumber'),
    ];
    const refused = await post(second);
    expect(refused.status).toBe(429);
    // 10 units are missing, and the bucket has gained a little since the first request.
    expect(['8', '9', '10']).toContain(refused.headers.get('retry-after'));
    expect(bench.provider.stats()).toMatchObject({ computeUnits: 75, refusedRequests: 1 });
    bench.provider.setFaults({ budget: { unitsPerSecond: 1, burstSeconds: 85, style: 'call' } });
    expect((await post([...second, call(3, 'eth_blockNumber')])).body).toMatchObject([
      { id: 1, result: expect.any(Array) },
      { id: 2, result: '0x12c' },
      { id: 3, error: { code: 429 } },
    ]);
  });

  it('leaves out half of the logs of one in ten answers', async () => {
    await bench.start({ drops: { kind: 'half-of-one-in-ten' } });
    const lengths: number[] = [];
    for (let ask = 0; ask < 200; ask++) lengths.push((await bench.ourLogs(0, 300)).length);
    const whole = lengths.filter((length) => length === 400).length;
    expect(whole / 200).toBeCloseTo(0.9, 1);
    expect(Math.min(...lengths)).toBeLessThan(250);
  });

  it('leaves out one given log always, in receipts where told', async () => {
    await bench.start({ drops: { kind: 'one', nth: 200 } });
    const block = bench.provider.chain.history.blockOf(200);
    const [before, own] = [await bench.ourLogs(0, 300), await bench.ourLogs(block, block)];
    const receipts = async (): Promise<number> =>
      (
        await bench.rpc.call<{ logs: unknown[] }[]>(
          'eth_getBlockReceipts',
          `0x${block.toString(16)}`,
        )
      ).flatMap(({ logs }) => logs).length;
    const whole = await receipts();
    expect(before).toHaveLength(399);
    bench.provider.setFaults({ drops: { kind: 'one', nth: 200, inReceipts: true } });
    expect(await receipts()).toBe(whole - 1);
    bench.provider.setFaults({});
    expect(await bench.ourLogs(block, block)).toHaveLength(own.length + 1);
  });

  it('has blooms that are zero, all ones, the parent’s, or hold what is not there', async () => {
    await bench.start({}, { blocks: 2000 });
    const blooms = (): Promise<string[]> =>
      Promise.all(
        [200, 201].map(async (number) => {
          const header = await bench.rpc.call<{ logsBloom: string }>(
            'eth_getBlockByNumber',
            `0x${number.toString(16)}`,
            false,
          );
          return header.logsBloom;
        }),
      );
    const right = await blooms();
    bench.provider.setFaults({ blooms: 'zero' });
    expect(await blooms()).toEqual(Array(2).fill(`0x${'0'.repeat(512)}`));
    bench.provider.setFaults({ blooms: 'ones' });
    expect(await blooms()).toEqual(Array(2).fill(`0x${'f'.repeat(512)}`));
    bench.provider.setFaults({ blooms: 'inherited' });
    expect((await blooms())[1]).toBe(right[0]);
    const { chain } = bench.provider;
    const more = (fault: 'promised' | 'system'): number =>
      Array.from({ length: 2001 }, (_, number) => number).filter(
        (number) => chain.bloomOf(number, fault) !== chain.bloomOf(number),
      ).length;
    expect(more('promised')).toBeGreaterThan(2);
    expect(more('promised')).toBeLessThan(40);
    expect(more('system')).toBeGreaterThan(1500);
  });

  it('goes away after so many requests, and comes back', async () => {
    await bench.start({ outage: { afterRequests: 1, how: 'unavailable' } });
    expect((await post(call(1, 'eth_blockNumber'))).status).toBe(200);
    expect((await post(call(1, 'eth_blockNumber'))).status).toBe(503);
    bench.provider.setFaults({ outage: { afterRequests: 0, how: 'reset', forMs: 100 } });
    await expect(post(call(1, 'eth_blockNumber'))).rejects.toThrow();
    const begun = performance.now();
    while (performance.now() - begun < 150) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await post(call(1, 'eth_blockNumber'))).status).toBe(200);
    bench.provider.setFaults({ outage: { afterRequests: 0, how: 'hang' } });
    const signal = AbortSignal.timeout(200);
    await expect(
      fetch(bench.provider.url, {
        method: 'POST',
        body: JSON.stringify(call(1, 'eth_chainId')),
        signal,
      }),
    ).rejects.toThrow(/timeout/);
  });

  it('answers with rubbish', async () => {
    await bench.start({ rubbish: { kinds: ['html'], share: 1 } });
    const ask = (): Promise<Response> =>
      fetch(bench.provider.url, { method: 'POST', body: JSON.stringify([call(1, 'eth_chainId')]) });
    expect(await (await ask()).text()).toMatch(/<html>/);
    bench.provider.setFaults({ rubbish: { kinds: ['truncated'], share: 1 } });
    await expect(ask().then((response) => response.text())).rejects.toThrow();
    bench.provider.setFaults({ rubbish: { kinds: ['wrong-ids'], share: 1 } });
    expect(await (await ask()).json()).toMatchObject([{ id: -1 }]);
    bench.provider.setFaults({ rubbish: { kinds: ['error-object'], share: 1 } });
    expect(await (await ask()).json()).toMatchObject({ error: { code: -32603 } });
    bench.provider.setFaults({ rubbish: { kinds: ['huge'], share: 1 } });
    let bytes = 0;
    for await (const part of (await ask()).body ?? []) bytes += (part as Uint8Array).length;
    expect(bytes).toBeGreaterThanOrEqual(200 * 1024 * 1024);
    expect(bench.provider.stats().byMethod['eth_chainId']).toEqual({
      calls: 5,
      refused: 5,
      failed: 0,
    });
  });
});
