import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { Dialog } from '../../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { ApiProblem } from '../../api/api-problem';
import { Problem } from '../../shared/loaded';
import { ReasonField } from '../approvals/second-operator';
import { deskTexts } from '../desk-texts';
import { texts } from '../texts';
import { useHasSecondOperator, usePartnerConsequences } from '../operator';
import { namedField } from './named-field';
import { CAPABILITIES, changeOf, formOf, onlyCutsBudget, type TermsForm } from './terms-form';

interface TermsDialogProps {
  readonly partner: ConsoleBody<'PartnerDetails'>;
  readonly onDone: (result: ConsoleBody<'ActionResult'>) => void;
  readonly onClose: () => void;
}

const words = deskTexts.partner;
const TERMS = ['rate', 'burst', 'stakeSet'] as const;
const TEXTS = [
  'url',
  'key',
  'usdPerPoint',
  'bonusFrom',
  'bonusRate',
  'minPoints',
  'maxPoints',
  'dailyTokenBudget',
] as const;

const { confirms: confirm, ...labels } = words.callback;
const LABELS = {
  rate: words.rate,
  burst: words.burst,
  stakeSet: words.stakeSet,
  ...labels,
  confirm,
  reason: texts.approvals.reason,
};

/** Edits a partner's terms and sends only the changed ones. */
export function TermsDialog({ partner, onDone, onClose }: TermsDialogProps) {
  const consequenceOf = usePartnerConsequences(partner.id);
  const [before] = useState(() => formOf(partner));
  const [form, setForm] = useState<TermsForm>(before);
  const put = (change: Partial<TermsForm>): void => setForm({ ...form, ...change });
  const [reason, setReason] = useState('');
  const change = changeOf(before, form);
  const isCallback = useHasSecondOperator() && change.callback !== undefined;
  const isCut = isCallback && onlyCutsBudget(before, change);
  const needsReason = isCallback && !isCut;
  const save = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/settings', {
          params: { path: { partner: partner.id } },
          body: { ...change, ...(needsReason && reason !== '' && { reason }) },
        }),
      ),
    onSuccess: async (result) => {
      onDone(result);
      await refresh('operate');
      onClose();
    },
  });
  const refused = save.error instanceof ApiProblem ? namedField(save.error.message, LABELS) : null;
  const errorOf = (name: keyof typeof LABELS): string | null =>
    refused?.field === name ? refused.message : null;
  return (
    <Dialog onClose={onClose} title={words.terms} size="lg" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm">
          <Text>{consequenceOf('partner set')}</Text>
          {TERMS.map((name) => (
            <TextInput
              key={name}
              label={words[name]}
              error={errorOf(name)}
              value={form[name]}
              onChange={({ currentTarget: { value } }) => put({ [name]: value })}
            />
          ))}
          {TEXTS.map((name) => (
            <TextInput
              key={name}
              label={words.callback[name]}
              error={errorOf(name)}
              placeholder={name === 'key' ? (partner.callback?.keyPrefix ?? '') : ''}
              autoComplete="off"
              value={form[name]}
              onChange={({ currentTarget: { value } }) => put({ [name]: value })}
            />
          ))}
          <Text size="sm">{words.callback.orNone}</Text>
          <PasswordInput
            label={words.callback.secret}
            description={words.callback.secretHint}
            autoComplete="new-password"
            error={errorOf('secret')}
            value={form.secret}
            onChange={({ currentTarget: { value } }) => put({ secret: value })}
          />
          <MultiSelect
            label={words.callback.capabilities}
            data={[...CAPABILITIES]}
            value={[...form.capabilities]}
            onChange={(chosen) =>
              put({ capabilities: CAPABILITIES.filter((one) => chosen.includes(one)) })
            }
          />
          <Checkbox
            label={words.callback.confirms}
            checked={form.confirm}
            onChange={({ currentTarget: { checked } }) => put({ confirm: checked })}
          />
          <Checkbox
            label={words.callback.allowPrivate}
            checked={form.allowPrivate}
            onChange={({ currentTarget: { checked } }) => put({ allowPrivate: checked })}
          />
          {isCut && <Text size="sm">{words.cutAtOnce}</Text>}
          {needsReason && (
            <ReasonField value={reason} onChange={setReason} error={errorOf('reason')} />
          )}
          {save.isError && <Problem problem={refused?.message ?? save.error} />}
          <Group justify="end">
            <Button variant="default" onClick={onClose}>
              {deskTexts.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
