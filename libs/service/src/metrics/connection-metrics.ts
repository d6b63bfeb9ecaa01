import { setImmediate as turn } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';

/** How the connections of a pool are used at one moment. */
export interface ConnectionUse {
  readonly idle: number;
  /** Working, or being opened. */
  readonly busy: number;
  /** Requests for a connection that found none free. */
  readonly waiting: number;
}

/** How the connections to the database are used, measured at each scrape. */
export function measureConnections(
  registry: Registry,
  database: { readonly connections: ConnectionUse },
): void {
  new Gauge({
    name: 'lowmark_database_connections',
    help: 'Connections of the pool by state, and how many requests wait for one',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      // A pool hands out its idle connections a moment later: what asked just now (for other figures, too) does not wait.
      await turn();
      const { idle, busy, waiting } = database.connections;
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}
