import { type FormValues } from '../../desk/operation-form';

interface Change {
  readonly callback?: Readonly<Record<string, unknown>>;
}

/** Whether the change only lowers the daily budget, which needs no two-person approval. The server decides. */
export function onlyCutsBudget(before: FormValues, { callback = {} }: Change): boolean {
  const { dailyTokenBudget, ...others } = callback;
  const [now, next] = [before['dailyTokenBudget'], dailyTokenBudget].map((value) =>
    unitsOf(typeof value === 'string' ? value : ''),
  );
  const isOnly = Object.keys(others).every((name) => name === 'allowPrivate');
  return isOnly && now !== undefined && next !== undefined && next <= now;
}

const SCALE = 100;

/** A decimal number in units of 10^-100; undefined if the text is no decimal number. */
function unitsOf(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > SCALE) return undefined;
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}
