import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Database, RestoreNotNotedError } from '#libs/db';
import { withTimeout } from '#libs/platform';
import { type CheckResult, HealthRegistry, HttpShutdown, PROCESS_CHECK } from '#libs/service';
import { ChainLink } from './chain/chain-link.js';
import { Connections } from './connections.module.js';
import { LedgerWatch } from './ledger/ledger-watch.js';
import { VaultConditions } from './payout/vault-conditions.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { Engine } from './worker/engine.js';

/**
 * Seconds without a sweep after which the engine counts as stuck: far longer than the longest call to a partner, which
 * may delay a sweep.
 */
const LONGEST_IDLE_SECONDS = 60;
/** Milliseconds that the readiness check waits for a node, since a load balancer waits for the check. */
const VAULT_PATIENCE_MS = 1_000;

/** Starts the engine, and reports whether the service can serve. `Shutdown` stops it. */
@Injectable()
export class Lifecycle implements OnApplicationBootstrap {
  private state: 'starting' | 'running' | 'shutting down' = 'starting';

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly engine: Engine,
    private readonly vault: VaultConditions,
    private readonly ledger: LedgerWatch,
    health: HealthRegistry,
    database: Database,
    chain: ChainLink,
  ) {
    health.register(PROCESS_CHECK, () =>
      this.state === 'running' ? {} : { reason: `is ${this.state}` },
    );
    health.register('database', async () => {
      await database.query({ name: 'redemption_ready', text: 'SELECT 1' });
      return {};
    });
    health.register('chain', () => chain.check());
    health.register('vault', () => this.checkVault());
    health.register('ledger', () => this.checkLedger());
    health.register('engine', () => this.checkEngine());
  }

  onApplicationBootstrap(): void {
    this.scheduler.addInterval('engine', this.engine.start());
    this.state = 'running';
  }

  /** Makes the service not ready, while it still answers requests and its engine still works. */
  stopping(): void {
    this.state = 'shutting down';
  }

  /** A chain that does not answer is only a concern: users can still see their redemptions. */
  private async checkVault(): Promise<CheckResult> {
    const { faults, concerns } = await withTimeout(VAULT_PATIENCE_MS, this.vault.report(), () => ({
      faults: [],
      concerns: ['RPC_URLS: no endpoint tells of the vault in time.'],
    }));
    return {
      ...(faults.length > 0 && { reason: faults.join(' ') }),
      details: { concerns: concerns.length === 0 ? null : concerns.join(' ') },
    };
  }

  /** Users still see their redemptions, as with a vault that pays nothing. */
  private async checkLedger(): Promise<CheckResult> {
    const unnoted = await this.ledger.unnoted();
    return unnoted === undefined ? {} : { reason: new RestoreNotNotedError().message };
  }

  private checkEngine(): CheckResult {
    const idleSeconds = Math.round(this.engine.idleSeconds);
    return {
      ...(idleSeconds > LONGEST_IDLE_SECONDS && {
        reason: `has not looked for work for ${idleSeconds} s`,
      }),
      details: { idleSeconds },
    };
  }
}

/** Before the database closes, the engine ends its calls and gives back its leases. */
@Injectable()
export class Shutdown extends HttpShutdown {
  constructor(
    host: HttpAdapterHost,
    health: HealthRegistry,
    lifecycle: Lifecycle,
    engine: Engine,
    payouts: VoucherPayout,
    { opened }: Connections,
  ) {
    super({
      host,
      stopping: () => {
        lifecycle.stopping();
      },
      health,
      opened: [{ close: () => engine.stop() }, payouts, ...opened],
    });
  }
}
