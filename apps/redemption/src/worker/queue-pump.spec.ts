import { describe, expect, it } from '@jest/globals';
import { QueuePump, type WorkQueue } from './engine.js';

/** A queue in memory whose work ends when the test says so. */
class TestQueue implements WorkQueue<number> {
  readonly name = 'test';
  readonly leases: number[] = [];
  readonly owners = new Set<string>();
  readonly begun: number[][] = [];
  most = 0;
  failNextLease = false;
  private readonly ends: (() => void)[] = [];
  private running = 0;

  constructor(
    private due: number[],
    readonly atOnce: number,
    readonly batchSize = 1,
  ) {}

  lease(count: number, owner: string): Promise<number[]> {
    if (this.failNextLease) {
      this.failNextLease = false;
      return Promise.reject(new Error('no database'));
    }
    this.leases.push(count);
    this.owners.add(owner);
    const taken = this.due.slice(0, count);
    this.due = this.due.slice(count);
    return Promise.resolve(taken);
  }

  async work(items: readonly number[]): Promise<void> {
    this.begun.push([...items]);
    this.running += items.length;
    this.most = Math.max(this.most, this.running);
    await new Promise<void>((end) => this.ends.push(end));
    this.running -= items.length;
    if (items.includes(13)) throw new Error('13');
  }

  add(...items: number[]): void {
    this.due.push(...items);
  }

  endOne(): void {
    this.ends.shift()?.();
  }

  /** Ends work as it begins, until the promise is settled. */
  async endUntil<T>(promise: Promise<T>): Promise<T> {
    const state = { over: false };
    void promise.finally(() => (state.over = true));
    while (!state.over) {
      this.endOne();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return promise;
  }
}

function setUp(queue: TestQueue) {
  const failures: unknown[] = [];
  let sweeps = 0;
  const pump = new QueuePump(queue, {
    swept: () => (sweeps += 1),
    failed: (_name, error) => failures.push(error),
  });
  return { pump, failures, sweeps: () => sweeps };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('a pump', () => {
  it('does all that is due, so much at once and no more, each lease with an owner of its own', async () => {
    const queue = new TestQueue(
      Array.from({ length: 23 }, (_, at) => at),
      4,
    );
    const { pump } = setUp(queue);
    expect(await queue.endUntil(pump.drain())).toBe(23);
    expect(queue.begun.flat()).toEqual(Array.from({ length: 23 }, (_, at) => at));
    expect(queue.most).toBe(4);
    expect(queue.owners.size).toBe(queue.leases.length);
  });

  it('leases no more than it can begin at once', async () => {
    const queue = new TestQueue([1, 2, 3, 4, 5], 4);
    const { pump } = setUp(queue);
    pump.wake();
    await turn();
    expect([queue.leases, queue.begun]).toEqual([[4], [[1], [2], [3], [4]]]);
    queue.endOne();
    await turn();
    expect(queue.leases).toEqual([4, 1]);
    await queue.endUntil(pump.stop());
  });

  it('hands over together what belongs together', async () => {
    const queue = new TestQueue([1, 2, 3, 4, 5], 6, 2);
    const { pump } = setUp(queue);
    await queue.endUntil(pump.drain());
    expect(queue.begun).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('looks at once for what a piece has made due', async () => {
    const queue = new TestQueue([1, 2], 2);
    const { pump } = setUp(queue);
    pump.wake();
    await turn();
    queue.add(3);
    queue.endOne();
    await turn();
    expect(queue.begun).toEqual([[1], [2], [3]]);
    await queue.endUntil(pump.stop());
  });

  it('reports a piece that failed, and goes on with the others', async () => {
    const queue = new TestQueue([12, 13, 14], 1);
    const { pump, failures } = setUp(queue);
    expect(await queue.endUntil(pump.drain())).toBe(3);
    expect(failures).toEqual([new Error('13')]);
  });

  it('reports that nothing could be leased, and tries again when it is woken', async () => {
    const queue = new TestQueue([1], 1);
    queue.failNextLease = true;
    const { pump, failures, sweeps } = setUp(queue);
    pump.wake();
    await turn();
    expect([failures, sweeps()]).toEqual([[new Error('no database')], 0]);
    pump.wake();
    await turn();
    expect(queue.begun).toEqual([[1]]);
    await queue.endUntil(pump.stop());
  });

  it('takes nothing more once it stops, and awaits what is under way', async () => {
    const queue = new TestQueue([1, 2], 1);
    const { pump } = setUp(queue);
    pump.wake();
    await turn();
    let stopped = false;
    const stopping = pump.stop().then(() => (stopped = true));
    await turn();
    expect(stopped).toBe(false);
    await queue.endUntil(stopping);
    pump.wake();
    await turn();
    expect(queue.begun).toEqual([[1]]);
  });
});
