/**
 * Requests headers of blocks, parses them, proves them by their hash, and checks that they belong to one chain.
 *
 * The hash is keccak256 of the fields' RLP, in the order of Ethereum's header (Yellow Paper 4.4.3). The fields after
 * the nonce came with EIP-1559, 4895, 4844, 4788, 7685, 7928 and 7843, each at the end, so a header has the first
 * few of them and none of the rest. Headers of OP Stack and Arbitrum have this form; those of ZK Stack do not.
 */
import { keccak256, toRlp } from 'viem/utils';
import { type BlockHeader, type BlockRef, MAX_AHEAD_SECONDS } from '#libs/domain';
import {
  BlockMissingError,
  MalformedAnswerError,
  NodeBehindError,
  type RpcError,
  RpcRefusedError,
  TagUnknownError,
} from '../rpc/rpc.errors.js';
import { type AtEndpoint, type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { bytes, hash, type Hex, isRecord, quantity, toQuantity, wideQuantity } from '../rpc/hex.js';

export interface FullHeader extends BlockHeader {
  /** `0x` and 512 lower-case hex digits. */
  readonly logsBloom: string;
  readonly transactions: number;
  /**
   * Whether the fields hash to the header's own hash, which proves number and time of that hash. Undefined where this
   * was not checked.
   */
  readonly isProven?: boolean;
}

/**
 * An endpoint whose newest block is older than another one's by more than this stands still. Another one cannot feign
 * that by its own times, which are believed up to MAX_AHEAD_SECONDS ahead.
 */
export const STANDS_STILL_SECONDS = MAX_AHEAD_SECONDS + 60;

export const EMPTY_BLOOM = `0x${'0'.repeat(512)}`;
const BLOOM = /^0x[0-9a-f]{512}$/;

/**
 * The answer to eth_getBlockByNumber or eth_getBlockByHash without transaction bodies.
 * @returns undefined for null: the node does not have the block
 * @throws MalformedAnswerError
 */
export function parseHeader(value: unknown, at: AtEndpoint): FullHeader | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) throw new MalformedAnswerError('a block is not an object', at);
  const number = quantity(value['number']);
  const blockHash = hash(value['hash']);
  const parentHash = hash(value['parentHash']);
  const timestampSeconds = quantity(value['timestamp']);
  const transactions = value['transactions'];
  if (
    number === undefined ||
    blockHash === undefined ||
    parentHash === undefined ||
    timestampSeconds === undefined
  ) {
    throw new MalformedAnswerError(
      'a block lacks a valid number, hash, parentHash or timestamp',
      at,
    );
  }
  // A few chains date their first block 0.
  if (timestampSeconds === 0 && number > 0)
    throw new MalformedAnswerError(`block ${number} is dated 0`, at);
  return {
    number: BigInt(number),
    hash: blockHash,
    parentHash,
    timestampSeconds,
    logsBloom: bloom(value['logsBloom']),
    transactions: Array.isArray(transactions) ? transactions.length : 0,
  };
}

/** Chains without blooms leave the field out, or send null, `0x`, `0x00` or zeros; all of these count as empty. */
function bloom(value: unknown): string {
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  return BLOOM.test(text) ? text : EMPTY_BLOOM;
}

/** The header of exactly this block. @throws MalformedAnswerError where the node answered with another block */
export function parseHeaderOf(
  value: unknown,
  number: bigint,
  at: AtEndpoint,
): FullHeader | undefined {
  const header = parseHeader(value, at);
  if (header && header.number !== number) {
    throw new MalformedAnswerError(
      `asked for block ${number.toString()}, got ${header.number.toString()}`,
      at,
    );
  }
  return header;
}

/**
 * The answer to `tagCall`. Nodes without such a block answer with null, or with one of many errors.
 * @throws TagUnknownError where the node has no such block
 */
export function parseTagged(
  result: RpcResult | undefined,
  tag: string,
  at: AtEndpoint,
): FullHeader {
  const header = findTagged(result, at);
  if (header) return header;
  const refusal = refusalOf(result);
  const why = refusal ? ` (${refusal.message.replace(`${at.endpoint}: `, '')})` : '';
  const what = `has no ${tag} block${why}; where the chain has none, set FINALITY=depth:<blocks>`;
  throw new TagUnknownError(what, at);
}

/** The same, or undefined where the node has no such block. */
export function findTagged(result: RpcResult | undefined, at: AtEndpoint): FullHeader | undefined {
  return refusalOf(result) ? undefined : parseHeader(valueOf(result), at);
}

function refusalOf(result: RpcResult | undefined): RpcError | undefined {
  const { error } = result?.ok === false ? result : {};
  const isRefusal = error instanceof NodeBehindError || error instanceof RpcRefusedError;
  return isRefusal ? error : undefined;
}

/** The header without the bloom, which is half a kilobyte for each block. */
export function plainHeader({
  number,
  hash,
  parentHash,
  timestampSeconds,
}: BlockHeader): BlockHeader {
  return { number, hash, parentHash, timestampSeconds };
}

export function refOf({ number, hash, timestampSeconds }: BlockRef): BlockRef {
  return { number, hash, timestampSeconds };
}

export function headerCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] };
}

export function tagCall(tag: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, false] };
}

/** The headers of these blocks from one node, and the bytes of its answer. @throws as `readHeaders` */
export async function fetchHeaders(
  session: RpcSession,
  numbers: readonly bigint[],
  proves = false,
): Promise<{ readonly headers: FullHeader[]; readonly bytes: number }> {
  if (numbers.length === 0) return { headers: [], bytes: 0 };
  const { results, bytes } = await session.batch(numbers.map(headerCall));
  return { headers: readHeaders(numbers, results, session, proves), bytes };
}

/**
 * The headers of these blocks, from the answers to `headerCall`, ascending.
 * @param proves whether to hash them
 * @throws NodeBehindError where a block is missing, MalformedAnswerError where the headers do not belong to one chain
 */
export function readHeaders(
  numbers: readonly bigint[],
  results: readonly RpcResult[],
  at: AtEndpoint,
  proves = false,
): FullHeader[] {
  const headers = numbers.map((number, index) => {
    const block = valueOf(results[index]);
    const header = parseHeaderOf(block, number, at);
    if (!header) throw new BlockMissingError(number, at);
    return proves ? { ...header, isProven: hashesToItself(block) } : header;
  });
  headers.sort((a, b) => (a.number < b.number ? -1 : 1));
  requireChain(headers, at);
  return headers;
}

/**
 * Checks that headers belong to one chain: neighbours are linked by their hashes, and times never decrease.
 * @param headers ascending, gaps allowed
 * @throws MalformedAnswerError; also after a reorganisation between two requests, where a retry helps
 */
export function requireChain(headers: readonly FullHeader[], at: AtEndpoint): void {
  let previous: FullHeader | undefined;
  for (const header of headers) {
    if (previous) {
      const adjacent = header.number === previous.number + 1n;
      if (adjacent && header.parentHash !== previous.hash) {
        throw new MalformedAnswerError(
          `block ${header.number.toString()} does not follow the block before it`,
          at,
        );
      }
      if (header.timestampSeconds < previous.timestampSeconds) {
        throw new MalformedAnswerError(
          `block ${header.number.toString()} is older than block ${previous.number.toString()}`,
          at,
        );
      }
    }
    previous = header;
  }
}

/**
 * Refuses a block that is dated later than possible, because nothing but its time shows whether a newest block is new.
 * @param latestSeconds Unix seconds; undefined where the caller sets no limit
 * @throws MalformedAnswerError
 */
export function requireNotAhead(
  header: BlockHeader,
  latestSeconds: number | undefined,
  at: AtEndpoint,
): void {
  if (latestSeconds === undefined || header.timestampSeconds <= latestSeconds) return;
  const ahead = header.timestampSeconds - latestSeconds;
  throw new MalformedAnswerError(
    `block ${header.number.toString()} is dated ${header.timestampSeconds} (Unix seconds), ${ahead} seconds later than this machine's clock allows`,
    at,
  );
}

type Field = readonly [name: string, kind: 'data' | 'quantity'];

const ALWAYS: readonly Field[] = [
  ['parentHash', 'data'],
  ['sha3Uncles', 'data'],
  ['miner', 'data'],
  ['stateRoot', 'data'],
  ['transactionsRoot', 'data'],
  ['receiptsRoot', 'data'],
  ['logsBloom', 'data'],
  ['difficulty', 'quantity'],
  ['number', 'quantity'],
  ['gasLimit', 'quantity'],
  ['gasUsed', 'quantity'],
  ['timestamp', 'quantity'],
  ['extraData', 'data'],
  ['mixHash', 'data'],
  ['nonce', 'data'],
];
const LATER: readonly Field[] = [
  ['baseFeePerGas', 'quantity'],
  ['withdrawalsRoot', 'data'],
  ['blobGasUsed', 'quantity'],
  ['excessBlobGas', 'quantity'],
  ['parentBeaconBlockRoot', 'data'],
  ['requestsHash', 'data'],
  ['blockAccessListHash', 'data'],
  ['slotNumber', 'quantity'],
];
const EMPTY: Hex = '0x';

/**
 * Whether the fields of a block, as eth_getBlockByNumber answers it, hash to the block's own `hash`. True proves number
 * and timestamp of that hash. False means that a field was altered or left out, or that the chain's headers have
 * another form.
 */
export function hashesToItself(block: unknown): boolean {
  if (!isRecord(block)) return false;
  const own = hash(block['hash']);
  const count = LATER.findLastIndex(([name]) => isThere(block[name])) + 1;
  const fields = [...ALWAYS, ...LATER.slice(0, count)].map((field) => encoded(block, field));
  if (own === undefined || !fields.every((field) => field !== undefined)) return false;
  return keccak256(toRlp(fields)) === own;
}

/** @returns undefined where the field has an invalid form */
function encoded(block: Record<string, unknown>, [name, kind]: Field): Hex | undefined {
  const value = block[name];
  // A field that a later field follows is encoded as empty where the chain does not use it.
  if (!isThere(value)) return LATER.some(([later]) => later === name) ? EMPTY : undefined;
  if (kind === 'data') return bytes(value);
  const number = wideQuantity(value);
  if (number === undefined) return undefined;
  const digits = number === 0n ? '' : number.toString(16);
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
