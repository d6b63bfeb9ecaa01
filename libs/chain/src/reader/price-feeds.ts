/** Chainlink feeds: AggregatorV3Interface, https://docs.chain.link/data-feeds/api-reference. */
import { type Address, PermanentError } from '#libs/domain';
import { ExecutionRevertedError, MalformedAnswerError } from '../errors/rpc.errors.js';
import { type BatchAnswer, type RpcCall, valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession } from '../rpc/rpc-pool.js';
import { bytes, quantity, toQuantity } from '../shape/hex.js';
import { ethCall, wordOf } from './pinned-calls.js';

export interface PriceRound {
  readonly roundId: bigint;
  /** As the feed gives it, unscaled; may be zero or negative. */
  readonly answer: bigint;
  readonly decimals: number;
  readonly updatedAtSeconds: number;
  /** Below `roundId` the answer was carried over from an earlier round. */
  readonly answeredInRound: bigint;
}

/** Two endpoints tell different rounds at one height. */
export class FeedDisagreementError extends PermanentError {
  constructor([first, second]: readonly [Sighting, Sighting]) {
    const tell = ({ endpoint, round }: Sighting): string =>
      `${endpoint}: round ${round.roundId.toString()}, answer ${round.answer.toString()}`;
    super(
      'PRICE_FEED_DISAGREES',
      `Two endpoints tell different rounds of the price feed at one block (${tell(first)}; ${tell(second)}).`,
    );
  }
}

/** keccak256 of the signatures, the first four bytes. */
const DECIMALS = '0x313ce567';
const LATEST_ROUND_DATA = '0xfeaf968c';

interface Sighting {
  readonly endpoint: string;
  readonly head: number;
  readonly round: PriceRound;
}

export class PriceFeeds {
  constructor(private readonly pool: RpcPool) {}

  /**
   * The newest round of a feed; whether it is fresh or sane is for the caller to say. Where there are two endpoints, two must tell the
   * same: where their newest rounds differ, at the lower of their two heads.
   * @throws PermanentError where the address is not such a feed; FeedDisagreementError; AllEndpointsFailedError where no endpoint
   * answers, or only one of several
   */
  async latestRound(feed: Address): Promise<PriceRound> {
    const { pool } = this;
    if (pool.endpoints.length < 2) {
      return pool.run(async (session) => roundOf(await session.batch(calls(feed)), session, feed));
    }
    const first = await pool.run((session) => lookAt(session, feed));
    const avoid = [first.endpoint];
    const second = await pool.run((session) => lookAt(session, feed), { avoid });
    if (isSame(first.round, second.round)) return first.round;
    const height = Math.min(first.head, second.head);
    const pinned = ({ endpoint }: Sighting): Promise<Sighting> =>
      pool.run((session) => lookAt(session, feed, height), { only: endpoint });
    const [one, other] = [await pinned(first), await pinned(second)];
    if (!isSame(one.round, other.round)) throw new FeedDisagreementError([one, other]);
    return one.round;
  }
}

function calls(feed: Address, height?: number): RpcCall[] {
  const block = height === undefined ? 'latest' : toQuantity(height);
  return [LATEST_ROUND_DATA, DECIMALS].map((data) => ethCall({ to: feed, data }, block));
}

/** @param height of the block; absent: the newest */
async function lookAt(session: RpcSession, feed: Address, height?: number): Promise<Sighting> {
  const newest = { method: 'eth_blockNumber', params: [] };
  const answer = await session.batch([...calls(feed, height), newest]);
  const head = quantity(valueOf(answer.results[2]));
  if (head === undefined) {
    throw new MalformedAnswerError('eth_blockNumber answered with something else', session);
  }
  return { endpoint: session.endpoint, head, round: roundOf(answer, session, feed) };
}

function roundOf(answer: BatchAnswer, session: RpcSession, feed: Address): PriceRound {
  const words = roundWords(answer);
  const decimals = smallNumber(wordOf(answer.results[1]));
  if (!words || decimals === undefined) {
    throw new PermanentError('NOT_A_PRICE_FEED', `${feed} is not a Chainlink price feed.`);
  }
  const [roundId = 0n, price = 0n, , updatedAt, answeredInRound = 0n] = words;
  const updatedAtSeconds = smallNumber(updatedAt, Number.MAX_SAFE_INTEGER);
  if (updatedAtSeconds === undefined) {
    throw new MalformedAnswerError('the round has no valid time', session);
  }
  return {
    roundId,
    answer: BigInt.asIntN(256, price),
    decimals,
    updatedAtSeconds,
    answeredInRound,
  };
}

function isSame(one: PriceRound, other: PriceRound): boolean {
  return (
    one.roundId === other.roundId &&
    one.answer === other.answer &&
    one.decimals === other.decimals &&
    one.updatedAtSeconds === other.updatedAtSeconds &&
    one.answeredInRound === other.answeredInRound
  );
}

function roundWords({ results }: BatchAnswer): bigint[] | undefined {
  const [round] = results;
  if (round && !round.ok && round.error instanceof ExecutionRevertedError) return undefined;
  const data = bytes(valueOf(round));
  if (data?.length !== 2 + 5 * 64) return undefined;
  return [0, 1, 2, 3, 4].map((word) => BigInt(`0x${data.slice(2 + word * 64, 66 + word * 64)}`));
}

function smallNumber(value: bigint | undefined, highest = 255): number | undefined {
  return value !== undefined && value <= BigInt(highest) ? Number(value) : undefined;
}
