import { afterEach, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { type FaultyNode, type NodeCall, startFaultyNode } from '#libs/testing/fake-node';
import { RpcPool } from '../rpc/rpc-pool.js';
import { ChainReader } from './chain-reader.js';

const FEED = `0x${'fe'.repeat(20)}` as Address;
const DECIMALS = '0x313ce567';
const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');

interface Round {
  readonly roundId: bigint;
  readonly answer: bigint;
  readonly updatedAt: bigint;
}
/** The rounds of a feed, each by the height of the first block that has it. */
type Rounds = Readonly<Record<number, Round>>;

const OLD: Round = { roundId: 8n, answer: 15_000_000n, updatedAt: 1_700_000_000n };
const NEW: Round = { roundId: 9n, answer: 15_100_000n, updatedAt: 1_700_000_060n };
const RIGHT: Rounds = { 0: OLD, 100: NEW };

const nodes: FaultyNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

/** A node at this height with these rounds. */
async function aNode(head: number, rounds: Rounds = RIGHT): Promise<string> {
  const upstream = ({ method, params }: NodeCall): unknown => {
    if (method === 'eth_blockNumber') return `0x${head.toString(16)}`;
    const [{ data }, block] = params as [{ data: string }, string];
    if (data === DECIMALS) return `0x${word(8n)}`;
    const height = block === 'latest' ? head : Number(block);
    const from = Math.max(
      ...Object.keys(rounds)
        .map(Number)
        .filter((at) => at <= height),
    );
    const { roundId, answer, updatedAt } = rounds[from] ?? OLD;
    return `0x${[roundId, answer, updatedAt, updatedAt, roundId].map(word).join('')}`;
  };
  const node = await startFaultyNode({ upstream });
  nodes.push(node);
  return node.url;
}

function feeds(...urls: string[]): ChainReader {
  return new ChainReader(new RpcPool({ urls, clock: new FakeClock(0), patienceMs: 100 }));
}

const told = ({ roundId, answer, updatedAt }: Round) => ({
  roundId,
  answer,
  decimals: 8,
  updatedAtSeconds: Number(updatedAt),
  answeredInRound: roundId,
});

describe('a feed that two endpoints tell of', () => {
  it.each([NEW, { ...NEW, answer: -1n }])(
    'has the round that both tell: $answer',
    async (round) => {
      const two = feeds(await aNode(105, { 100: round }), await aNode(103, { 100: round }));
      expect(await two.latestRound(FEED)).toEqual(told(round));
    },
  );

  it('has the round of the lower height where one is behind', async () => {
    const ahead = await aNode(100);
    const behind = await aNode(99);
    expect(await feeds(ahead, behind).latestRound(FEED)).toEqual(told(OLD));
    expect(await feeds(behind, ahead).latestRound(FEED)).toEqual(told(OLD));
  });

  it.each<[string, Round]>([
    ['another answer', { ...NEW, answer: 15_100n }],
    ['another time', { ...NEW, updatedAt: 1_700_009_999n }],
    ['another round', { ...NEW, roundId: 10n, answer: 1n }],
  ])('has none where one of them tells %s, whichever it is', async (_, lie) => {
    const honest = await aNode(105);
    for (const head of [105, 90, 200]) {
      const liar = await aNode(head, { 0: lie });
      for (const urls of [
        [honest, liar],
        [liar, honest],
      ]) {
        await expect(feeds(...urls).latestRound(FEED)).rejects.toMatchObject({
          code: 'PRICE_FEED_DISAGREES',
          retryable: false,
          message: expect.stringMatching(/round \d+, answer \d+;.+round \d+, answer \d+\)/),
        });
      }
    }
  });

  it('has none where only one of two answers, and where there is one endpoint needs no other', async () => {
    const honest = await aNode(105);
    const dead = 'http://127.0.0.1:1';
    await expect(feeds(honest, dead).latestRound(FEED)).rejects.toMatchObject({ retryable: true });
    expect(await feeds(honest).latestRound(FEED)).toEqual(told(NEW));
    // A third endpoint can replace one that is down.
    expect(await feeds(dead, honest, await aNode(105)).latestRound(FEED)).toEqual(told(NEW));
  });
});
