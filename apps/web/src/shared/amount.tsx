import { Text, type TextProps } from '@mantine/core';
import { formatDecimal } from '../format/amount';
import { useTexts } from '../texts/texts-context';

interface AmountProps extends TextProps {
  /** A decimal number as the server has it, exact: `1234.5`, `-3`. */
  readonly value: string;
  /** Of what: `USD`, the token's symbol. */
  readonly unit?: string | undefined;
  /** Digits after the point that are shown; the rest is in the title. Default: all. */
  readonly maxFraction?: number;
}

/** An exact amount: digits in groups as the reader has them, never a floating-point number. */
export function Amount({ value, unit, maxFraction, ...style }: AmountProps) {
  const exact = unit === undefined ? value : `${value} ${unit}`;
  const { locale } = useTexts();
  const shown = formatDecimal(value, { locale, ...(maxFraction !== undefined && { maxFraction }) });
  return (
    <Text span inherit {...style} title={exact} className="amount">
      {unit === undefined ? shown : `${shown} ${unit}`}
    </Text>
  );
}
