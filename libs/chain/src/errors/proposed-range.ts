/**
 * The smaller range that a node proposes in its refusal, in the forms seen in the field:
 * - "this block range should work: [0x1, 0x2]" (Alchemy), "Try with this block range [0x1, 0x2]." (Infura, zkSync, thirdweb)
 * - "retry with the range 25766988-25775072" (reth)
 * - "range 1000000 exceeds limit of 10000", "limited to a 10,000 range", "up to a 2K block range", "maximum is set to 1024"
 * - `data: { from, to }` (Infura)
 */
import { isRecord } from '../shape/hex.js';

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
 * @param text the message in lower case
 * @param asked the range that was refused
 * @returns the last block of the proposal, where it starts as we did and is smaller than what we asked: nodes were seen to
 *   propose the refused range itself, or one that they refuse again
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
