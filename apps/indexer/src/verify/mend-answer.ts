import {
  AllEndpointsFailedError,
  type ChainReader,
  type FetchOptions,
  type LogSource,
  type RangeAnswer,
  RangeTooLargeError,
} from '#libs/chain';
import { type Logger } from '#libs/platform';
import { after, deltaOf, together, upTo } from './range-parts.js';
import { TotalMismatchError } from './total-mismatch.js';

export interface MendParts {
  readonly reader: Pick<ChainReader, 'stakeTotal' | 'headers'>;
  readonly source: Pick<LogSource, 'fetch'>;
  /** A second opinion about what was read again, where there is one to be had. */
  readonly confirm: (answer: RangeAnswer, by: 'logs' | 'receipts') => Promise<RangeAnswer>;
  readonly logger: Logger;
}

export interface Totals {
  /** The contract's total at the end of the block before the answer. */
  readonly before: bigint;
  /** At the end of its last block. */
  readonly after: bigint;
  readonly options: FetchOptions;
}

/**
 * The answer for the same blocks whose events add up to the contract's total. The same question again is often enough; else the half
 * that does not add up is looked for by the contract's total in the middle, until it is one block, which is read from its receipts.
 * @param answer one that does not add up
 * @throws TotalMismatchError where a block does not add up in any way that it is read
 */
export async function mendAnswer(
  parts: MendParts,
  answer: RangeAnswer,
  totals: Totals,
): Promise<RangeAnswer> {
  const fits = (one: RangeAnswer): boolean => totals.before + deltaOf(one) === totals.after;
  parts.logger.warn(
    { fromBlock: answer.from, toBlock: answer.to, endpoint: answer.endpoint, ...totalsOf(totals) },
    'An endpoint left out or altered events: reading these blocks again',
  );
  const again = await readAgain(parts, answer, { by: 'logs', options: totals.options });
  if (again && fits(again)) return again;
  const half = answer.from < answer.to ? await halved(parts, again ?? answer, totals) : undefined;
  if (half) return half;
  const receipts = await readAgain(parts, answer, { by: 'receipts', options: totals.options });
  if (receipts && fits(receipts)) return receipts;
  throw new TotalMismatchError({
    block: answer.to,
    indexed: totals.before + deltaOf(again ?? answer),
    contract: totals.after,
    endpoint: answer.endpoint,
  });
}

/** Each half mended by itself; undefined where no node has the state in the middle. */
async function halved(
  parts: MendParts,
  answer: RangeAnswer,
  { before, after: end, options }: Totals,
): Promise<RangeAnswer | undefined> {
  const { reader } = parts;
  const [header] = await reader.headers([(answer.from + answer.to) / 2n]);
  const middle = header && (await reader.stakeTotal(header, options));
  if (!header || middle === undefined) return undefined;
  const mended = (part: RangeAnswer, totals: Totals): Promise<RangeAnswer> =>
    totals.before + deltaOf(part) === totals.after
      ? Promise.resolve(part)
      : mendAnswer(parts, part, totals);
  const left = await mended(upTo(answer, header), { before, after: middle, options });
  const right = await mended(after(answer, header), { before: middle, after: end, options });
  return together(left, right);
}

/** By another endpoint where one answers, else by the same; undefined where none can, or not so many blocks at once. */
async function readAgain(
  { source, confirm }: MendParts,
  { from, to, endpoint }: RangeAnswer,
  { by, options }: { readonly by: 'logs' | 'receipts'; readonly options: FetchOptions },
): Promise<RangeAnswer | undefined> {
  for (const avoid of [[endpoint], []]) {
    try {
      return await confirm(await source.fetch({ from, to }, { ...options, by, avoid }), by);
    } catch (error) {
      if (error instanceof RangeTooLargeError) return undefined;
      if (!(error instanceof AllEndpointsFailedError)) throw error;
    }
  }
  return undefined;
}

function totalsOf({ before, after: end }: Totals): { before: bigint; contractTotal: bigint } {
  return { before, contractTotal: end };
}
