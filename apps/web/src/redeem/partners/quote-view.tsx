import { Alert, Skeleton, Stack, Text } from '@mantine/core';
import { serverNowMs } from '../../api/server-clock';
import { formatPercent, formatUsd } from '../../format/amount';
import { formatTime } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { type Quote } from '../config';
import { useTokenText } from '../config-context';
import { problemText, useProblemText } from '../problem-text';

/** The worth of the points, its validity, and the reason why a redemption would be refused. */
export function QuoteView({
  quote,
  problem,
}: {
  readonly quote: Quote | undefined;
  /** Why there is no quote; null while it is loading. */
  readonly problem: unknown;
}) {
  const { texts, locale } = useTexts();
  const words = texts.redeem.form;
  const tokenText = useTokenText();
  const usdText = useUsdText();
  const thrownText = useProblemText();
  if (quote === undefined && problem !== null) {
    return (
      <Alert color="yellow" role="alert">
        {thrownText(problem)}
      </Alert>
    );
  }
  if (quote === undefined) return <Skeleton height={48} />;
  const { amount, usdValue, priceUsd, bonusRate, validUntil, refusal } = quote;
  return (
    <Stack gap={4} role="status" aria-live="polite">
      {amount !== null && (
        <>
          <Text>
            {words.youGet}{' '}
            <Text span fw={700} size="lg">
              {tokenText(amount)}
            </Text>{' '}
            {bonusRate !== null && words.bonusIncluded(formatPercent(bonusRate, locale))}
          </Text>
          <Text size="sm" c="dimmed">
            {usdValue !== null && usdText(usdValue, bonusRate)}
            {priceUsd !== null && `, ${words.price(formatUsd(priceUsd, locale, 8))}`}
          </Text>
          {validUntil !== null && (
            <Text size="sm" c="dimmed">
              {words.quoteEnds(formatTime(validUntil, locale, serverNowMs()))}
            </Text>
          )}
        </>
      )}
      {refusal !== null && <Alert color="yellow">{problemText(texts, refusal, locale)}</Alert>}
    </Stack>
  );
}

/** The worth of the points in dollars. The dollar value does not include the bonus, so the bonus is named beside it. */
export function useUsdText(): (usdValue: number, bonusRate: number | null) => string {
  const { texts, locale } = useTexts();
  return (usdValue, bonusRate) => {
    const usd = formatUsd(usdValue, locale);
    if (bonusRate === null) return usd;
    return texts.redeem.form.plusBonus(usd, formatPercent(bonusRate, locale));
  };
}
