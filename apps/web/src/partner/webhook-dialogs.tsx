import { Button, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../desk/dialog';
import { consoleApi, dataOf } from '../api/console-client';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { texts } from './texts';
import { type Webhook } from './webhook-form';
import { webhookTexts as words } from './webhook-texts';

/** A secret that was made; the one of before signs until `goodUntil`. */
export interface MadeSecret {
  readonly secret: string;
  readonly goodUntil?: string;
}

interface ActionProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Pauses it, or lets it go on. */
export function WebhookPause({ webhook: { id, url, pausedAt }, onClose, onDone }: ActionProps) {
  const paused = pausedAt === null;
  const pause = useMutation({
    mutationFn: () =>
      consoleApi.POST('/api/partner/webhooks/{id}/pause', {
        ...{ params: { path: { id } }, body: { paused } },
      }),
    onSuccess: onDone,
  });
  return (
    <ConfirmDialog
      title={paused ? words.pause : words.resume}
      consequence={paused ? words.pausing(url) : words.resuming(url)}
      isPending={pause.isPending}
      problem={pause.error}
      onConfirm={() => {
        pause.mutate();
      }}
      onClose={onClose}
    />
  );
}

export function WebhookTest({ webhook: { id, url }, onClose, onDone }: ActionProps) {
  const test = useMutation({
    mutationFn: () =>
      consoleApi.POST('/api/partner/webhooks/{id}/test', { params: { path: { id } } }),
    onSuccess: onDone,
  });
  return (
    <ConfirmDialog
      title={words.test}
      consequence={words.testing(url)}
      isPending={test.isPending}
      problem={test.error}
      onConfirm={() => {
        test.mutate();
      }}
      onClose={onClose}
    />
  );
}

export function WebhookRemoval({ webhook: { id, url }, onClose, onDone }: ActionProps) {
  const remove = useMutation({
    mutationFn: () =>
      consoleApi.POST('/api/partner/webhooks/{id}/remove', { params: { path: { id } } }),
    onSuccess: onDone,
  });
  return (
    <ConfirmDialog
      title={words.remove}
      consequence={words.removing(url)}
      isPending={remove.isPending}
      problem={remove.error}
      onConfirm={() => {
        remove.mutate();
      }}
      onClose={onClose}
    />
  );
}

interface RotationProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onMade: (made: MadeSecret) => void;
}

export function WebhookRotation({ webhook: { id }, onClose, onMade }: RotationProps) {
  const [hours, setHours] = useState('24');
  const rotate = useMutation({
    mutationFn: () => {
      const body = { overlapHours: Number(hours) };
      const params = { path: { id } };
      return dataOf(consoleApi.POST('/api/partner/webhooks/{id}/rotate', { params, body }));
    },
    // The secret is in the page only, and in no cache.
    gcTime: 0,
    onSuccess: onMade,
  });
  return (
    <ConfirmDialog
      title={words.rotate}
      consequence={words.rotating}
      isPending={rotate.isPending}
      problem={rotate.error}
      onConfirm={() => {
        rotate.mutate();
      }}
      onClose={onClose}
    >
      <Select
        label={words.overlap}
        data={texts.credentials.overlaps}
        value={hours}
        allowDeselect={false}
        onChange={(chosen) => {
          if (chosen !== null) setHours(chosen);
        }}
      />
    </ConfirmDialog>
  );
}

interface SecretProps {
  readonly made: MadeSecret;
  readonly onStored: () => void;
}

/** Closed by its button only: what is in it is nowhere else. */
export function SecretOnce({ made: { secret, goodUntil }, onStored }: SecretProps) {
  return (
    <Dialog
      onClose={onStored}
      title={words.issued}
      size="lg"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Text>{words.store}</Text>
        <Bytes label={words.secret}>{secret}</Bytes>
        {goodUntil !== undefined && (
          <Text>
            {words.goodUntil} <When at={goodUntil} />
          </Text>
        )}
        <Button onClick={onStored}>{words.stored}</Button>
      </Stack>
    </Dialog>
  );
}
