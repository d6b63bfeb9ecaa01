/** Subscribers that are slow, hostile or at another address, on real sockets. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { verifyWebhook } from '#libs/partner-sdk';
import { systemClock } from '#libs/platform';
import { mintWebhookSecret } from '#libs/signing';
import { answer, RoguePartner, type SeenRequest } from './testing/rogue-partner.support.js';
import { type WebhookAttempt, WebhookSender, type WebhookSenderOptions } from './webhook-sender.js';

const SECRET = mintWebhookSecret();
const ID = 'msg_0123456789abcdef0123456789abcdef';
const PAYLOAD = JSON.stringify({ type: 'webhook.test', timestamp: '2026-01-01', data: {} });

let partner: RoguePartner;
beforeEach(async () => {
  partner = await RoguePartner.start();
});
afterEach(() => partner.close());

const aSender = (change: Partial<WebhookSenderOptions> = {}): WebhookSender =>
  new WebhookSender({ clock: systemClock, policy: { allowPrivate: true }, ...change });

function send(
  sender = aSender(),
  { url = `http://127.0.0.1:${partner.port}/hooks/a/`, secrets = [SECRET] } = {},
  stop?: AbortSignal,
): Promise<WebhookAttempt> {
  return sender.send({ id: ID, subscription: 'one', url, payload: PAYLOAD, secrets }, stop);
}

const headersOf = ({ headers }: SeenRequest): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

const plain = (status: number, headers: readonly (readonly [string, string])[] = []) => {
  partner.behave = (socket, request) => {
    const own = [...headers, ['content-length', '2']] as const;
    socket.write(answer(request, { status, body: 'ok', headers: own }));
  };
};

describe('an event', () => {
  it('is sent to the address as it was given, and the SDK verifies it', async () => {
    plain(204);
    const attempt = await send();
    expect(attempt).toMatchObject({ status: 204, isStopped: false });
    expect(attempt.error).toBeUndefined();
    const [request] = partner.requests as [SeenRequest];
    expect([request.method, request.target]).toEqual(['POST', '/hooks/a/']);
    expect(verifyWebhook(headersOf(request), request.body, SECRET).id).toBe(ID);
    expect(attempt.request.headers['webhook-signature']).toBe(request.header('webhook-signature'));
  });

  it('is signed with each secret that is good', async () => {
    plain(200);
    const next = mintWebhookSecret();
    await send(aSender(), { secrets: [next, SECRET] });
    const [request] = partner.requests as [SeenRequest];
    for (const secret of [next, SECRET]) {
      expect(verifyWebhook(headersOf(request), request.body, secret).id).toBe(ID);
    }
  });

  it('goes over a connection that served another one of the subscription', async () => {
    plain(200, [['keep-alive', 'timeout=20']]);
    const sender = aSender();
    for (let times = 0; times < 3; times += 1) await send(sender);
    expect([partner.requests.length, partner.connections]).toEqual([3, 1]);
  });

  it('tells when it may be tried again', async () => {
    plain(429, [['retry-after', '120']]);
    expect(await send()).toMatchObject({ status: 429, retryAfterSeconds: 120 });
  });

  it('that is ended from our side was no attempt', async () => {
    partner.behave = () => undefined;
    const stop = new AbortController();
    const sending = send(aSender(), {}, stop.signal);
    partner.onConnect = () => {
      stop.abort();
    };
    expect(await sending).toMatchObject({ isStopped: true });
  });
});

describe('a subscriber', () => {
  it('that never answers costs the time limit and no more', async () => {
    partner.behave = () => undefined;
    const attempt = await send(aSender({ timeoutMs: 200 }));
    expect(attempt.error).toContain('timeout');
    expect(attempt.status).toBeUndefined();
  });

  it('that sends a body without end is read so far, and its status counts', async () => {
    partner.behave = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = (): void => {
        if (!socket.destroyed) socket.write(`8000\r\n${'x'.repeat(0x8000)}\r\n`, more);
      };
      more();
    };
    const attempt = await send();
    expect(attempt).toMatchObject({ status: 200, isStopped: false });
    expect(attempt.error).toContain('too-large');
    expect(attempt.answer.body?.length).toBeLessThanOrEqual(2048);
  });

  it('that sends a byte now and then is left at the time limit', async () => {
    partner.behave = (socket) => {
      socket.write('HTTP/1.1 500 No\r\ncontent-length: 10000\r\n\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => {
        clearInterval(drip);
      });
    };
    const attempt = await send(aSender({ timeoutMs: 300 }));
    expect(attempt).toMatchObject({ status: 500 });
    expect(attempt.error).toContain('too-slow');
  });

  it('that redirects to a private address is not followed', async () => {
    const target = await RoguePartner.start();
    try {
      plain(302, [['location', `http://127.0.0.1:${target.port}/`]]);
      expect(await send()).toMatchObject({ status: 302 });
      expect(target.connections).toBe(0);
    } finally {
      await target.close();
    }
  });

  it('that answers its secret and control characters leaves neither in the log', async () => {
    partner.behave = (socket, request) => {
      const body = `${SECRET} ${JSON.stringify({ key: SECRET })}\u001b[31m<script>\u202e`;
      const headers = [
        ['content-type', SECRET],
        ['set-cookie', 'session=1'],
        ['content-length', String(Buffer.byteLength(body))],
      ] as const;
      socket.write(answer(request, { status: 400, body, headers }));
    };
    const { answer: kept } = await send();
    const text = JSON.stringify(kept);
    expect(text).not.toContain(SECRET.slice(6, 30));
    expect(text).not.toContain('session=1');
    expect(kept.body).not.toMatch(/[\u001b\u202e]/);
    expect(kept.body).toContain('<script>');
  });

  it.each([
    ['http', 'http://partner.example/hooks', 'invalid-url'],
    ['the metadata of a cloud', 'https://169.254.169.254/latest', 'blocked-address'],
    ['a query', 'https://partner.example/?token=x', 'invalid-url'],
    ['a name of a public and a private one', 'https://partner.example/hooks', 'blocked-address'],
  ])('whose address is %s is not called', async (_what, url, cause) => {
    const addresses = ['93.184.216.34', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    const resolve = () => Promise.resolve(addresses);
    const sender = aSender({ policy: { allowPrivate: false }, resolve });
    const attempt = await send(sender, { url });
    expect(attempt.error).toContain(cause);
    expect(attempt.status).toBeUndefined();
    expect(partner.connections).toBe(0);
  });
});
