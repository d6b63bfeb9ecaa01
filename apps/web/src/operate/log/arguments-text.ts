/** The arguments of a command as one line. Pure. */

type Values = Readonly<Record<string, unknown>>;

/** `dailyTokenBudget: 250000 → 300000`: the value that a change has replaced stands before the new one. */
export function argumentsText({ before, ...given }: Values): string {
  const old = (typeof before === 'object' ? before : null) as Values | null;
  const texts = Object.entries(given).map(([name, value]) => {
    const replaced = old !== null && Object.hasOwn(old, name) ? `${textOf(old[name])} → ` : '';
    return `${name}: ${replaced}${textOf(value)}`;
  });
  const others = Object.entries(old ?? {}).filter(([name]) => !Object.hasOwn(given, name));
  return [...texts, ...others.map(([name, value]) => `${name} before: ${textOf(value)}`)].join(
    ', ',
  );
}

function textOf(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
