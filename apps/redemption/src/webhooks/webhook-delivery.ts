import { type DueEvent } from '#libs/db';
import { type PumpObserver, QueuePump } from '../worker/engine.js';
import { type WebhookQueue } from './webhook.queue.js';

/** Sends what is due: looks for more as soon as a piece is done, and each time that it is woken. */
export class WebhookDelivery {
  private readonly pump: QueuePump<DueEvent>;
  /** What one who drains has not found must not be under way. */
  private isDraining = false;

  constructor(queue: WebhookQueue, observer: PumpObserver) {
    const work = async (due: readonly DueEvent[], owner: string): Promise<void> => {
      try {
        await queue.work(due, owner);
      } finally {
        // Its lane may have another event, and its subscription room for one.
        if (!this.isDraining) this.pump.wake();
      }
    };
    const { name, atOnce } = queue;
    const lease = (count: number, owner: string) => queue.lease(count, owner);
    const stop = () => {
      queue.stop();
    };
    this.pump = new QueuePump({ name, atOnce, lease, work, stop }, observer);
  }

  wake(): void {
    this.pump.wake();
  }

  /** Sends all that is due, and awaits it; for a clock that is moved by hand. */
  async drain(): Promise<number> {
    this.isDraining = true;
    try {
      return await this.pump.drain();
    } finally {
      this.isDraining = false;
    }
  }

  /** What is under way is ended, and its leases are given back. */
  stop(): Promise<void> {
    return this.pump.stop();
  }
}
