import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { forms } from '../api/console-forms.generated';
import { isOfField, OperationFields } from '../desk/operation-fields';
import { changesOf, fieldsOf, initialValues, isReady } from '../desk/operation-form';
import { Problem } from '../shared/loaded';
import { texts } from './texts';
import { type Webhook } from './queries';
import { webhookTexts as words } from './webhook-texts';

const FIELDS = fieldsOf(forms.AddWebhook);

interface WebhookDialogProps {
  /** The webhook to change; absent to add one. */
  readonly webhook?: Webhook;
  readonly onClose: () => void;
  /** @param made the new webhook, where one was added */
  readonly onSaved: (made: ConsoleBody<'MadeWebhook'> | undefined) => void;
}

export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const [before] = useState(() => initialValues(FIELDS, { ...webhook }));
  const [values, setValues] = useState(before);
  const save = useMutation({
    mutationFn: () => saved(webhook, changesOf(FIELDS, before, values)),
    // Keeps the secret in the page only, and out of the query cache.
    gcTime: 0,
    onSuccess: onSaved,
  });
  const title = webhook === undefined ? words.add : words.change;
  return (
    <Dialog onClose={onClose} title={title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <OperationFields
            fields={FIELDS}
            values={values}
            onChange={setValues}
            error={save.error}
            placeholders={{ url: 'https://…' }}
          />
          {save.isError && !isOfField(FIELDS, save.error) && <Problem problem={save.error} />}
          <Group justify="end">
            <Button variant="default" onClick={onClose}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!isReady(FIELDS, values)}>
              {webhook === undefined ? words.add : words.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

async function saved(
  webhook: Webhook | undefined,
  change: ConsoleBody<'SetWebhook'>,
): Promise<ConsoleBody<'MadeWebhook'> | undefined> {
  if (webhook === undefined) {
    const body = change as ConsoleBody<'AddWebhook'>;
    return dataOf(consoleApi.POST('/api/partner/webhooks', { body }));
  }
  const path = { id: webhook.id };
  await consoleApi.POST('/api/partner/webhooks/{id}/set', { params: { path }, body: change });
  return undefined;
}
