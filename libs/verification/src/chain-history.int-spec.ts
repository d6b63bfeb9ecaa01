/** The events of a real chain, read again by endpoints of which one leaves out an event. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ChainReader, loadStakeEvents, LogSource, RpcPool } from '#libs/chain';
import { dayOf } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { stake, startChain, type TestChain, withdraw } from '#libs/testing/chain';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { readChainHistory, requireContractAgrees } from './index.js';

const START = 1_760_000_000;
const DAY = 86_400;
const [ALICE, BOB] = [aWallet(1), aWallet(2)];

/** Leaves out all events of Bob, each time that it is asked. */
const WITHOUT_BOB: Fault = {
  kind: 'lie',
  change: ({ method }, result) =>
    method === 'eth_getLogs'
      ? (result as { topics: string[] }[]).filter(
          ({ topics }) => !topics.some((topic) => topic.endsWith(BOB.slice(2))),
        )
      : undefined,
};

let chain: TestChain;
let liar: FaultyNode;

beforeAll(async () => {
  chain = await startChain({ deployedSeconds: START });
  const { player } = chain;
  await player.block(START + 60, stake(ALICE, 100n));
  await player.block(START + DAY, withdraw(ALICE, 30n), stake(BOB, 5n));
  await player.block(START + DAY + 60, stake(ALICE, 1n), withdraw(ALICE, 1n));
  await player.block(START + 2 * DAY, stake(BOB, 5n));
  liar = await startFaultyNode({ upstream: chain.rpc.url, fault: WITHOUT_BOB });
});
afterAll(() => Promise.all([liar.close(), chain.stop()]));

const allEvents = () => loadStakeEvents('staked-withdrawn');

async function read(
  urls: readonly string[],
  wallets?: ReadonlySet<typeof ALICE>,
  events?: Awaited<ReturnType<typeof loadStakeEvents>>,
) {
  const contracts = [chain.contracts.staking];
  const pool = new RpcPool({ urls, clock: systemClock, backoff: { firstMs: 1, longestMs: 5 } });
  const to = await chain.player.head();
  const history = await readChainHistory({
    source: new LogSource(pool, { contracts, events: events ?? (await allEvents()) }),
    range: { from: chain.contracts.startBlock, to },
    wallets,
    maxRangeBlocks: 2,
    onProgress: () => undefined,
  });
  return { history, reader: new ChainReader(pool, { contracts }) };
}

describe('the history of a chain', () => {
  it('has the rows of the wallets, and the sums of all', async () => {
    const { history, reader } = await read([chain.rpc.url], new Set([ALICE]));
    expect([...history.wallets]).toEqual([ALICE]);
    expect(history.rowsOf(ALICE).changes.map(({ balance }) => balance)).toEqual([100n, 70n]);
    expect(history.rowsOf(BOB)).toEqual({ changes: [], days: [] });
    expect(history.total).toBe(80n);
    const first = dayOf(START);
    expect([...history.dayTotals]).toEqual([
      [first, 100n],
      [first + 1, 75n],
      [first + 2, 80n],
    ]);
    const [block] = await reader.headers([await chain.player.head()]);
    if (block === undefined) throw new Error('the chain has its head');
    await requireContractAgrees(reader, history, { block, wallets: [ALICE] });
  });

  it('is refused where two providers tell different events', async () => {
    const both = [liar.url, chain.rpc.url.replace('127.0.0.1', 'localhost')];
    await expect(read(both)).rejects.toMatchObject({ code: 'EVENTS_IN_DOUBT', retryable: true });
  });

  it('is refused where one provider has receipts of other events', async () => {
    await expect(read([liar.url])).rejects.toMatchObject({ code: 'EVENTS_IN_DOUBT' });
  });

  it('is refused where the contract has another total than the events', async () => {
    const onlyStakes = (await allEvents()).slice(0, 1);
    const { history, reader } = await read([chain.rpc.url], undefined, onlyStakes);
    const [block] = await reader.headers([await chain.player.head()]);
    if (block === undefined) throw new Error('the chain has its head');
    const refused = requireContractAgrees(reader, history, { block, wallets: [] });
    await expect(refused).rejects.toMatchObject({ code: 'HISTORY_DIFFERS' });
  });
});
