import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { formatPoints, parsePoints } from '../../format/amount';
import { useTexts } from '../../texts/texts-context';
import { type Partner } from '../config';
import { problemText, useProblemText } from '../problem-text';
import { type PointsOfPartner, useQuote } from './partner-queries';
import { beginClick } from './pending-clicks';
import { entryProblem, rangeOf } from './points-entry';
import { QuoteView } from './quote-view';
import { type RedeemClick } from './redeem-click';

interface RedeemFormProps {
  readonly partner: Partner;
  readonly wallet: string;
  readonly balance: number;
  readonly limits: PointsOfPartner['limits'] | undefined;
  readonly click: RedeemClick;
}

const TYPING_MS = 300;
/** Typed points by wallet and partner, which are kept while the player signs in again. */
const typedPoints = new Map<string, string>();

function useTypedPoints(key: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => typedPoints.get(key) ?? '');
  const type = (next: string): void => {
    typedPoints.set(key, next);
    setText(next);
  };
  return [text, type];
}

export function RedeemForm({ partner, wallet, balance, limits, click }: RedeemFormProps) {
  const { texts, locale } = useTexts();
  const { form: words } = texts.redeem;
  const client = useQueryClient();
  const [text, setText] = useTypedPoints(`${wallet} ${partner.id}`);
  const [typed] = useDebouncedValue(text, TYPING_MS);
  const points = parsePoints(text);
  const asked = parsePoints(typed);
  const quote = useQuote(partner.id, asked);
  const range = rangeOf(limits, balance);
  const most = Math.min(balance, limits?.maxPoints ?? balance);
  // Only the displayed quote is redeemed, so a quote for another number of points does not count.
  const shown = quote.data?.points === points ? quote.data : undefined;
  const problem = entryProblem(text, points, balance);
  const canSubmit = shown?.amount != null && shown.refusal === null && problem === undefined;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (shown?.amount == null || !canSubmit || click.pending !== undefined) return;
    click.clearRefusal();
    typedPoints.delete(`${wallet} ${partner.id}`);
    beginClick({ wallet, partner: partner.id, points: shown.points, minAmount: shown.amount });
    // Refreshes the quote, so that a changed price is visible at once.
    void client.invalidateQueries({ queryKey: ['quote', partner.id] });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <TextInput
          label={words.label}
          description={rangeText()}
          inputMode="numeric"
          autoComplete="off"
          maxLength={40}
          value={text}
          disabled={click.pending !== undefined}
          error={errorText()}
          onChange={({ currentTarget }) => {
            click.clearRefusal();
            setText(currentTarget.value);
          }}
        />
        {most > 0 && (
          <Group>
            <Button
              variant="default"
              disabled={click.pending !== undefined}
              onClick={() => setText(formatPoints(most, locale))}
            >
              {(most < balance ? words.most : words.all)(formatPoints(most, locale))}
            </Button>
          </Group>
        )}
        {points !== undefined && problem === undefined && (
          <QuoteView quote={shown} problem={problemOf(quote)} />
        )}
        <Button type="submit" size="md" disabled={!canSubmit} loading={click.pending !== undefined}>
          {submitText()}
        </Button>
        <ClickState click={click} />
      </Stack>
    </form>
  );

  function submitText(): string {
    const isRefused = problem !== undefined || (shown !== undefined && shown.refusal !== null);
    if (points === undefined || isRefused) return words.submitEmpty;
    return words.submit(formatPoints(points, locale));
  }

  function rangeText(): string | undefined {
    if (range === undefined)
      return limits?.refusal ? problemText(texts, limits.refusal, locale) : undefined;
    const min = formatPoints(range.min, locale);
    if (range.max < range.min) return words.tooFewHere(min);
    return words.range(min, formatPoints(range.max, locale));
  }

  function errorText(): string | undefined {
    switch (problem) {
      case undefined:
        return undefined;
      case 'not-a-number':
        return words.notANumber;
      case 'other-digits':
        return words.otherDigits;
      case 'too-few':
        return words.tooFew(formatPoints(limits?.minPoints ?? 1, locale));
      case 'too-many':
        return texts.redeem.refusals.INSUFFICIENT_POINTS;
    }
  }
}

/** Why there is no quote yet; null while it is loading. */
function problemOf({ failureReason, fetchStatus }: ReturnType<typeof useQuote>): unknown {
  return fetchStatus === 'paused' ? new Error('There is no connection.') : failureReason;
}

function ClickState({ click }: { readonly click: RedeemClick }) {
  const { form: words, waiting } = useTexts().texts.redeem;
  const problemText = useProblemText();
  return (
    <>
      <Text size="sm" role="status" aria-live="polite">
        {click.pending !== undefined && (click.isWaiting ? waiting : words.submitting)}
      </Text>
      {click.refusal !== undefined && (
        <Alert color="yellow" role="alert">
          {click.isRefusalOver ? words.lastTry : problemText(click.refusal)}
        </Alert>
      )}
    </>
  );
}
