import { retryAfterMs as parse } from '#libs/platform';
import { BLOCK_OUT_OF_RANGE, KNOWN_ERRORS, type Meaning, RANGE_INVALID } from './known-errors.js';
import { redact } from './redact.js';
import {
  BatchTooLargeError,
  ExecutionRevertedError,
  NodeBehindError,
  RangeTooLargeError,
  RateLimitedError,
  type RpcError,
  RpcRefusedError,
  RpcTimeoutError,
  StateUnavailableError,
  TransportError,
} from './rpc.errors.js';
import { isRecord, quantity } from './hex.js';

interface RpcErrorContext {
  readonly endpoint: string;
  /** Parts of the URL that must not appear in a message. */
  readonly secrets: readonly string[];
  /** The call that the error answers; for an error of a whole batch, its first call. */
  readonly call: { readonly method: string; readonly params: readonly unknown[] };
  readonly retryAfterMs?: number | undefined;
}

export function growsWithRange(method: string): boolean {
  return method === 'eth_getLogs' || method === 'eth_getBlockReceipts';
}

/** Requests for blocks, logs and figures run no contract, whatever a node says of its own failure to answer them. */
const RUNS_NO_CODE = /^eth_(?:get|chainId|blockNumber|gasPrice)/;

export function classifyRpcError(
  error: unknown,
  context: RpcErrorContext,
): RpcError | ExecutionRevertedError {
  const { code, message, data } = partsOf(error);
  const details = textOf(data);
  const text = `${message} ${details}`.toLowerCase().slice(0, 2000);
  const what = `${context.call.method} failed: ${redact(message || details, context.secrets)}${code === undefined ? '' : ` (${code})`}`;
  const options = { endpoint: context.endpoint };
  const grows = growsWithRange(context.call.method);
  const mayBeRange = grows && !RANGE_INVALID.test(text);
  // Whatever a node says of a range, it may answer a smaller one.
  const ofRange = { ...options, sizeMayExplain: mayBeRange };
  const mayBe = { range: mayBeRange, revert: !RUNS_NO_CODE.test(context.call.method) };
  switch (meaningOf(text, code, mayBe)) {
    case 'state unavailable':
      return new StateUnavailableError(what, ofRange);
    case 'node behind':
      return new NodeBehindError(what, ofRange);
    case 'range too large':
      return rangeTooLarge(text, what, data, context);
    case 'batch too large':
      return new BatchTooLargeError(what, { ...options, limit: batchLimit(text) });
    case 'rate limit':
      return rateLimited(what, data, context);
    case 'timeout':
      return new RpcTimeoutError(what, options);
    case 'reverted':
      return new ExecutionRevertedError(what, options);
    case 'limit': {
      // Only an error that asks to wait means the rate.
      const limited = rateLimited(what, data, context, true);
      const isRange = grows && code === -32005 && limited.retryAfterMs === undefined;
      return isRange ? new RangeTooLargeError(what, options) : limited;
    }
    case 'unavailable':
      return new TransportError(what, { ...options, sizeMayExplain: grows });
    case undefined: {
      const sizeMayExplain = mayBeRange && code !== -32601;
      const refused = { ...options, rpcCode: code, sizeMayExplain };
      // An error without a code is not a node's, but of something before it.
      return code === undefined
        ? new TransportError(what, refused)
        : new RpcRefusedError(what, refused);
    }
  }
}

/** @param text in lower case */
function meaningOf(
  text: string,
  code: number | undefined,
  mayBe: { readonly range: boolean; readonly revert: boolean },
): Meaning | undefined {
  if (isPrunedHeight(text)) return 'state unavailable';
  return KNOWN_ERRORS.find(
    ({ says = [], codes = [], isOfRanges = false, isOfCalls = false }) =>
      (mayBe.range || !isOfRanges) &&
      (mayBe.revert || !isOfCalls) &&
      (says.some((it) => (typeof it === 'string' ? text.includes(it) : it.test(text))) ||
        (code !== undefined && codes.includes(code))),
  )?.means;
}

/** Whether the node has the block of this height, and yet not its state. */
function isPrunedHeight(text: string): boolean {
  const [, height, requested] = BLOCK_OUT_OF_RANGE.exec(text) ?? [];
  return height !== undefined && requested !== undefined && BigInt(requested) <= BigInt(height);
}

function partsOf(error: unknown): { code: number | undefined; message: string; data: unknown } {
  if (!isRecord(error)) {
    return {
      code: undefined,
      message: typeof error === 'string' ? error : 'no reason given',
      data: undefined,
    };
  }
  const { code, message, data } = error;
  return {
    code: typeof code === 'number' ? code : undefined,
    message: typeof message === 'string' ? message : '',
    data,
  };
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data;
  return isRecord(data) ? JSON.stringify(data) : '';
}

function rateLimited(
  what: string,
  data: unknown,
  context: RpcErrorContext,
  isVague = false,
): RateLimitedError {
  const backoff = isRecord(data) ? nested(data, 'backoff_seconds') : undefined;
  const retryAfterMs =
    context.retryAfterMs ?? (typeof backoff === 'number' ? Math.max(0, backoff * 1000) : undefined);
  return new RateLimitedError(what, { endpoint: context.endpoint, retryAfterMs, isVague });
}

/** Infura puts its advice into the data itself, or into its `rate`. */
function nested(data: Record<string, unknown>, name: string): unknown {
  const rate = data['rate'];
  return data[name] ?? (isRecord(rate) ? rate[name] : undefined);
}

function batchLimit(text: string): number | undefined {
  const match =
    /(?:batch limit|max limit of|more than|exceeds?|limit(?: is)?|max(?:imum)?(?: is| of)?) ?:? ?(\d{1,6})/.exec(
      text,
    );
  const limit = Number(match?.[1]);
  return limit >= 1 ? limit : undefined;
}

function rangeTooLarge(
  text: string,
  what: string,
  data: unknown,
  { endpoint, call }: RpcErrorContext,
): RangeTooLargeError {
  const filter = call.params[0];
  const { fromBlock, toBlock } = isRecord(filter) ? filter : {};
  // Undefined for a tag, as in a request up to the newest block.
  const [from, to] = [quantity(fromBlock), quantity(toBlock)];
  const asked =
    from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
  return new RangeTooLargeError(what, {
    endpoint,
    proposedTo: asked && proposedTo(text, data, asked),
  });
}

const HEX_PAIR = /\[\s*(0x[0-9a-f]{1,16})\s*,\s*(0x[0-9a-f]{1,16})\s*\]/;
const DECIMAL_PAIR = /retry with the range (\d{1,15})\s*-\s*(\d{1,15})/;
const COUNT = '(\\d[\\d,]{0,12})(k?)\\b';
const LIMITS = [
  new RegExp(
    `range\\D{0,20}\\d[\\d,]* (?:exceeds|is over|is bigger than|is greater than|is larger than)\\D{0,30}${COUNT}`,
  ),
  new RegExp(`range is over limit of ${COUNT}`),
  new RegExp(`limited to (?:an? )?(?:0 ?- ?)?${COUNT}[ -](?:blocks? )?(?:range|blocks)`),
  new RegExp(`up to (?:an? )?${COUNT}[ -]blocks?`),
  new RegExp(
    `max(?:imum)?(?: allowed)?(?: is)?(?: set to| block range| blocks?| range)?[ :=]+(?:is |of )?${COUNT}(?! (?:results|logs))`,
  ),
  new RegExp(`blocks distance: ${COUNT}`),
];

/**
 * The smaller range that a node proposes in its refusal, in the forms seen in the field:
 * - "this block range should work: [0x1, 0x2]" (Alchemy), "Try with this block range [0x1, 0x2]." (Infura, zkSync,
 *   thirdweb)
 * - "retry with the range 25766988-25775072" (reth)
 * - "range 1000000 exceeds limit of 10000", "limited to a 10,000 range", "up to a 2K block range", "maximum is set to
 *   1024"
 * - `data: { from, to }` (Infura)
 * @param text the message in lower case
 * @param asked the range that was refused
 * @returns the last block of the proposal, if it starts at the same block and is smaller than the refused range: some
 * nodes propose the refused range itself, or one that they refuse again
 */
export function proposedTo(
  text: string,
  data: unknown,
  asked: { readonly from: bigint; readonly to: bigint },
): bigint | undefined {
  const pair = pairIn(text) ?? pairOf(data);
  const to = pair ? (pair.from === asked.from ? pair.to : undefined) : limitedTo(text, asked.from);
  return to !== undefined && to >= asked.from && to < asked.to ? to : undefined;
}

interface Pair {
  readonly from: bigint;
  readonly to: bigint;
}

function pairIn(text: string): Pair | undefined {
  const match = HEX_PAIR.exec(text) ?? DECIMAL_PAIR.exec(text);
  return match ? { from: BigInt(match[1] ?? 0), to: BigInt(match[2] ?? 0) } : undefined;
}

function pairOf(data: unknown): Pair | undefined {
  if (!isRecord(data)) return undefined;
  const { from, to } = data;
  const quantity = /^0x[0-9a-f]{1,16}$/i;
  if (typeof from !== 'string' || typeof to !== 'string') return undefined;
  return quantity.test(from) && quantity.test(to)
    ? { from: BigInt(from), to: BigInt(to) }
    : undefined;
}

function limitedTo(text: string, from: bigint): bigint | undefined {
  for (const limit of LIMITS) {
    const match = limit.exec(text);
    if (!match?.[1]) continue;
    const blocks = BigInt(match[1].replaceAll(',', '')) * (match[2] ? 1000n : 1n);
    if (blocks > 0n) return from + blocks - 1n;
  }
  return undefined;
}

/** Longest wait. An endpoint that asks for more may recover long before, so it is tried once a minute. */
const LONGEST_MS = 60_000;
/** Some providers write fractions of a second. */
const FRACTION = /^\s*\d+\.\d+\s*$/;

/**
 * @returns milliseconds from `nowMs`, 0 to a minute; undefined where the header is absent, or is neither seconds nor an
 * HTTP date
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (FRACTION.test(header)) return Math.min(LONGEST_MS, Math.ceil(Number(header) * 1000));
  return parse(header, nowMs, LONGEST_MS);
}
