import { Text, type TextProps } from '@mantine/core';
import { formatDecimal } from '../format/amount';
import { useTexts } from '../texts/texts-context';

interface AmountProps extends TextProps {
  /** Exact decimal number from the server: `1234.5`, `-3`. */
  readonly value: string;
  /** Unit of the amount: `USD`, or the token's symbol. */
  readonly unit?: string | undefined;
  /** Shows cents. Default: if the unit is USD. */
  readonly isUsd?: boolean;
  /** Maximum number of displayed digits after the point; the title shows all. Default: 6, of US dollars 8. */
  readonly maxFraction?: number;
}

/** An exact amount, grouped by the reader's locale and never converted to a floating-point number. */
export function Amount({
  value,
  unit,
  isUsd = unit === 'USD',
  maxFraction = isUsd ? 8 : 6,
  ...style
}: AmountProps) {
  const exact = unit === undefined ? value : `${value} ${unit}`;
  const { locale } = useTexts();
  const shown = formatDecimal(value, { locale, maxFraction, minFraction: isUsd ? 2 : 0 });
  return (
    <Text span inherit {...style} title={exact} className="amount">
      {unit === undefined ? shown : `${shown} ${unit}`}
    </Text>
  );
}
