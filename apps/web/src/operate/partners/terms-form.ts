import { type ConsoleBody } from '../../api/console-client';

import { plainDecimal } from '../../format/amount';

type Partner = ConsoleBody<'PartnerDetails'>;
type Change = ConsoleBody<'PartnerChangeDto'>;
type Callback = NonNullable<Change['callback']>;
type Capability = NonNullable<Callback['capabilities']>[number];

export const CAPABILITIES: readonly Capability[] = [
  'revert-by-redemption-id',
  'tombstones',
  'enforces-freshness',
  'signs-all-responses',
  'refuses-mismatched-pair',
];

/** The values of the form's fields; an empty secret or key stays unchanged. */
export interface TermsForm {
  readonly rate: string;
  readonly burst: string;
  readonly stakeSet: string;
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  readonly usdPerPoint: string;
  readonly bonusFrom: string;
  readonly bonusRate: string;
  readonly minPoints: string;
  readonly maxPoints: string;
  readonly dailyTokenBudget: string;
  readonly confirm: boolean;
  readonly capabilities: readonly Capability[];
  readonly allowPrivate: boolean;
}

export function formOf({ rate, burst, stakeSet, callback }: Partner): TermsForm {
  return {
    rate: String(rate),
    burst: String(burst),
    stakeSet,
    url: callback?.url ?? '',
    key: '',
    secret: '',
    usdPerPoint: callback?.usdPerPoint ?? '',
    bonusFrom: callback?.bonusFrom ?? '',
    bonusRate: callback?.bonusRate ?? '',
    minPoints: callback?.minPoints ?? '',
    maxPoints: callback?.maxPoints ?? '',
    dailyTokenBudget: callback?.dailyTokenBudget ?? '',
    confirm: callback?.confirms ?? true,
    capabilities: callback?.capabilities ?? [],
    allowPrivate: false,
  };
}

const TEXTS = [
  'url',
  'key',
  'secret',
  'usdPerPoint',
  'bonusFrom',
  'bonusRate',
  'minPoints',
  'maxPoints',
  'dailyTokenBudget',
] as const;

/** The changed terms only. An emptied field stays unchanged too; `none` removes a limit. */
export function changeOf(before: TermsForm, after: TermsForm): Change {
  const isChanged = (name: keyof TermsForm): boolean => before[name] !== after[name];
  const texts = TEXTS.flatMap((name) =>
    isChanged(name) && after[name].trim() !== ''
      ? [[name, plainDecimal(after[name])] as const]
      : [],
  );
  const callback: Callback = {
    ...Object.fromEntries(texts),
    ...(isChanged('confirm') && { confirm: after.confirm }),
    ...(isChanged('capabilities') && { capabilities: [...after.capabilities] }),
  };
  const hasCallback = Object.keys(callback).length > 0;
  return {
    ...(isChanged('rate') && { rate: Number(after.rate) }),
    ...(isChanged('burst') && { burst: Number(after.burst) }),
    ...(isChanged('stakeSet') && { stakeSet: after.stakeSet }),
    ...(hasCallback && {
      callback: { ...callback, ...(after.allowPrivate && { allowPrivate: true }) },
    }),
  };
}

/** Whether the change only lowers the daily budget, which needs no two-person approval. The server decides. */
export function onlyCutsBudget(before: TermsForm, { callback = {} }: Change): boolean {
  const { dailyTokenBudget, ...others } = callback;
  const [now, next] = [before.dailyTokenBudget, dailyTokenBudget ?? ''].map(unitsOf);
  const isOnly = Object.keys(others).every((name) => name === 'allowPrivate');
  return isOnly && now !== undefined && next !== undefined && next <= now;
}

const SCALE = 100;

/** A decimal number in units of 10^-100; undefined where the text is no decimal number. */
function unitsOf(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > SCALE) return undefined;
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}
