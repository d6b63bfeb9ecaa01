/** Reads all wallets of a sealed day and checks them against its root. */
import { DayRoot } from './day-root.js';
import { type AskedDay, readDay, type SealedDay } from './days.js';
import { UnexpectedAnswerError } from './errors.js';
import { type OpenedList } from './signed-requests.js';
import { isObject } from './snapshots.js';

export interface DayWallet {
  /** In lower case. */
  readonly walletAddress: string;
  /** The lowest balance of the wallet on the day, in the token's smallest unit. */
  readonly low: bigint;
}

/** Greatest number of wallets in a list. */
const MAX_WALLETS = 100_000_000;
/** Limit in characters, longer than any line. */
const MAX_LINE = 1024;
const WALLET = /^0x[0-9a-f]{40}$/;
const LOW = /^[1-9]\d{0,77}$/;

/** See `StakingClient.dayWallets`. */
export async function* dayWallets(
  open: () => Promise<OpenedList>,
  asked: AskedDay,
): AsyncGenerator<DayWallet, SealedDay, void> {
  const { about, parts } = await open();
  const sealed = readDay(about, asked);
  const { wallets, total, root } = sealed;
  if (wallets > MAX_WALLETS) throw new UnexpectedAnswerError('wallets is no number of wallets');
  const tree = await DayRoot.create(wallets);
  let [count, sum, before] = [0, 0n, ''];
  for await (const line of linesOf(parts())) {
    const one = walletOf(line);
    const { walletAddress, low } = one;
    count += 1;
    sum += low;
    if (walletAddress <= before || count > wallets) {
      throw new UnexpectedAnswerError('the list is out of order or longer than the day says');
    }
    before = walletAddress;
    tree.add(walletAddress.slice(2), low);
    yield one;
  }
  if (count !== wallets || sum !== BigInt(total)) {
    throw new UnexpectedAnswerError('the list is not complete: its number or its sum is another');
  }
  if ((await tree.root()) !== root) {
    throw new UnexpectedAnswerError('the list does not lead to the root of the day');
  }
  return sealed;
}

async function* linesOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of parts) {
    const lines = (rest + Buffer.from(part).toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new UnexpectedAnswerError('a line is too long');
    yield* lines;
  }
  if (rest !== '') throw new UnexpectedAnswerError('the last line is not complete');
}

function walletOf(line: string): DayWallet {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Reported by the checks of the fields below.
  }
  const { walletAddress, low } = isObject(value) ? value : {};
  if (typeof walletAddress !== 'string' || !WALLET.test(walletAddress)) {
    throw new UnexpectedAnswerError('a line has no wallet');
  }
  if (typeof low !== 'string' || !LOW.test(low)) {
    throw new UnexpectedAnswerError('a line has no low');
  }
  return { walletAddress, low: BigInt(low) };
}
