import { type StakeDescription } from '../events/parse-stake-events.js';
import { type StakeViewSettings } from './stake-views.js';

type Views = Pick<StakeViewSettings, 'totalView' | 'balanceView'>;

/**
 * The views in force: what the variables say, else what STAKE_EVENTS says, else what contracts usually have. The last is not for
 * events that a filter picks: the usual figures speak of the whole contract, and cannot be compared with a part of it.
 * @param variables STAKE_TOTAL_VIEW and STAKE_BALANCE_VIEW
 */
export function resolveStakeViews(
  { isPartial, ...described }: Views & Pick<StakeDescription, 'isPartial'>,
  variables: Views,
): Views {
  const fallback = isPartial ? 'none' : undefined;
  return {
    totalView: variables.totalView ?? described.totalView ?? fallback,
    balanceView: variables.balanceView ?? described.balanceView ?? fallback,
  };
}
