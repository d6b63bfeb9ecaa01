import { Button, Group, List, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type ConsoleBody } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { Amount } from '../../shared/amount';
import { ActionOutcome } from '../approvals/second-operator';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { fieldsOf, type FormField, isAmount } from '../../desk/operation-form';
import { useIsAdmin } from '../operator';
import { TermsDialog } from './terms-dialog';

type Partner = ConsoleBody<'PartnerDetails'>;

type Callback = NonNullable<Partner['callback']>;

const words = deskTexts.partner;
const labels = forms.SetPartner.properties;
const FIELDS = fieldsOf(labels.callback);
const TERMS = fieldsOf(forms.SetPartner).filter(({ group }) => group === undefined);

/** The partner's rate limits, callback and terms for redemptions. */
export function Terms({ partner }: { readonly partner: Partner }) {
  const [isEditing, setIsEditing] = useState(false);
  const [result, setResult] = useState<ConsoleBody<'ActionResult'>>();
  const isAdmin = useIsAdmin();
  const { callback } = partner;
  const stored: Readonly<Record<string, unknown>> = { ...partner };
  return (
    <Card title={words.terms}>
      {result !== undefined && <ActionOutcome result={result} />}
      {TERMS.filter(({ name }) => name in stored).map((field) => (
        <Fact key={field.name} name={field.label}>
          {shownValue(field, stored[field.name])}
        </Fact>
      ))}
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

/** Fields that the callback has in another form, or that only its form has. */
const SHOWN_OTHERWISE: Readonly<Record<string, (callback: Callback) => ReactNode>> = {
  key: ({ keyPrefix }) => keyPrefix,
  secret: () => words.secretSet,
  confirm: ({ confirms }) => (confirms ? words.yes : words.no),
};

function CallbackFacts({ callback }: { readonly callback: Callback }) {
  const stored: Readonly<Record<string, unknown>> = callback;
  return (
    <>
      {FIELDS.filter(({ name }) => name in SHOWN_OTHERWISE || name in stored).map((field) => (
        <Fact key={field.name} name={field.label}>
          {SHOWN_OTHERWISE[field.name]?.(callback) ?? shownValue(field, stored[field.name])}
        </Fact>
      ))}
      <List size="sm">
        {callback.notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </>
  );
}

function shownValue({ schema }: FormField, value: unknown): ReactNode {
  if (Array.isArray(value)) return value.length === 0 ? deskTexts.none : value.join(', ');
  if (typeof value === 'number') return <Amount value={String(value)} />;
  if (typeof value !== 'string') return deskTexts.none;
  return isAmount(schema) ? <Amount value={value} /> : value;
}
