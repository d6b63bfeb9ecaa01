import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceProgram } from './service-program.js';

const PROBE_MS = 50;

/** Polls each replica, and returns in turn those that accept requests. */
export class LoadBalancer {
  private accepting: Pick<ServiceProgram, 'url'>[];
  private turn = 0;
  private stopping = false;
  private readonly probing: Promise<void>;

  /** @param replicas may be replaced in place */
  constructor(private readonly replicas: readonly Pick<ServiceProgram, 'url' | 'isAccepting'>[]) {
    this.accepting = [...replicas];
    this.probing = this.probe();
  }

  next(): string {
    this.turn += 1;
    return (
      this.accepting[this.turn % this.accepting.length]?.url ??
      'http://127.0.0.1:1/no-replica-accepts'
    );
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.probing;
  }

  private async probe(): Promise<void> {
    while (!this.stopping) {
      const answers = await Promise.all(this.replicas.map((replica) => replica.isAccepting()));
      this.accepting = this.replicas.filter((_, place) => answers[place]);
      await sleep(PROBE_MS);
    }
  }
}
