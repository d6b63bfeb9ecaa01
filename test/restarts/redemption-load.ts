import { randomUUID } from 'node:crypto';

export interface LoadUser {
  readonly wallet: string;
  readonly token: string;
}

interface Asked {
  readonly method: string;
  readonly path?: string;
  readonly body?: string;
  readonly key?: string;
}

/** The user's only redemption. */
export interface Seen {
  readonly id: string;
  status: string;
}

/**
 * Signed-in users, several at a time. Each creates one redemption, repeats the request as after a lost answer, and then
 * polls the redemption until the voucher is there. Every answer is counted.
 */
export class RedemptionLoad {
  /** Answers so far by request, status and error code; status 0 for a request without an answer. */
  readonly answers = new Map<string, number>();
  readonly seen = new Map<string, Seen>();
  protected stopping = false;
  private readonly callers: Promise<unknown>;

  /**
   * @param pick returns the URL of the service for the next request
   * @param users each is used once
   */
  constructor(
    private readonly users: LoadUser[],
    private readonly pick: () => string,
    callers = 6,
  ) {
    this.callers = Promise.all(Array.from({ length: callers }, () => this.call()));
    // `stop` reports the error.
    this.callers.catch(() => undefined);
  }

  /** Waits for this many further redemptions. */
  async more(count: number): Promise<void> {
    const [before, deadline] = [this.seen.size, Date.now() + 60_000];
    while (this.seen.size < before + count) {
      if (Date.now() > deadline) throw new Error(`no more: ${JSON.stringify([...this.answers])}`);
      await Promise.race([this.callers, new Promise((resolve) => setTimeout(resolve, 20))]);
    }
  }

  /** Lets all users finish their redemption. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.callers;
  }

  private async call(): Promise<void> {
    while (!this.stopping) {
      const user = await this.nextUser(this.users);
      if (user !== undefined) await this.redeem(user);
    }
  }

  /** The next user. @throws Error where none is left while the load continues */
  protected nextUser(users: LoadUser[]): LoadUser | Promise<LoadUser | undefined> {
    const user = users.pop();
    if (user === undefined) throw new Error('there are no users left');
    return user;
  }

  /** Statuses after which a caller repeats the request. */
  protected get asksAgainAfter(): readonly number[] {
    return [];
  }

  private async redeem(user: LoadUser): Promise<void> {
    const key = randomUUID();
    const body = JSON.stringify({ partner: 'Arena', points: 100 });
    const created = await this.ask(user, 'create', { method: 'POST', body, key });
    const again = await this.ask(user, 'replay', { method: 'POST', body, key });
    const id = String(created?.['id'] ?? again?.['id']);
    if (again?.['id'] !== id) throw new Error(`made ${id}, then answered ${JSON.stringify(again)}`);
    const one: Seen = { id, status: '' };
    this.seen.set(user.wallet, one);
    for (let looks = 0; looks < 400 && one.status !== 'authorised'; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      const read = await this.ask(user, 'read', { method: 'GET', path: `/${id}` });
      one.status = read?.['voucher'] == null ? String(read?.['status']) : 'authorised';
    }
  }

  private async ask(
    user: LoadUser,
    what: string,
    options: Asked,
  ): Promise<Record<string, unknown> | undefined> {
    for (;;) {
      const { status, answer } = await this.askOnce(user, what, options);
      if (!this.asksAgainAfter.includes(status)) return status === 0 ? undefined : answer;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  private async askOnce(
    { wallet, token }: LoadUser,
    what: string,
    options: Asked,
  ): Promise<{ status: number; answer: Record<string, unknown> | undefined }> {
    const { method, path = '', body, key } = options;
    let status = 0;
    let answer: Record<string, unknown> | undefined;
    try {
      const response = await fetch(`${this.pick()}/api/redemptions${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          // Each user has a separate client address.
          'x-forwarded-for': addressOf(wallet),
          ...(key !== undefined && { 'idempotency-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
      answer = (await response.json()) as Record<string, unknown>;
      ({ status } = response);
    } catch {
      // A dropped request is counted with status 0.
    }
    const code = status < 400 ? '' : ` ${String(answer?.['code'])}`;
    const name = `${what} ${status}${code}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
    return { status, answer };
  }
}

/**
 * An address in a separate /48 network per wallet, so that the rate limit of a site does not apply, however fast the
 * machine is.
 */
function addressOf(wallet: string): string {
  return `2001:db8:${wallet.slice(-4)}::1`;
}
