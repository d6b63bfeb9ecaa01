import { type MintedCredential } from '#libs/signing';
import { expectSigned } from '../../apps/api/src/testing/wire.support.js';
import { WALLET } from './served-index.js';

const PATH = '/api/staking/snapshots';

/** Callers that ask for a snapshot repeatedly. Every answer must be signed with their secret. */
export class SnapshotLoad {
  /** Answers so far by status; 0 for a request without an answer. */
  readonly answers = new Map<number, number>();
  private stopping = false;
  private readonly callers: Promise<unknown>;

  /**
   * @param pick returns the URL of the service for the next request
   * @param pauseMs pause of each caller between an answer and its next request
   */
  constructor(
    private readonly credential: MintedCredential,
    private readonly pick: () => string,
    callers = 4,
    private readonly pauseMs = 0,
  ) {
    this.callers = Promise.all(Array.from({ length: callers }, () => this.call()));
    // `stop` reports the error.
    this.callers.catch(() => undefined);
  }

  count(status: number): number {
    return this.answers.get(status) ?? 0;
  }

  /**
   * Waits for this many further answers with a status. @throws Error where an answer was not signed, or after a minute
   * without them
   */
  async more(status: number, count = 20): Promise<void> {
    const [before, deadline] = [this.count(status), Date.now() + 60_000];
    while (this.count(status) < before + count) {
      if (Date.now() > deadline) throw new Error(`no ${status}: ${this.summary()}`);
      await Promise.race([this.callers, new Promise((resolve) => setTimeout(resolve, 20))]);
    }
  }

  /** @throws Error where an answer was not signed */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.callers;
  }

  private async call(): Promise<void> {
    while (!this.stopping) {
      const status = await this.ask();
      this.answers.set(status, this.count(status) + 1);
      // After a refusal a caller waits a little, so that it does not overload the service.
      const pauseMs = status === 200 ? this.pauseMs : Math.max(20, this.pauseMs);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  private async ask(): Promise<number> {
    let answer: Response;
    let body: string;
    try {
      answer = await fetch(`${this.pick()}${PATH}?walletAddress=${WALLET}`, {
        headers: { 'x-api-key': this.credential.apiKey },
      });
      body = await answer.text();
    } catch {
      return 0;
    }
    const headers = Object.fromEntries(answer.headers);
    const secret = this.credential.sharedSecret;
    expectSigned({ headers, body }, { method: 'GET', path: PATH, secret });
    return answer.status;
  }

  private summary(): string {
    return JSON.stringify([...this.answers]);
  }
}
