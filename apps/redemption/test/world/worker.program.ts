/**
 * A worker as the service runs it: the engine with its real parts, in a process of its own that can be killed. All its
 * input, the time included, comes over the channel to its parent process, and it ends with its parent.
 */
import { RpcPool } from '#libs/chain';
import {
  CallbackStore,
  CoinStore,
  createDatabase,
  KnownVaults,
  LedgerRestoreStore,
} from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { PartnerClient } from '#libs/partner-client';
import { systemClock } from '#libs/platform';
import { createLogger, Registry } from '#libs/service';
import { EvidenceKeys, KeyRing } from '#libs/signing';
import { HighWaterMark } from '../../src/ledger/high-water-mark.js';
import { LedgerWatch } from '../../src/ledger/ledger-watch.js';
import { Alerts } from '../../src/observe/alerts.js';
import { HourlyAlerts } from '../../src/observe/hourly-alerts.js';
import { PartnerCaller, PartnerDirectory } from '../../src/partner/partners.js';
import { RedemptionSettings } from '../../src/redemption.env.js';
import { createEngine, engineHints, engineStores } from '../../src/worker/create-engine.js';
import { Dice } from './dice.js';
import { composeVouchers } from './compose-vouchers.js';
import { deliverWebhooks } from '../webhooks/deliver-webhooks.js';
import { type WorkerOrder, type WorkerSetup, type WorkerWord } from './worker-orders.js';

let nowMs: number | undefined;
const clock = { nowMs: (): number => nowMs ?? systemClock.nowMs() };

function say(word: WorkerWord): void {
  process.send?.(word);
}

async function start(setup: WorkerSetup): Promise<void> {
  ({ nowMs } = setup);
  const { databaseUrl, rpcUrls, chainId, vault, token, signerKey, cancellerKey, engine } = setup;
  const logger = createLogger({
    app: 'worker under test',
    level: 'warn',
    destination: {
      write: (line: string) => {
        say({ kind: 'log', line });
      },
    },
  });
  const dice = new Dice(setup.seed);
  const random = (): number => dice.next();
  const database = await createDatabase({
    url: databaseUrl,
    applicationName: 'worker under test',
    poolSize: setup.poolSize,
  });
  const pool = new RpcPool({ urls: rpcUrls, clock: systemClock });
  await pool.verifyChainId(chainId);
  const directory = new PartnerDirectory(
    new CallbackStore(database),
    KeyRing.parse(setup.secretsKey),
    clock,
    logger,
  );
  const { timeouts, gate = {} } = setup;
  const policy = { allowPrivate: true };
  const client = new PartnerClient({ clock, policy, random, timeouts, gate });
  const registry = new Registry();
  const alerts = new Alerts(registry, logger);
  const settings = Object.assign(new RedemptionSettings(), {
    chainId,
    vaultContract: vault,
    tokenContract: token,
    finality: 'finalized',
    voucherTtlSeconds: setup.voucherTtlSeconds,
    payoutExpiryMarginSeconds: 0,
    vaultStartBlock: 0n,
    voucherSignerKey: signerKey,
    vaultCancellerKey: cancellerKey,
    gasDailyCoin: 10n ** 18n,
    vaultCancelMinUsd: { digits: 0n, scale: 0 },
  });
  const hourly = new HourlyAlerts(alerts, clock);
  const mark = new HighWaterMark(undefined, hourly, logger);
  const ledger = new LedgerWatch(new LedgerRestoreStore(database), mark, alerts, clock, logger);
  const vouchers = composeVouchers(settings, {
    ...{ pool, ledger, alerts, clock, logger },
    vaults: new KnownVaults(database),
    coins: new CoinStore(database),
  });
  const { listens, walletDailyTokens, ...options } = engine;
  const caller = new PartnerCaller(client, alerts, registry);
  createEngine(
    {
      stores: engineStores(database, EvidenceKeys.parse(setup.evidenceKey)),
      hints: listens ? engineHints(databaseUrl) : undefined,
      directory,
      caller,
      ...vouchers,
      clock,
      logger,
      registry,
      alerts,
      ledger,
      random,
    },
    {
      ...options,
      walletDailyTokenBudget:
        walletDailyTokens === undefined ? undefined : parseDecimal(walletDailyTokens),
    },
  ).start();
  if (setup.webhooks !== undefined)
    deliverWebhooks(database, setup.secretsKey, setup.webhooks, logger);
}

process.on('message', (order: WorkerOrder) => {
  if (order.kind === 'time') {
    ({ nowMs } = order);
    say(order);
    return;
  }
  start(order.setup).then(
    () => {
      say({ kind: 'ready' });
    },
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => {
  process.exit(0);
});
