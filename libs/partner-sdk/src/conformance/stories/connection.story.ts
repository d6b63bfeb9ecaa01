/** The service keeps connections; the other stories have one for each call. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Tester, type Twist } from '../run/tester.js';
import { type Exchange } from '../wire/exchange.js';
import { type Story } from './story.js';

const KEPT = { keepAlive: true, maxSockets: 1 };

/** Told before the calls that come at once: none of its calls has to wait, so no connection is left idle. */
export const keptConnection: Story = {
  title: 'calls on one connection',
  checks: ['http-connection-kept'],
  async run(tester) {
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
  // An answer that cannot be had on any connection has checks of its own.
  if (first.came.kind === 'none') return;
  for (const { purpose, by } of NEXT) {
    const kept = await callsFor(tester, { agent })[by](purpose);
    if (kept.reading.kind !== 'unreadable' || kept.reading.fault === 'http-in-time') continue;
    const alone = await callsFor(tester, {})[by]('the same on a connection of its own');
    if (alone.reading.kind === 'unreadable') continue;
    const observed = `The first call of a connection was answered. ${purpose} got no usable answer: ${kept.reading.why}. It got one on a connection of its own.`;
    tester.judge('http-connection-kept', observed, [first, kept]);
    // Said once.
    tester.caller.forget(kept);
    return;
  }
  tester.verdicts.pass('http-connection-kept');
}

const NEXT = [
  { purpose: 'The second call', by: 'read' },
  // Refused perhaps before its body is read.
  { purpose: 'An unsigned revert on it', by: 'refused' },
  { purpose: 'The call after a refused one', by: 'read' },
] as const;

function callsFor(
  tester: Tester,
  twist: Twist,
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
