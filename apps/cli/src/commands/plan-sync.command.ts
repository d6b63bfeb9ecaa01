import { Command } from 'commander';
import { PRICE_LISTS, RpcPool, unitsFor } from '#libs/chain';
import { readSettings } from '#libs/config';
import { type CommandContext } from '../command-context.js';
import { jsonLine } from '../output/json-line.js';
import { tellingWhile } from '../output/progress.js';
import { planSync } from '../plan/plan-sync.js';
import { planText } from '../plan/plan-text.js';
import { PlanSettings } from '../plan/plan.settings.js';

const TIMEOUT_MS = 15_000;

interface Options {
  readonly anew?: true;
  readonly json?: true;
}

/** `plan-sync`: what a first sync, or the rest of one, will cost; asks the chain some twenty questions and changes nothing. */
export function planSyncCommand({ source, terminal, clock }: CommandContext): Command {
  return new Command('plan-sync')
    .description('say what a sync will read and cost before it is begun: calls, units, time')
    .option('--anew', 'as if nothing was indexed yet: for a reindexing')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      '\nWith the settings of the indexer. With DATABASE_URL and an index there, only what is missing is counted.',
    )
    .action(async ({ anew, json }: Options) => {
      const settings = readSettings(PlanSettings, source());
      const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
      const plan = await tellingWhile(terminal, (onProgress) =>
        planSync(pool, settings, { anew: anew === true, onProgress }),
      );
      const units = PRICE_LISTS.map(({ name, perCall }) => [name, unitsFor(plan.calls, perCall)]);
      terminal.out(
        json === true
          ? jsonLine({ ...plan, units: Object.fromEntries(units) as Record<string, number> })
          : planText(plan),
      );
    });
}
