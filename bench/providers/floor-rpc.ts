/**
 * Batches of calls for the floor: at most IN_FLIGHT requests at once, paced to a budget, with retries of refused calls.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface FloorCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface FloorBudget {
  readonly unitsPerSecond: number;
  readonly logsPrice: number;
  readonly headerPrice: number;
  readonly viewPrice: number;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const IN_FLIGHT = 24;

export class FloorRpc {
  private readonly waiting: (() => void)[] = [];
  private flying = 0;
  private sent = 0;
  private nextAtMs = 0;

  constructor(
    private readonly urls: readonly string[],
    private readonly budget: FloorBudget | undefined,
  ) {}

  /** @returns the results in the order of the calls */
  async batch(calls: readonly FloorCall[]): Promise<unknown[]> {
    await this.enter(calls);
    try {
      const results = new Array<unknown>(calls.length);
      let left = calls.map((_, id) => id);
      while (left.length > 0) left = await this.send(calls, left, results);
      return results;
    } finally {
      this.flying--;
      this.waiting.shift()?.();
    }
  }

  /** @returns the ids of the refused calls, to be sent again */
  private async send(
    calls: readonly FloorCall[],
    ids: readonly number[],
    results: unknown[],
  ): Promise<number[]> {
    const response = await fetch(this.urls[this.sent++ % this.urls.length] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ids.map((id) => ({ jsonrpc: '2.0', id, ...calls[id] }))),
    });
    const body: unknown = await response.json();
    if (response.status !== 200) return [...ids];
    if (!Array.isArray(body)) throw new Error(`no list: ${JSON.stringify(body)}`);
    const refused: number[] = [];
    for (const { id, result, error } of body as Reply[]) {
      if (error) refused.push(id);
      else results[id] = result;
    }
    return refused;
  }

  private async enter(calls: readonly FloorCall[]): Promise<void> {
    if (this.flying >= IN_FLIGHT)
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    this.flying++;
    if (!this.budget) return;
    const now = performance.now();
    const startMs = Math.max(now, this.nextAtMs);
    this.nextAtMs = startMs + (priceOf(calls, this.budget) * 1000) / this.budget.unitsPerSecond;
    if (startMs > now) await sleep(startMs - now);
  }
}

function priceOf(calls: readonly FloorCall[], budget: FloorBudget): number {
  const prices = new Map([
    ['eth_getLogs', budget.logsPrice],
    ['eth_getBlockByNumber', budget.headerPrice],
    ['eth_call', budget.viewPrice],
  ]);
  return calls.reduce((sum, { method }) => sum + (prices.get(method) ?? 0), 0);
}
