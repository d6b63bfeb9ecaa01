import { Text, type TextProps } from '@mantine/core';
import { formatDecimal } from '../format/amount';
import { useTexts } from '../texts/texts-context';

interface AmountProps extends TextProps {
  /** Exact decimal number from the server: `1234.5`, `-3`. */
  readonly value: string;
  /** Unit of the amount: `USD`, or the token's symbol. */
  readonly unit?: string | undefined;
  /** Maximum number of displayed digits after the point; the title shows all. Default: all. */
  readonly maxFraction?: number;
}

/** An exact amount, grouped by the reader's locale and never converted to a floating-point number. */
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
