/**
 * Tests the receiver of docs/partners/webhooks.md as a partner would run it, and the schemas of docs/wire/webhooks.md.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintWebhookSecret } from '#libs/signing';
import { systemClock } from '#libs/platform';
import { type WebhookAttempt, WebhookSender } from '#libs/partner-client';
import { GameFolder } from './game-folder.js';
import { codeBlocks, read } from './markdown.js';

const SECRET = mintWebhookSecret();
const WALLET = `0x${'1'.repeat(40)}`;
const LIMIT_MS = 240_000;

let game: GameFolder;
let port: number;
beforeAll(async () => {
  game = GameFolder.of('docs/partners/webhooks.md');
  port = await game.serve('receiver.ts', { WEBHOOK_SECRET: SECRET });
}, LIMIT_MS);
afterAll(() => game.remove());

function send(event: object, secret = SECRET): Promise<WebhookAttempt> {
  const sender = new WebhookSender({ clock: systemClock, policy: { allowPrivate: true } });
  return sender.send({
    ...{ id: `msg_${randomBytes(16).toString('hex')}`, subscription: 'one', secrets: [secret] },
    ...{ url: `http://127.0.0.1:${port}/`, payload: JSON.stringify(event) },
  });
}

const EVENTS: Readonly<Record<string, Record<string, unknown>>> = {
  'day.sealed': {
    ...{ stakeSet: 'default', day: '2026-11-21', revision: 1, root: `0x${'a'.repeat(64)}` },
    ...{ wallets: 3, total: '5', tokenDecimals: 18, blockNumber: 9 },
    blockHash: `0x${'b'.repeat(64)}`,
  },
  'redemption.claimed': {
    ...{ redemptionId: '01935000-0000-7000-8000-000000000000', walletAddress: WALLET },
    ...{ status: 'claimed', points: 5, usdAmount: '1.5', tokenAmount: '7', tokenDecimals: 18 },
    transactionHash: `0x${'c'.repeat(64)}`,
  },
  'webhook.test': {},
};

describe('the receiver of the page', () => {
  it(
    'is right for the compiler',
    async () => {
      expect(await game.typeErrors()).toBe('');
    },
    LIMIT_MS,
  );

  it.each(Object.keys(EVENTS))('takes %s', async (type) => {
    const event = { type, timestamp: '2026-11-22T00:00:00.000Z', data: EVENTS[type] };
    expect(await send(event)).toMatchObject({ status: 204 });
  });

  it('refuses what another secret signed, and takes what it does not know once', async () => {
    const event = { type: 'webhook.test', timestamp: '', data: {} };
    expect(await send(event, mintWebhookSecret())).toMatchObject({ status: 400 });
    expect(await send({ ...event, type: 'day.eaten' })).toMatchObject({ status: 204 });
  });
});

describe('the schemas of the wire', () => {
  const blocks = codeBlocks(read('docs/wire/webhooks.md')).filter(
    ({ title }) => title === 'schema',
  );
  const schemas = blocks.map(
    ({ code }) =>
      JSON.parse(code) as {
        readonly required: string[];
        readonly properties: Record<string, { readonly pattern?: string }>;
      },
  );

  it.each(['day.sealed', 'redemption.claimed'])('fit %s', (type) => {
    const data = EVENTS[type] as Record<string, unknown>;
    const fitting = schemas.filter(({ required, properties }) => {
      const names = Object.keys(data);
      return (
        required.every((name) => names.includes(name)) &&
        names.every((name) => name in properties) &&
        names.every((name) => new RegExp(properties[name]?.pattern ?? '').test(String(data[name])))
      );
    });
    expect(fitting).toHaveLength(1);
  });
});
