/** All wallets of a sealed day, checked against its root. */
import { parseStrictJson, verify } from '../signing/signing.js';
import { DayRoot } from './day-root.js';
import { SignatureError, UnexpectedAnswerError } from './errors.js';
import { type ExchangeOptions, type RawAnswer } from './exchange.js';
import { ListStream } from './list-stream.js';
import { refusalOf } from './refusal.js';
import { type AskedDay, readSealedDay, type SealedDayOfSet } from './sealed-day.js';
import { isObject } from './snapshots.js';

export interface DayWallet {
  /** In lower case. */
  readonly walletAddress: string;
  /** What it kept staked all through the day, in the smallest unit of the token. */
  readonly low: bigint;
}

export interface ListRequest {
  readonly url: string;
  readonly sharedSecret: string;
  readonly asked: AskedDay;
  readonly options: ExchangeOptions;
}

/** Longer than any line. */
const MAX_LINE = 1024;
const WALLET = /^0x[0-9a-f]{40}$/;
const LOW = /^[1-9]\d{0,77}$/;

/** See `StakingClient.dayWallets`. */
export async function* dayWallets(
  request: ListRequest,
): AsyncGenerator<DayWallet, SealedDayOfSet, void> {
  const stream = new ListStream(request.url, request.options);
  const opened = await stream.open();
  if ('refused' in opened) throw refusedOf(opened.refused, request);
  const sealed = sealedDayIn(opened.headers, request);
  const { wallets, total, root } = sealed.day;
  const tree = await DayRoot.create(wallets);
  let [count, sum, before] = [0, 0n, ''];
  for await (const line of linesOf(stream.parts())) {
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

/** @throws SignatureError, UnexpectedAnswerError */
function sealedDayIn(headers: Headers, { url, sharedSecret, asked }: ListRequest): SealedDayOfSet {
  const text = headers.get('x-sealed-day') ?? '';
  const signature = headers.get('x-api-signature');
  if (!verify(sharedSecret, { method: 'GET', url, body: text }, signature)) {
    throw new SignatureError(200, signature !== null);
  }
  return readSealedDay(parsed(Buffer.from(text)), asked);
}

function refusedOf(answer: RawAnswer, { url, sharedSecret }: ListRequest): Error {
  const { status, headers, body } = answer;
  const signature = headers.get('x-api-signature');
  if (!verify(sharedSecret, { method: 'GET', url, body }, signature)) {
    return new SignatureError(status, signature !== null);
  }
  return refusalOf(answer, parsed(body));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseStrictJson(bytes);
  } catch {
    throw new UnexpectedAnswerError('what was signed is not JSON');
  }
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
    // Below.
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
