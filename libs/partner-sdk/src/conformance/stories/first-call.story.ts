import { readable } from '../run/tester.js';
import { type Tester } from '../run/tester.js';
import { type Exchange } from '../wire/exchange.js';
import { type Story } from './story.js';

/** Too far apart for a call to count as fresh. */
const FRESH_MS = 300_000;

/** A plain read, as the service makes it. Where that fails, everything would. */
export const firstCall: Story = {
  title: 'a first balance read',
  checks: ['call-accepted', 'balance-read'],
  async run(tester) {
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
