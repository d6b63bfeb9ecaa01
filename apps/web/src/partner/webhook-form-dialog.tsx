import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { Problem } from '../shared/loaded';
import { texts } from './texts';
import { formOf, TOPICS, type Webhook, type WebhookForm, wishOf } from './webhook-form';
import { webhookTexts as words } from './webhook-texts';

interface WebhookDialogProps {
  /** The webhook to change; absent to add one. */
  readonly webhook?: Webhook;
  readonly onClose: () => void;
  /** @param made the new webhook, where one was added */
  readonly onSaved: (made: ConsoleBody<'MadeWebhook'> | undefined) => void;
}

export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const [form, setForm] = useState(() => formOf(webhook));
  const [fault, setFault] = useState<string>();
  const put = (change: Partial<WebhookForm>) => {
    setForm({ ...form, ...change });
    setFault(undefined);
  };
  const save = useMutation({
    mutationFn: (body: ConsoleBody<'AddWebhook'>) => saved(webhook, body),
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
          const wish = wishOf(form);
          if ('fault' in wish) setFault(wish.fault);
          else save.mutate(wish.body);
        }}
      >
        <Stack>
          <TextInput
            label={words.url}
            description={words.urlHint}
            placeholder="https://…"
            required
            data-autofocus
            maxLength={2000}
            value={form.url}
            onChange={({ currentTarget: { value } }) => put({ url: value })}
          />
          <Topics form={form} put={put} />
          {fault !== undefined && <Problem problem={fault} />}
          {fault === undefined && save.isError && <Problem problem={save.error} />}
          <Group justify="end">
            <Button variant="default" onClick={onClose}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
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
  body: ConsoleBody<'AddWebhook'>,
): Promise<ConsoleBody<'MadeWebhook'> | undefined> {
  if (webhook === undefined) return dataOf(consoleApi.POST('/api/partner/webhooks', { body }));
  const path = { id: webhook.id };
  await consoleApi.POST('/api/partner/webhooks/{id}/set', { params: { path }, body });
  return undefined;
}

interface FieldsProps {
  readonly form: WebhookForm;
  readonly put: (change: Partial<WebhookForm>) => void;
}

function Topics({ form, put }: FieldsProps) {
  return (
    <Checkbox.Group
      label={words.topics}
      value={[...form.topics]}
      onChange={(chosen) => put({ topics: TOPICS.filter((topic) => chosen.includes(topic)) })}
    >
      <Stack gap="xs" mt="xs">
        {TOPICS.map((topic) => (
          <Checkbox key={topic} value={topic} label={topic} description={words.topicHints[topic]} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
