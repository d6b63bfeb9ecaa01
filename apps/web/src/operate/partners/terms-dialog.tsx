import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { refresh } from '../../api/query-client';
import { Dialog } from '../../desk/dialog';
import { Problem } from '../../shared/loaded';
import { deskTexts } from '../desk-texts';
import { OperationFields } from '../../desk/operation-fields';
import { changesOf, fieldsOf, type FormValues, initialValues } from '../../desk/operation-form';
import { useHasSecondOperator, usePartnerConsequences } from '../operator';
import { onlyCutsBudget } from './cut-budget';

interface TermsDialogProps {
  readonly partner: ConsoleBody<'PartnerDetails'>;
  readonly onDone: (result: ConsoleBody<'ActionResult'>) => void;
  readonly onClose: () => void;
}

const words = deskTexts.partner;
const FIELDS = fieldsOf(forms.SetPartner);
const TERMS = FIELDS.filter(({ name }) => name !== 'reason');

/** Edits a partner's terms and sends only the changed ones. */
export function TermsDialog({ partner, onDone, onClose }: TermsDialogProps) {
  const consequenceOf = usePartnerConsequences(partner.id);
  const { callback } = partner;
  const [before] = useState<FormValues>(() =>
    initialValues(FIELDS, {
      ...partner,
      ...callback,
      confirm: callback?.confirms ?? true,
    }),
  );
  const [form, setForm] = useState(before);
  const change: ConsoleBody<'SetPartner'> = changesOf(TERMS, before, form);
  const isCallback = useHasSecondOperator() && change.callback !== undefined;
  const isCut = isCallback && onlyCutsBudget(before, change);
  const needsReason = isCallback && !isCut;
  const fields = needsReason ? FIELDS : TERMS;
  const save = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/partners/{partner}/settings', {
          params: { path: { partner: partner.id } },
          body: changesOf(fields, before, form),
        }),
      ),
    onSuccess: async (result) => {
      onDone(result);
      await refresh('operate');
      onClose();
    },
  });
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
          <Text size="sm">{words.emptyStays}</Text>
          <OperationFields
            fields={fields}
            values={form}
            onChange={setForm}
            error={save.error}
            placeholders={{ key: callback?.keyPrefix ?? '' }}
          />
          {isCut && <Text size="sm">{words.cutAtOnce}</Text>}
          {save.isError && <Problem problem={save.error} />}
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
