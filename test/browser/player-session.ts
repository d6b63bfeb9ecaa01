/** A player's session that was started without the page, by the requests that the page makes. */
import { randomUUID } from 'node:crypto';
import { type BrowserContext } from 'playwright-core';
import { getAddress } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { FAKE_WALLET_ID } from './fake-wallet.js';
import { PARTNER, type PlayerStage } from './player-stage.js';

/** What the page keeps of a connected wallet. */
const CONNECTED = {
  test: { 'lowmark-wallet': 'lowmark.test-wallet', 'lowmark-test-connected': 'yes' },
  fake: { 'lowmark-wallet': FAKE_WALLET_ID, 'fake-connected': 'yes' },
} as const;

export class PlayerSession {
  private constructor(
    private readonly visitor: Visitor,
    private readonly signedIn: { readonly wallet: string; readonly expiresAt: string },
  ) {}

  static async start({ url, bench }: PlayerStage, account: string): Promise<PlayerSession> {
    const { chainId, rpc } = bench.chain;
    const visitor = new Visitor(url);
    const { nonce } = await answered<{ nonce: string }>(visitor.post('/player/api/auth/nonce'));
    const message = createSiweMessage({
      ...{ domain: new URL(url).host, uri: url, version: '1', chainId, nonce },
      address: getAddress(account),
    });
    const bytes = `0x${Buffer.from(message).toString('hex')}`;
    const signature = await rpc.call<string>('personal_sign', bytes, account);
    const verified = visitor.post('/player/api/auth/verify', { message, signature });
    return new PlayerSession(visitor, await answered(verified));
  }

  async redeem(points: number): Promise<void> {
    const headers = { 'x-csrf-token': this.csrf, 'idempotency-key': randomUUID() };
    const body = { partner: PARTNER, points };
    await answered(this.visitor.post('/player/api/redemptions', body, headers));
  }

  /** Puts the session and the connected wallet into a browser that has not opened the page yet. */
  async enter(context: BrowserContext, wallet: keyof typeof CONNECTED): Promise<void> {
    const { cookies, origin } = this.visitor;
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: origin })));
    const session = JSON.stringify({ ...this.signedIn, csrf: this.csrf });
    const kept = { 'lowmark-player-session': session, ...CONNECTED[wallet], entered: 'yes' };
    // Only once: what the page removes later stays removed.
    await context.addInitScript(
      `if (localStorage.entered === undefined) Object.assign(localStorage, ${JSON.stringify(kept)});`,
    );
  }

  private get csrf(): string {
    return this.visitor.cookies.get('lowmark-player-csrf') ?? 'none';
  }
}

/** The JSON body of a successful answer. */
async function answered<T>(answer: Promise<Response>): Promise<T> {
  const found = await answer;
  if (!found.ok) throw new Error(`${found.status} ${await found.text()}`);
  return (await found.json()) as T;
}
