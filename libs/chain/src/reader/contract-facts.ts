/**
 * Reads what contracts report about themselves, from more than one endpoint where there are several: the newest round
 * of a price feed (Chainlink's AggregatorV3Interface, https://docs.chain.link/data-feeds/api-reference), and the symbol
 * and decimals of a token.
 */
import { decodeAbiParameters } from 'viem/utils';
import { type Address, PermanentError } from '#libs/domain';
import { isNothingThere, MalformedAnswerError, StateUnavailableError } from '../rpc/rpc.errors.js';
import { accepted, questionTo, Quorum, type Statement } from '../quorum/quorum.js';
import { type BatchAnswer, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { type Hex, quantity, toQuantity } from '../rpc/hex.js';
import { bytesUnlessReverted, ethCall, wordIn, wordOf } from '../calls/pinned-calls.js';

export interface PriceRound {
  readonly roundId: bigint;
  /** As the feed gives it, unscaled; may be zero or negative. */
  readonly answer: bigint;
  readonly decimals: number;
  readonly updatedAtSeconds: number;
  /** Below `roundId`, the answer was carried over from an earlier round. */
  readonly answeredInRound: bigint;
}

class FeedDisagreementError extends PermanentError {
  constructor(said: readonly Statement<PriceRound>[]) {
    const texts = said.map(
      ({ endpoint, value }) => `${endpoint}: round ${value.roundId}, answer ${value.answer}`,
    );
    super(
      'PRICE_FEED_DISAGREES',
      `Providers tell different rounds of the price feed at one block (${texts.join('; ')}).`,
    );
  }
}

/** Function selectors: the first four bytes of keccak256 of the signatures. */
const DECIMALS = '0x313ce567';
const LATEST_ROUND_DATA = '0xfeaf968c';

/**
 * The newest round of a feed; the caller checks whether it is fresh and plausible. Where there are two providers, two
 * must report the same round; if their newest rounds differ, they are read at the lowest of their heads.
 * @throws PermanentError where the address is not such a feed; FeedDisagreementError; AllEndpointsFailedError where no
 * endpoint answers, or only one of several providers
 */
export async function readLatestRound(pool: RpcPool, feed: Address): Promise<PriceRound> {
  const quorum = new Quorum(pool.endpoints);
  const askAt = (block: string) =>
    quorum.ask(
      questionTo(pool, (session) => roundBy(session, feed, block)),
      isSameRound,
      { mustBeTwo: true },
    );
  let said = await askAt('latest');
  if (!accepted(said, isSameRound)) {
    const heads = await quorum.ask(questionTo(pool, headBy), () => false, { mustBeTwo: true });
    said = await askAt(toQuantity(Math.min(...heads.map(({ value }) => value))));
  }
  const round = accepted(said, isSameRound);
  if (!round) throw new FeedDisagreementError(said);
  return round.value;
}

async function headBy(session: RpcSession): Promise<number> {
  const { results } = await session.batch([{ method: 'eth_blockNumber', params: [] }]);
  const head = quantity(valueOf(results[0]));
  if (head !== undefined) return head;
  throw new MalformedAnswerError('eth_blockNumber answered with something else', session);
}

async function roundBy(session: RpcSession, feed: Address, block: string): Promise<PriceRound> {
  const calls = [LATEST_ROUND_DATA, DECIMALS].map((data) => ethCall({ to: feed, data }, block));
  return roundOf(await session.batch(calls), session, feed);
}

function roundOf(answer: BatchAnswer, session: RpcSession, feed: Address): PriceRound {
  const words = roundWords(answer, session);
  const decimals = smallNumber(wordOf(answer.results[1], session));
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

function isSameRound(one: PriceRound, other: PriceRound): boolean {
  return (
    one.roundId === other.roundId &&
    one.answer === other.answer &&
    one.decimals === other.decimals &&
    one.updatedAtSeconds === other.updatedAtSeconds &&
    one.answeredInRound === other.answeredInRound
  );
}

function roundWords({ results }: BatchAnswer, session: RpcSession): bigint[] | undefined {
  const data = bytesUnlessReverted(results[0], session);
  if (data?.length !== 2 + 5 * 64) return undefined;
  return [0, 1, 2, 3, 4].map((word) => BigInt(`0x${data.slice(2 + word * 64, 66 + word * 64)}`));
}

function smallNumber(value: bigint | undefined, highest = 255): number | undefined {
  return value !== undefined && value <= BigInt(highest) ? Number(value) : undefined;
}

export interface TokenFacts {
  readonly symbol: string;
  readonly decimals: number;
}

export interface KnownTokenFacts {
  readonly symbol?: string | undefined;
  readonly decimals?: number | undefined;
}

/** Function selector: the first four bytes of keccak256 of the signature. */
const SYMBOL = '0x95d89b41';
/** supportsInterface of ERC-165, for ERC-721. */
const IS_ERC721 = `0x01ffc9a7${'80ac58cd'.padEnd(64, '0')}`;

/**
 * The symbol and decimals of a token, by two providers that agree, or by the only one that answers. The facts are read
 * once and kept, so that one provider alone is not believed if others answer.
 * @param known facts that the caller has or does not need, which are not compared between providers
 * @throws PermanentError if the contract does not give a fact, or no two providers report the same;
 * AllEndpointsFailedError if none answers
 */
export async function readTokenFacts(
  pool: RpcPool,
  address: Address,
  known: KnownTokenFacts,
): Promise<TokenFacts> {
  const { symbol, decimals } = known;
  if (symbol !== undefined && decimals !== undefined) return { symbol, decimals };
  const read = await askRepeatedly(pool, address, known);
  return {
    symbol: symbol ?? read?.symbol ?? unreadable(address, 'symbol'),
    decimals: decimals ?? read?.decimals ?? unreadable(address, 'decimals'),
  };
}

/** @param why what the nodes answered */
function unreadable(address: Address, what: string, why = ''): never {
  throw new PermanentError(
    'TOKEN_UNREADABLE',
    `The token ${address} does not tell its ${what}. Check TOKEN_CONTRACT.${why}`,
  );
}

/** How often all endpoints are asked before a fact counts as missing. */
const LOOKS = 3;

async function askRepeatedly(
  pool: RpcPool,
  address: Address,
  known: KnownTokenFacts,
): Promise<ToldFacts | undefined> {
  for (let look = 1; ; look++) {
    try {
      return await askEveryProvider(pool, address, known);
    } catch (error) {
      if (!isNothingThere(error)) throw error;
      if (look < LOOKS) continue;
      const what = known.symbol === undefined ? 'symbol' : 'decimals';
      unreadable(address, what, ` ${(error as Error).message}`);
    }
  }
}

/** The facts, as far as the contract gives them. */
interface ToldFacts {
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
}

/**
 * A provider that cannot say is passed over.
 * @throws PermanentError if no two providers agree
 */
async function askEveryProvider(
  pool: RpcPool,
  address: Address,
  known: KnownTokenFacts,
): Promise<ToldFacts | undefined> {
  const isSame = (one: ToldFacts, other: ToldFacts): boolean =>
    (known.symbol !== undefined || one.symbol === other.symbol) &&
    (known.decimals !== undefined || one.decimals === other.decimals);
  const said = await new Quorum(pool.endpoints).ask(
    questionTo(pool, (session) => factsBy(session, address, known)),
    isSame,
    { mayFail: true },
  );
  const facts = accepted(said, isSame);
  if (facts || said.length === 0) return facts?.value;
  throw new PermanentError(
    'TOKEN_DISPUTED',
    `The token ${address} has ${said.map(textOf).join(', but ')}. Find out which provider is wrong and take it out of RPC_URLS.`,
  );
}

/** @throws StateUnavailableError also if the endpoint answers nothing for a fact that is not known */
async function factsBy(
  session: RpcSession,
  address: Address,
  known: KnownTokenFacts,
): Promise<ToldFacts> {
  const { results } = await session.batch(
    [SYMBOL, DECIMALS].map((data) => ethCall({ to: address, data }, 'latest')),
  );
  const [symbolData, decimalsData] = results.map((result) => bytesUnlessReverted(result, session));
  const symbol = symbolData && decodeText(symbolData);
  const decimals = smallNumber(wordIn(decimalsData)) ?? (await decimalsOfErc721(session, address));
  const isSilent =
    (known.symbol === undefined && symbolData === '0x') ||
    (known.decimals === undefined && decimals === undefined && decimalsData === '0x');
  // A contract that has the function never answers nothing, so that the endpoint may lack its state.
  if (isSilent) throw new StateUnavailableError(`answered nothing for ${address}`, session);
  return { symbol, decimals };
}

/** Zero for an ERC-721 token, which has no decimals(). */
async function decimalsOfErc721(session: RpcSession, to: Address): Promise<0 | undefined> {
  const { results } = await session.batch([ethCall({ to, data: IS_ERC721 }, 'latest')]);
  return wordOf(results[0], session) === 1n ? 0 : undefined;
}

function textOf({ endpoint, value: { symbol, decimals } }: Statement<ToldFacts>): string {
  return `the symbol ${symbol ?? 'none'} and ${decimals ?? 'no'} decimals by ${endpoint}`;
}

/**
 * Decodes the symbol() of a token: a string (Contract ABI, dynamic), or bytes32 as the oldest tokens have it.
 * @param data the result of the call, hex
 * @returns undefined where the result is neither, is empty, or holds characters that cannot be printed
 */
export function decodeText(data: string): string | undefined {
  const content = data.length === 66 ? data.replace(/^(0x(?:..)*?)00.*$/, '$1') : stringIn(data);
  const bytes = Buffer.from(content.slice(2), 'hex');
  if (bytes.length === 0 || bytes.length > 64) return undefined;
  const text = new TextDecoder('utf-8', { fatal: false }).decode(bytes).trim();
  return text !== '' && !/[\p{C}\uFFFD]/u.test(text) ? text : undefined;
}

/**
 * The bytes of an encoded string as hex. They are decoded as bytes, which have the same encoding and are not trimmed.
 */
function stringIn(data: string): string {
  try {
    return decodeAbiParameters([{ type: 'bytes' }], data as Hex)[0];
  } catch {
    return '0x';
  }
}
