import { Button, Group, List, Text } from '@mantine/core';
import { useState } from 'react';
import { type ConsoleBody } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { ActionOutcome } from '../approvals/second-operator';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { useIsAdmin } from '../operator';
import { TermsDialog } from './terms-dialog';

type Partner = ConsoleBody<'PartnerDetails'>;

const words = deskTexts.partner;

/** The partner's rate limits, callback and terms for redemptions. */
export function Terms({ partner }: { readonly partner: Partner }) {
  const [isEditing, setIsEditing] = useState(false);
  const [result, setResult] = useState<ConsoleBody<'ActionResult'>>();
  const isAdmin = useIsAdmin();
  const { rate, burst, stakeSet, callback } = partner;
  return (
    <Card title={words.terms}>
      {result !== undefined && <ActionOutcome result={result} />}
      <Fact name={words.rate}>
        <Amount value={String(rate)} />
      </Fact>
      <Fact name={words.burst}>
        <Amount value={String(burst)} />
      </Fact>
      <Fact name={words.stakeSet}>{stakeSet}</Fact>
      {callback === null ? <Text>{words.noCallback}</Text> : <CallbackFacts callback={callback} />}
      {isAdmin && (
        <Group mt="sm">
          <Button variant="default" onClick={() => setIsEditing(true)}>
            {words.edit}
          </Button>
        </Group>
      )}
      {isEditing && (
        <TermsDialog partner={partner} onDone={setResult} onClose={() => setIsEditing(false)} />
      )}
    </Card>
  );
}

function CallbackFacts({ callback }: { readonly callback: NonNullable<Partner['callback']> }) {
  const amounts = [
    'usdPerPoint',
    'bonusFrom',
    'bonusRate',
    'minPoints',
    'maxPoints',
    'dailyTokenBudget',
  ] as const;
  return (
    <>
      <Fact name={words.callback.url}>{callback.url}</Fact>
      <Fact name={words.callback.key}>{callback.keyPrefix}</Fact>
      <Fact name={words.callback.secret}>{words.callback.secretSet}</Fact>
      {amounts.map((name) => {
        const value = callback[name];
        return (
          <Fact key={name} name={words.callback[name]}>
            {value === null ? deskTexts.none : <Amount value={value} />}
          </Fact>
        );
      })}
      <Fact name={words.callback.confirms}>{callback.confirms ? words.yes : words.no}</Fact>
      <Fact name={words.callback.capabilities}>
        {callback.capabilities.length === 0 ? deskTexts.none : callback.capabilities.join(', ')}
      </Fact>
      <List size="sm">
        {callback.notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </>
  );
}
