import { type OnApplicationBootstrap } from '@nestjs/common';
import { type SchedulerRegistry } from '@nestjs/schedule';
import { type Database } from '#libs/db';
import { within } from '#libs/platform';
import { type CheckResult, type HealthRegistry, PROCESS_CHECK } from '#libs/service';
import { type ChainLink } from './chain/chain-link.js';
import { type PayoutPort } from './payout/payout-port.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { type Engine } from './worker/engine.js';

export interface LifecycleParts {
  readonly health: HealthRegistry;
  readonly scheduler: SchedulerRegistry;
  readonly database: Database;
  readonly engine: Engine;
  readonly chain: Pick<ChainLink, 'check'>;
  readonly payouts: PayoutPort;
}

/** Far longer than the longest call to a partner, which may keep it from looking. */
const LONGEST_IDLE_SECONDS = 60;
/** A node may take its time; a load balancer asks whether this process serves. */
const VAULT_PATIENCE_MS = 1_000;

/** Starts the engine, and says whether the service can serve. How it stops: `HttpShutdown`. */
export class Lifecycle implements OnApplicationBootstrap {
  private state: 'starting' | 'running' | 'shutting down' = 'starting';

  constructor(private readonly parts: LifecycleParts) {
    const { health, database, chain, payouts, engine } = parts;
    health.register(PROCESS_CHECK, () =>
      this.state === 'running' ? {} : { reason: `is ${this.state}` },
    );
    health.register('database', async () => {
      await database.query({ name: 'redemption_ready', text: 'SELECT 1' });
      return {};
    });
    health.register('chain', () => chain.check());
    health.register('vault', () => checkVault(payouts));
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

  /** From now on not ready, though requests are still answered and the engine still works. */
  stopping(): void {
    this.state = 'shutting down';
  }
}

/** A chain that does not answer is no reason not to serve: users see their redemptions meanwhile. */
async function checkVault(payouts: PayoutPort): Promise<CheckResult> {
  // Another way to pay has no vault.
  if (!(payouts instanceof VoucherPayout)) return {};
  const { faults, concerns } = await within(VAULT_PATIENCE_MS, payouts.report(), () => ({
    faults: [],
    concerns: ['RPC_URLS: no endpoint tells of the vault in time.'],
  }));
  return {
    ...(faults.length > 0 && { reason: faults.join(' ') }),
    details: { concerns: concerns.length === 0 ? null : concerns.join(' ') },
  };
}
