import { Text, type TextProps } from '@mantine/core';

interface AmountProps extends TextProps {
  /** A decimal number as the server has it, exact: `1234.5`, `-3`. */
  readonly value: string;
  /** Of what: `USD`, the token's symbol. */
  readonly unit?: string | undefined;
  /** Digits after the point that are shown; the rest is in the title. Default: all. */
  readonly maxFraction?: number;
}

/** An exact amount: digits in groups, never a floating-point number. */
export function Amount({ value, unit, maxFraction, ...style }: AmountProps) {
  const exact = unit === undefined ? value : `${value} ${unit}`;
  const shown = groupDigits(value, maxFraction);
  return (
    <Text span inherit {...style} title={exact} className="amount">
      {unit === undefined ? shown : `${shown} ${unit}`}
    </Text>
  );
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** `1234567.50` to `1 234 567.5` with thin spaces; what is beyond `maxFraction` is cut, never rounded up. What is no decimal number stays as it is. */
export function groupDigits(value: string, maxFraction?: number): string {
  const [, sign = '', whole, fraction = ''] = DECIMAL.exec(value) ?? [];
  if (whole === undefined) return value;
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, '\u202f');
  const kept = fraction.slice(0, maxFraction).replace(/0+$/, '');
  return `${sign}${grouped}${kept === '' ? '' : `.${kept}`}`;
}
