import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database, PartnerStore } from '#libs/db';
import { eventually } from '#libs/testing/clock';

const PAUSE_MS = 100;
const RETRY_MS = 200;
const GENEROUS_MS = 90_000;

/** Adds partners one after the other, as the cli does, and records each that the database acknowledged. */
export class PartnerWriter {
  /** Ids of the acknowledged partners by name. */
  readonly acknowledged = new Map<string, string>();
  /** Number of failures by error message. */
  readonly failures = new Map<string, number>();
  private lastMs = performance.now();
  private longestMs = 0;
  private stopping = false;
  private readonly writing: Promise<void>;

  private constructor(
    private readonly name: string,
    private readonly database: Database,
  ) {
    this.writing = this.write();
  }

  /** @param name of the writer, used in the names of its partners */
  static async start(name: string, url: string): Promise<PartnerWriter> {
    const database = await createDatabase({ url, applicationName: name, poolSize: 1 });
    return new PartnerWriter(name, database);
  }

  /** Waits until this many more partners are written. */
  async more(count: number): Promise<void> {
    const before = this.acknowledged.size;
    await eventually(() => this.acknowledged.size >= before + count, {
      what: `${count} further partners by ${this.name} (${this.failed})`,
      withinMs: GENEROUS_MS,
      everyMs: 100,
    });
  }

  /** The longest time between two partners since the last call, in seconds. */
  longestGap(): number {
    const seconds = this.longestMs / 1000;
    this.longestMs = 0;
    return seconds;
  }

  get failed(): string {
    return [...this.failures].map(([message, times]) => `${times} times: ${message}`).join('; ');
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.writing;
    await this.database.close();
  }

  private async write(): Promise<void> {
    const store = new PartnerStore(this.database);
    for (let number = 1; !this.stopping; number++) {
      const name = `${this.name} ${number}`;
      try {
        const { partnerId } = await store.create({ name, rate: 20, burst: 100, credential: any() });
        this.acknowledged.set(name, partnerId);
        const nowMs = performance.now();
        this.longestMs = Math.max(this.longestMs, nowMs - this.lastMs);
        this.lastMs = nowMs;
        await sleep(PAUSE_MS);
      } catch (error) {
        const { message } = error as Error;
        this.failures.set(message, (this.failures.get(message) ?? 0) + 1);
        await sleep(RETRY_MS);
      }
    }
  }
}

function any() {
  return {
    keyHash: randomBytes(32),
    keyPrefix: 'svck_test',
    secretCiphertext: randomBytes(64),
  };
}
