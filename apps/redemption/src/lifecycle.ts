import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Database } from '#libs/db';
import { within } from '#libs/platform';
import { type CheckResult, HealthRegistry, HttpShutdown, PROCESS_CHECK } from '#libs/service';
import { ChainLink } from './chain/chain-link.js';
import { Connections } from './connections.module.js';
import { LiveRedemptions } from './live/live-redemptions.js';
import { VaultConditions } from './payout/vault-conditions.js';
import { VoucherPayout } from './payout/voucher-payout.js';
import { RedemptionSettings } from './redemption.env.js';
import { Engine } from './worker/engine.js';

/** Far longer than the longest call to a partner, which may keep it from looking. */
const LONGEST_IDLE_SECONDS = 60;
/** A node may take its time; a load balancer asks whether this process serves. */
const VAULT_PATIENCE_MS = 1_000;

/** Starts the engine, and says whether the service can serve. How it stops: `Shutdown`. */
@Injectable()
export class Lifecycle implements OnApplicationBootstrap {
  private state: 'starting' | 'running' | 'shutting down' = 'starting';

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly engine: Engine,
    private readonly vault: VaultConditions,
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
    health.register('engine', () => this.checkEngine());
  }

  onApplicationBootstrap(): void {
    this.scheduler.addInterval('engine', this.engine.start());
    this.state = 'running';
  }

  /** From now on not ready, though requests are still answered and the engine still works. */
  stopping(): void {
    this.state = 'shutting down';
  }

  /** A chain that does not answer is no reason not to serve: users see their redemptions meanwhile. */
  private async checkVault(): Promise<CheckResult> {
    const { faults, concerns } = await within(VAULT_PATIENCE_MS, this.vault.report(), () => ({
      faults: [],
      concerns: ['RPC_URLS: no endpoint tells of the vault in time.'],
    }));
    return {
      ...(faults.length > 0 && { reason: faults.join(' ') }),
      details: { concerns: concerns.length === 0 ? null : concerns.join(' ') },
    };
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

/** The engine's calls end and its leases go back before the database closes. */
@Injectable()
export class Shutdown extends HttpShutdown {
  constructor(
    host: HttpAdapterHost,
    { shutdownDelayMs: delayMs }: RedemptionSettings,
    lifecycle: Lifecycle,
    engine: Engine,
    payouts: VoucherPayout,
    live: LiveRedemptions,
    { opened }: Connections,
  ) {
    super({
      host,
      stopping: () => {
        lifecycle.stopping();
      },
      delayMs,
      streams: live,
      opened: [{ close: () => engine.stop() }, payouts, ...opened],
    });
  }
}
