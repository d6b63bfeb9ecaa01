/**
 * Callers that send requests through the proxy at a steady pace. Each answer is counted, and each snapshot's signature
 * is verified.
 */
import { type Dispatcher, request } from 'undici';
import { verify } from '#libs/partner-sdk';

const SNAPSHOTS = '/api/staking/snapshots';

export interface Credential {
  readonly apiKey: string;
  readonly sharedSecret: string;
}

export interface LoadOptions {
  readonly apiUrl: string;
  readonly redemptionUrl: string;
  readonly pagesUrl: string;
  readonly wallet: string;
  readonly credential: Credential;
  /** For host names and certificates that exist only in the test. */
  readonly dispatcher?: Dispatcher;
}

export class Load {
  /** Name of the current action, set by the test, for the report of bad answers. */
  during = 'start';
  credential: Credential;
  readonly good = new Map<string, number>();
  /** Failed requests by the current action and the error. */
  readonly bad = new Map<string, number>();
  private slowestMs = 0;
  private stopping = false;
  private readonly callers: Promise<unknown>;

  /**
   * Starts eight callers of the api with 10 requests per second each, one caller of the redemption service at half the
   * limit of an address, and a browser.
   */
  constructor(private readonly options: LoadOptions) {
    this.credential = options.credential;
    const api = Array.from({ length: 8 }, () => this.call(100, () => this.snapshot()));
    const nonces = this.call(2000, () => this.nonce());
    this.callers = Promise.all([...api, nonces, this.call(250, () => this.page())]);
  }

  get snapshots(): number {
    return this.good.get('snapshots') ?? 0;
  }

  /** Waits until this many snapshots have arrived since the start. */
  async until(count: number): Promise<void> {
    while (this.snapshots < count && this.bad.size === 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.callers;
  }

  figures(): string {
    const good = [...this.good].map(([what, count]) => `${what} ${count}`).join(', ');
    const bad = [...this.bad.values()].reduce((sum, count) => sum + count, 0);
    return `${good}, others ${bad}; slowest ${Math.round(this.slowestMs)} ms`;
  }

  private async call(paceMs: number, ask: () => Promise<string>): Promise<void> {
    while (!this.stopping) {
      const startedMs = performance.now();
      const during = this.during;
      try {
        const what = await ask();
        this.good.set(what, (this.good.get(what) ?? 0) + 1);
      } catch (error) {
        const what = `${during}: ${String(error)}`;
        this.bad.set(what, (this.bad.get(what) ?? 0) + 1);
      }
      const tookMs = performance.now() - startedMs;
      this.slowestMs = Math.max(this.slowestMs, tookMs);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, paceMs - tookMs)));
    }
  }

  private get connection(): { readonly dispatcher?: Dispatcher } {
    const { dispatcher } = this.options;
    return dispatcher === undefined ? {} : { dispatcher };
  }

  private async snapshot(): Promise<string> {
    const { apiUrl, wallet } = this.options;
    const { apiKey, sharedSecret } = this.credential;
    const answer = await request(`${apiUrl}${SNAPSHOTS}?walletAddress=${wallet}`, {
      ...this.connection,
      headers: { 'x-api-key': apiKey },
    });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`snapshots ${answer.statusCode} ${body}`);
    const signature = answer.headers['x-api-signature'];
    if (!verify(sharedSecret, { method: 'GET', url: SNAPSHOTS, body }, signature)) {
      throw new Error('snapshots 200 with a wrong signature');
    }
    return 'snapshots';
  }

  private async nonce(): Promise<string> {
    const answer = await request(`${this.options.redemptionUrl}/api/auth/nonce`, {
      ...this.connection,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`nonce ${answer.statusCode} ${body}`);
    return 'nonces';
  }

  private async page(): Promise<string> {
    const answer = await request(`${this.options.pagesUrl}/redeem`, this.connection);
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`pages ${answer.statusCode} ${body}`);
    return 'pages';
  }
}
