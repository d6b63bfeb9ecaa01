import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { StoryBlocked } from '../run/caller.js';
import {
  notRefused,
  notSucceeded,
  readable,
  type Story,
  type Tester,
  type CallOverrides,
} from '../run/tester.js';
import { type Exchange, randomAddress } from '../wire/exchange.js';
import { text } from '../wire/transport.js';

/** Milliseconds between two clocks from which on a call does not count as fresh. */
const FRESH_MS = 300_000;

/** A plain read, as the service makes it. Where this call fails, every call would. */
export const firstCall: Story = {
  title: 'a first balance read',
  checks: ['call-accepted', 'balance-read'],
  async play(tester) {
    const exchange = await tester.read('read the balance', tester.address);
    const reading = readable(exchange.reading);
    const isRefused = reading.kind === 'refusal' && reading.code === 'ERR-AUTH-FAILED';
    tester.judge('call-accepted', isRefused ? whyRefused(tester, exchange) : undefined, [exchange]);
    if (reading.kind === 'success') tester.verdicts.pass('balance-read');
  },
};

function whyRefused(tester: Tester, { sent, came }: Exchange): string {
  const path = sent.target.split('?', 1)[0] ?? '';
  const content = `${sent.method}${path}${sent.headers['x-api-request'] ?? ''}`;
  return [
    'A call with the given key and secret was refused with ERR-AUTH-FAILED, so nothing else could be tried.',
    `The signed content was "${content}" (a GET has no body).`,
    clockDifference(tester, came),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function clockDifference(tester: Tester, came: Exchange['came']): string {
  const date = came.kind === 'answer' ? Date.parse(came.headers['date'] ?? '') : Number.NaN;
  if (Number.isNaN(date)) return '';
  const differenceMs = date - tester.caller.nowMs();
  if (Math.abs(differenceMs) < FRESH_MS) return '';
  return `By its Date header the partner's clock is ${Math.round(differenceMs / 1000)} s from the one here: more than the 300 s allowed.`;
}

/** The service keeps connections, while the other stories use a new connection for each call. */

const KEPT = { keepAlive: true, maxSockets: 1 };

/** Played before any calls are made at once. None of its calls has to wait, so the connection is never idle. */
export const keptConnection: Story = {
  title: 'calls on one connection',
  checks: ['http-connection-kept'],
  async play(tester) {
    const isSecure = tester.caller.target.baseUrl.protocol === 'https:';
    const agent = isSecure ? new HttpsAgent(KEPT) : new HttpAgent(KEPT);
    try {
      await callOn(tester, agent);
    } finally {
      agent.destroy();
    }
  },
};

async function callOn(tester: Tester, agent: HttpAgent): Promise<void> {
  const first = await callsFor(tester, { agent }).read('the first call of a connection');
  // Other checks report an answer that fails on any connection.
  if (first.came.kind === 'none') return;
  for (const { purpose, by } of NEXT) {
    const kept = await callsFor(tester, { agent })[by](purpose);
    if (kept.reading.kind !== 'unreadable' || kept.reading.fault === 'http-in-time') continue;
    const alone = await callsFor(tester, {})[by]('the same on a connection of its own');
    if (alone.reading.kind === 'unreadable') continue;
    const observed = `The first call of a connection was answered. ${purpose} got no usable answer: ${kept.reading.why}. It got one on a connection of its own.`;
    tester.judge('http-connection-kept', observed, [first, kept]);
    // Forgotten, so that no audit reports the same fault again.
    tester.caller.forget(kept);
    return;
  }
  tester.verdicts.pass('http-connection-kept');
}

const NEXT = [
  { purpose: 'The second call', by: 'read' },
  // The partner may refuse this call before it reads the body.
  { purpose: 'An unsigned revert on it', by: 'refused' },
  { purpose: 'The call after a refused one', by: 'read' },
] as const;

function callsFor(
  tester: Tester,
  twist: CallOverrides,
): Readonly<Record<'read' | 'refused', (purpose: string) => Promise<Exchange>>> {
  const headers = { 'x-api-signature': undefined };
  return {
    read: (purpose) => tester.read(purpose, tester.address, twist),
    refused: (purpose) => {
      const id = tester.newId();
      return tester.revert({ purpose, points: 1, id, twist: { ...twist, headers } });
    },
  };
}

const upper = (address: string): string => `0x${address.slice(2).toUpperCase()}`;

export const anyCase: Story = {
  title: 'the address in any case',
  checks: ['balance-address', 'balance-any-case'],
  async play(tester) {
    const { address } = tester;
    const [lower, capitals] = await Promise.all([
      tester.read('the address in lower case', address.toLowerCase()),
      tester.read('the address in capitals', upper(address)),
    ]);
    const problem = notSucceeded(lower) ?? notSucceeded(capitals);
    tester.judge('balance-any-case', problem, [lower, capitals]);
    for (const exchange of [lower, capitals]) {
      if (exchange.reading.kind !== 'success') continue;
      const { address: given } = exchange.reading.fields;
      const isSame = typeof given === 'string' && given.toLowerCase() === address.toLowerCase();
      const wrong = `The answer is for the address ${text(given)}.`;
      // The check balance-fields reports an address that is missing or is no text.
      tester.judge('balance-address', isSame || typeof given !== 'string' ? undefined : wrong, [
        exchange,
      ]);
    }
  },
};

export const unknownUser: Story = {
  title: 'an unknown user',
  checks: ['balance-unknown-user', 'balance-bad-address'],
  async play(tester) {
    const [unknown, bad] = await Promise.all([
      tester.read('a wallet that no one has', randomAddress()),
      tester.read('what is no address', '0x12'),
    ]);
    tester.judge('balance-bad-address', notRefused(bad, []), [bad]);
    tester.judgeRefusal('balance-unknown-user', unknown, 'ERR-USER-NOT-FOUND');
  },
};

export const unknownUserDeduction: Story = {
  title: 'a deduction from an unknown user',
  checks: ['deduct-unknown-user'],
  async play(tester) {
    const purpose = 'deduct from a wallet that no one has';
    const address = randomAddress();
    const exchange = await tester.deduct({ purpose, id: tester.newId(), points: 1, address });
    tester.judgeRefusal('deduct-unknown-user', exchange, 'ERR-USER-NOT-FOUND');
  },
};

/** Played only where a player without points is given. */
export const zeroPoints: Story = {
  title: 'a user without points',
  checks: ['balance-zero'],
  async play(tester) {
    const exchange = await tester.read('a player without points', tester.emptyAddress ?? '');
    const reading = readable(exchange.reading);
    const points = reading.fields['points'];
    if (reading.kind === 'success' && !Number.isInteger(Number(points ?? ''))) {
      throw new StoryBlocked('The balance cannot be told (balance-fields).');
    }
    const problem =
      notSucceeded(exchange) ??
      (Number(points) === 0 ? undefined : `points is ${text(points)}. Expected: 0.`);
    tester.judge('balance-zero', problem, [exchange]);
  },
};
