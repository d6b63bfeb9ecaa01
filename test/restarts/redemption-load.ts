import { randomUUID } from 'node:crypto';

export interface LoadUser {
  readonly wallet: string;
  /** Of a session. */
  readonly token: string;
}

interface Asked {
  readonly method: string;
  readonly path?: string;
  readonly body?: string;
  readonly key?: string;
}

/** Of each user's one redemption. */
export interface Seen {
  readonly id: string;
  status: string;
}

/**
 * Users who are signed in, some at a time: each makes one redemption, says so twice, as one who lost the answer would, and then reads
 * it until it is done. Every answer is counted.
 */
export class RedemptionLoad {
  /** Answers so far by what was asked, the status and the code of an error; status 0 where there was none. */
  readonly answers = new Map<string, number>();
  readonly seen = new Map<string, Seen>();
  protected stopping = false;
  private readonly callers: Promise<unknown>;

  /**
   * @param pick the service to ask next
   * @param users each is used once
   */
  constructor(
    private readonly users: LoadUser[],
    private readonly pick: () => string,
    callers = 6,
  ) {
    this.callers = Promise.all(Array.from({ length: callers }, () => this.call()));
    // Told by `stop`.
    this.callers.catch(() => undefined);
  }

  /** Waits for that many further redemptions. */
  async more(count: number): Promise<void> {
    const [before, deadline] = [this.seen.size, Date.now() + 60_000];
    while (this.seen.size < before + count) {
      if (Date.now() > deadline) throw new Error(`no more: ${JSON.stringify([...this.answers])}`);
      await Promise.race([this.callers, new Promise((resolve) => setTimeout(resolve, 20))]);
    }
  }

  /** Lets everyone finish. */
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

  /** Who redeems next. @throws where there are none left, though the load goes on */
  protected nextUser(users: LoadUser[]): LoadUser | Promise<LoadUser | undefined> {
    const user = users.pop();
    if (user === undefined) throw new Error('there are no users left');
    return user;
  }

  /** Answers after which a caller asks the same again. */
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
          // Each user is at an address of its own.
          'x-forwarded-for': addressOf(wallet),
          ...(key !== undefined && { 'idempotency-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
      answer = (await response.json()) as Record<string, unknown>;
      ({ status } = response);
    } catch {
      // Dropped: counted as such.
    }
    const code = status < 400 ? '' : ` ${String(answer?.['code'])}`;
    const name = `${what} ${status}${code}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
    return { status, answer };
  }
}

/** In a /48 of its own, by the wallet's last four digits: what a site shares is no limit here, however fast the machine is. */
function addressOf(wallet: string): string {
  return `2001:db8:${wallet.slice(-4)}::1`;
}
