import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../desk/dialog';
import { consoleApi, dataOf } from '../api/console-client';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { texts } from './texts';
import { webhookTexts as words } from './webhook-texts';

interface WebhookReplayProps {
  readonly webhook: string;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

export function WebhookReplay({ webhook, onReplayed, onClose }: WebhookReplayProps) {
  const [since, setSince] = useState('');
  const [delivered, setDelivered] = useState(false);
  const replay = useMutation({
    mutationFn: () => {
      const body = { since: new Date(since).toISOString(), delivered };
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
  return (
    <ConfirmDialog
      title={words.replayAll}
      consequence={words.replayingAll}
      isReady={since !== ''}
      action={replay}
      onClose={onClose}
    >
      <TextInput
        type="datetime-local"
        label={texts.common.since}
        value={since}
        onChange={({ currentTarget: { value } }) => setSince(value)}
      />
      <Checkbox
        label={words.alsoDelivered}
        checked={delivered}
        onChange={({ currentTarget: { checked } }) => setDelivered(checked)}
      />
    </ConfirmDialog>
  );
}
