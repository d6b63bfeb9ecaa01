/** Lists of wallets with their low-water marks: lines of JSON in ascending order of wallets. */
import { type Address, type DayList, type DayLow, parseAddress } from '#libs/domain';
import { UncheckedError } from './verify.error.js';

/** The first wallet, in ascending order, on which two lists differ. */
export interface Difference {
  readonly wallet: Address;
  /** The low-water mark by the chain; 0 where the chain's list does not have the wallet. */
  readonly chain: bigint;
  /** The low-water mark by the other list; 0 where that list does not have the wallet. */
  readonly listed: bigint;
}

/** Limit in characters, longer than any line of a list. */
const MAX_LINE = 1000;
const AMOUNT = /^\d{1,78}$/;

/** @param name names the source in errors @throws UncheckedError where a line has another form */
export async function* readWalletLines(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<DayLow> {
  const decoder = new TextDecoder();
  let rest = '';
  let line = 0;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      line += 1;
      if (text.trim() !== '') yield dayLowOf(text, `${name}, line ${line}`);
    }
    if (rest.length > MAX_LINE) throw new UncheckedError(`${name}, line ${line + 1} is too long.`);
  }
  if (rest.trim() !== '') yield dayLowOf(rest, `${name}, line ${line + 1}`);
}

function dayLowOf(text: string, name: string): DayLow {
  const { walletAddress, low } = parsed(text) ?? {};
  const wallet = parseAddress(String(walletAddress));
  if (wallet !== undefined && typeof low === 'string' && AMOUNT.test(low)) {
    return { wallet, low: BigInt(low) };
  }
  throw new UncheckedError(`${name} is not {"walletAddress":"0x…","low":"…"}.`);
}

function parsed(text: string): { walletAddress?: unknown; low?: unknown } | null | undefined {
  try {
    return JSON.parse(text) as { walletAddress?: unknown; low?: unknown } | null;
  } catch {
    // Text that is not JSON gets the same error as JSON with other fields.
    return undefined;
  }
}

/** @param listed ascending by wallet @throws UncheckedError where it is not ascending */
export async function firstDifference(
  chain: DayList,
  listed: AsyncIterable<DayLow>,
): Promise<Difference | undefined> {
  let place = 0;
  let before: Address | undefined;
  for await (const { wallet, low } of listed) {
    if (before !== undefined && wallet <= before) {
      throw new UncheckedError(`The list is not ascending: ${wallet} comes after ${before}.`);
    }
    before = wallet;
    const ours = place < chain.length ? chain.at(place) : undefined;
    if (ours !== undefined && ours.wallet < wallet) return missing(ours);
    const isSame = ours?.wallet === wallet;
    if (isSame) place += 1;
    const held = isSame ? ours.low : 0n;
    if (held !== low) return { wallet, chain: held, listed: low };
  }
  return place < chain.length ? missing(chain.at(place)) : undefined;
}

function missing({ wallet, low }: DayLow): Difference {
  return { wallet, chain: low, listed: 0n };
}
