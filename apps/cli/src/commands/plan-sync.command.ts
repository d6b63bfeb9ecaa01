import { PRICE_LISTS, RpcPool, unitsFor } from '#libs/chain';
import { command } from '../command.js';
import { JSON_LINE, option } from '../options.js';
import { tellingWhile } from '../output/progress.js';
import { planSync } from '../plan/plan-sync.js';
import { planText } from '../plan/plan-text.js';
import { PlanSettings } from '../staking.settings.js';

const TIMEOUT_MS = 15_000;

/** What a first sync, or the rest of one, will cost; asks the chain some twenty questions and changes nothing. */
export const planSyncCommand = command({
  name: 'plan-sync',
  description: 'say what a sync will read and cost before it is begun: calls, units, time',
  options: [option('--anew', 'as if nothing was indexed yet: for a reindexing'), JSON_LINE],
  note: '\nWith the settings of the indexer. With DATABASE_URL and an index there, only what is missing is counted.',
  settings: PlanSettings,
  async action(call, { anew = false }: { readonly anew?: boolean }) {
    const { settings, clock } = call;
    const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
    const plan = await tellingWhile(call.terminal, (onProgress) =>
      planSync(pool, settings, { anew, onProgress }),
    );
    const units = PRICE_LISTS.map(({ name, perCall }) => [name, unitsFor(plan.calls, perCall)]);
    call.print({ ...plan, units: Object.fromEntries(units) as object }, planText(plan));
  },
});
