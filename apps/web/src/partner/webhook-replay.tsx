import { Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../desk/dialog';
import { consoleApi, dataOf } from '../api/console-client';
import { forms } from '../api/console-forms.generated';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { isOfField, OperationFields } from '../desk/operation-fields';
import { changesOf, fieldsOf, initialValues, isReady } from '../desk/operation-form';
import { texts } from './texts';
import { webhookTexts as words } from './webhook-texts';

/** One event is sent again where it is shown. */
const FIELDS = fieldsOf(forms.ReplayWebhook)
  .filter(({ name }) => name !== 'event')
  .map((field) => ({ ...field, isRequired: true }));

interface WebhookReplayProps {
  readonly webhook: string;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

export function WebhookReplay({ webhook, onReplayed, onClose }: WebhookReplayProps) {
  const [values, setValues] = useState(() => initialValues(FIELDS));
  const replay = useMutation({
    mutationFn: () => {
      const body = changesOf(FIELDS, {}, values);
      const params = { path: { id: webhook } };
      return dataOf(consoleApi.POST('/api/partner/webhooks/{id}/replay', { params, body }));
    },
    onSuccess: onReplayed,
  });
  if (replay.data !== undefined) {
    return (
      <Dialog onClose={onClose} title={words.replayAll} centered withCloseButton={false}>
        <Stack>
          <Text role="status">{words.replayed(replay.data.events)}</Text>
          <Button onClick={onClose}>{texts.common.close}</Button>
        </Stack>
      </Dialog>
    );
  }
  const { error, isPending, mutate } = replay;
  return (
    <ConfirmDialog
      title={words.replayAll}
      consequence={words.replayingAll}
      isReady={isReady(FIELDS, values)}
      action={{ error: isOfField(FIELDS, error) ? null : error, isPending, mutate }}
      onClose={onClose}
    >
      <OperationFields fields={FIELDS} values={values} onChange={setValues} error={error} />
    </ConfirmDialog>
  );
}
