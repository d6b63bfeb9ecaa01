import { type Server } from 'node:http';
import {
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type HttpAdapterHost } from '@nestjs/core';
import { type SchedulerRegistry } from '@nestjs/schedule';
import { type Database } from '#libs/db';
import { type HealthRegistry } from '#libs/platform';
import { type PayoutPort } from './payout/payout-port.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { type Engine } from './worker/engine.js';

export interface LifecycleParts {
  readonly health: HealthRegistry;
  readonly host: HttpAdapterHost;
  readonly scheduler: SchedulerRegistry;
  readonly database: Database;
  readonly engine: Engine;
  readonly payouts: PayoutPort;
}

/** Far longer than the longest call to a partner, which may keep it from looking. */
const LONGEST_IDLE_SECONDS = 60;
/** After this time connections whose requests are still not answered are cut. */
const LAST_MS = 8_000;

/**
 * The order of starting and stopping. At the end: not ready any more; no new connections, and open requests finish (Nest closes the
 * server between the two hooks); the engine's calls end and its leases go back; then the database's connections close.
 */
export class Lifecycle
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private state: 'starting' | 'running' | 'shutting down' = 'starting';

  constructor(private readonly parts: LifecycleParts) {
    const { health, database, payouts, engine } = parts;
    health.register('process', () =>
      this.state === 'running' ? {} : { reason: `is ${this.state}` },
    );
    health.register('database', async () => {
      await database.query({ name: 'redemption_ready', text: 'SELECT 1' });
      return {};
    });
    health.register('vault', async () => {
      // Whoever pays otherwise has no vault.
      if (!(payouts instanceof VoucherPayout)) return {};
      const { faults, concerns } = await payouts.report();
      return {
        ...(faults.length > 0 && { reason: faults.join(' ') }),
        details: { concerns: concerns.length === 0 ? null : concerns.join(' ') },
      };
    });
    health.register('engine', () => {
      const idleSeconds = Math.round(engine.idleSeconds);
      return {
        ...(idleSeconds > LONGEST_IDLE_SECONDS && {
          reason: `has not looked for work for ${idleSeconds} s`,
        }),
        details: { idleSeconds },
      };
    });
  }

  onApplicationBootstrap(): void {
    this.parts.scheduler.addInterval('engine', this.parts.engine.start());
    this.state = 'running';
  }

  beforeApplicationShutdown(): void {
    this.state = 'shutting down';
    const server = this.parts.host.httpAdapter.getHttpServer() as Server;
    setTimeout(() => {
      server.closeAllConnections();
    }, LAST_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.parts.engine.stop();
    await this.parts.database.close();
  }
}
