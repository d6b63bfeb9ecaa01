/** What is new at the chain's tip, read in one request. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BlockRef } from '#libs/domain';
import { type Fault, FaultyHistory } from '#libs/testing/fake-node';
import { parseStakeEvents } from '../stake/parse-stake-events.js';
import { ChainReader } from '../reader/chain-reader.js';
import { LogSource } from './log-source.js';

describe('the tip of the chain', () => {
  let history: FaultyHistory;

  beforeAll(async () => {
    history = await FaultyHistory.start();
  });

  afterAll(async () => {
    await history.stop();
  });

  async function readTip(
    back: bigint,
    ...faults: (Fault | undefined)[]
  ): Promise<{ tip: Awaited<ReturnType<LogSource['tip']>>; head: BlockRef }> {
    const pool = await history.pool(...(faults.length === 0 ? [undefined] : faults));
    const contracts = [history.chain.contracts.staking];
    const reader = new ChainReader(pool, { contracts });
    const source = new LogSource(pool, { contracts, events: parseStakeEvents('staked-withdrawn') });
    const [head] = await reader.headers([history.range.to - back]);
    if (!head) throw new Error('no such block');
    const total = await reader.totalCalls();
    for (const node of history.nodes) node.requests.length = 0;
    return { tip: await source.tip({ head, tag: undefined, total }), head };
  }

  const sizes = (): number[] | undefined =>
    history.nodes[0]?.requests.map(({ calls }) => calls.length);

  it('is one request where one block is new, the contract’s total included', async () => {
    const { tip, head } = await readTip(1n);
    expect(tip.answer).toMatchObject({
      from: history.range.to,
      to: history.range.to,
      parentHash: head.hash,
      blocks: history.truth.filter(({ blockNumber }) => blockNumber === history.range.to),
    });
    expect(tip.latest.number).toBe(history.range.to);
    expect(tip.total).toBeGreaterThan(0n);
    expect(sizes()).toEqual([3]);
  });

  it('is one more for the headers where several are', async () => {
    const { tip, head } = await readTip(5n);
    expect(tip.answer).toMatchObject({ from: head.number + 1n, parentHash: head.hash });
    expect(tip.answer?.blocks).toEqual(
      history.truth.filter(({ blockNumber }) => blockNumber > head.number),
    );
    expect(tip.answer?.headers).toHaveLength(5);
    expect(sizes()).toEqual([3, 4]);
  });

  it('is nothing where nothing is new, though a node refuses logs of blocks to come', async () => {
    const { tip } = await readTip(0n, {
      kind: 'error',
      method: 'eth_getLogs',
      code: -32000,
      message: 'invalid block range params',
    });
    expect(tip.answer).toBeUndefined();
  });

  it('is not believed where a bloom speaks of an event that the logs lack', async () => {
    let hasLied = false;
    // The fault is at the node that is asked first, whichever it is: a node that was slow before is asked second.
    const fault: Fault = {
      kind: 'lie',
      change: ({ method }) => {
        if (hasLied || method !== 'eth_getLogs') return undefined;
        hasLied = true;
        return [];
      },
    };
    const { tip } = await readTip(1n, fault, fault);
    expect(tip.answer?.blocks).toEqual(
      history.truth.filter(({ blockNumber }) => blockNumber === history.range.to),
    );
    expect(history.warnings).toContainEqual(expect.objectContaining({ code: 'RPC_LOGS_WITHHELD' }));
  });

  it('fails where a lagging node lacks a block in between', async () => {
    await expect(readTip(5n, { kind: 'broken-chain', block: history.single })).rejects.toThrow(
      /does not follow the block before it/,
    );
  });
});
