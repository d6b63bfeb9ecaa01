import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { formatPoints, parsePoints } from '../../format/amount';
import { useTexts } from '../../texts/texts-context';
import { type Partner } from '../config';
import { useProblemText } from '../problem-text';
import { useLimits, useQuote } from './partner-queries';
import { beginClick } from './pending-clicks';
import { QuoteView } from './quote-view';
import { type RedeemClick } from './redeem-click';

interface RedeemFormProps {
  readonly partner: Partner;
  readonly wallet: string;
  readonly balance: number;
  readonly click: RedeemClick;
}

const TYPING_MS = 300;

/** How many points, what they come to, and the one click that redeems them. */
export function RedeemForm({ partner, wallet, balance, click }: RedeemFormProps) {
  const { texts, locale } = useTexts();
  const { form: words } = texts.redeem;
  const client = useQueryClient();
  const [text, setText] = useState('');
  const [typed] = useDebouncedValue(text, TYPING_MS);
  const limits = useLimits(partner.id);
  const points = parsePoints(text);
  const asked = parsePoints(typed);
  const quote = useQuote(partner.id, asked);
  const most = Math.min(balance, limits.data?.maxPoints ?? balance);
  // What stands on the page is what is redeemed: a quote for other points is none.
  const shown = quote.data?.points === points ? quote.data : undefined;
  const canSubmit = shown?.amount != null && shown.refusal === null && !tooMany(points, balance);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (shown?.amount == null || !canSubmit || click.pending !== undefined) return;
    click.clearRefusal();
    beginClick({ wallet, partner: partner.id, points: shown.points, minAmount: shown.amount });
    // A price that has moved shows its new figure at once.
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
              onClick={() => {
                setText(formatPoints(most, locale));
              }}
            >
              {words.all(formatPoints(most, locale))}
            </Button>
          </Group>
        )}
        {points !== undefined && !tooMany(points, balance) && (
          <QuoteView quote={shown} error={quote.error} />
        )}
        <Button type="submit" size="md" disabled={!canSubmit} loading={click.pending !== undefined}>
          {points === undefined ? words.submitEmpty : words.submit(formatPoints(points, locale))}
        </Button>
        <ClickState click={click} />
      </Stack>
    </form>
  );

  function rangeText(): string | undefined {
    const { minPoints, maxPoints } = limits.data ?? {};
    if (minPoints === undefined || maxPoints === undefined || maxPoints === 0) return undefined;
    return words.range(formatPoints(minPoints, locale), formatPoints(maxPoints, locale));
  }

  function errorText(): string | undefined {
    if (text.trim() === '') return undefined;
    if (points === undefined) return words.notANumber;
    return tooMany(points, balance) ? texts.redeem.refusals.INSUFFICIENT_POINTS : undefined;
  }
}

function tooMany(points: number | undefined, balance: number): boolean {
  return points !== undefined && points > balance;
}

function ClickState({ click }: { readonly click: RedeemClick }) {
  const { form: words } = useTexts().texts.redeem;
  const problemText = useProblemText();
  return (
    <>
      <Text size="sm" role="status" aria-live="polite">
        {click.pending !== undefined && (click.isWaiting ? words.waiting : words.submitting)}
      </Text>
      {click.refusal !== undefined && (
        <Alert color="yellow" role="alert">
          {problemText(click.refusal)}
        </Alert>
      )}
    </>
  );
}
