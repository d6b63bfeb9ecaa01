import {
  callsInAll,
  COMPUTE_UNITS,
  providerOf,
  type RpcPool,
  type SyncCalls,
  unitsFor,
  type VerificationMode,
} from '#libs/chain';

/**
 * The shortest duration that the budgets allow; 0 where endpoints without a budget can do all the work. In the mode
 * `two`, each range is read from two providers, so that one provider does half of the work at most.
 */
export function secondsWithin(
  { endpoints, budgets }: Pick<RpcPool, 'endpoints' | 'budgets'>,
  calls: SyncCalls,
  mode: VerificationMode,
): number {
  // The part of the work that each provider can do in a second.
  const speeds = new Map<string, number>();
  for (const [place, endpoint] of endpoints.entries()) {
    const provider = providerOf(endpoint);
    const speed = 1 / secondsAlone(budgets[place], calls);
    speeds.set(provider, (speeds.get(provider) ?? 0) + speed);
  }
  const [fastest = 0, ...others] = [...speeds.values()].sort((a, b) => b - a);
  const speedOfOthers = others.reduce((sum, speed) => sum + speed, 0);
  const together = 1 / (fastest + speedOfOthers);
  return mode === 'two' ? Math.max(together, 0.5 / speedOfOthers) : together;
}

function secondsAlone(budget: RpcPool['budgets'][number], calls: SyncCalls): number {
  if (budget === undefined) return 0;
  const isByCalls = budget.unit === 'calls';
  const needed = isByCalls ? callsInAll(calls) : unitsFor(calls, COMPUTE_UNITS.perCall);
  return needed / budget.perSecond;
}
