import { useMutation } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { RotationDialog, SecretDialog } from './secret-dialogs';
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
      action={pause}
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
      action={test}
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
      action={remove}
      onClose={onClose}
    />
  );
}

interface RotationProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onMade: (made: MadeSecret) => void;
}

export function WebhookRotation({ webhook: { id }, ...dialog }: RotationProps) {
  return (
    <RotationDialog
      {...dialog}
      title={words.rotate}
      consequence={words.rotating}
      overlapLabel={words.overlap}
      rotate={(overlapHours) => {
        const params = { path: { id } };
        const body = { overlapHours };
        return dataOf(consoleApi.POST('/api/partner/webhooks/{id}/rotate', { params, body }));
      }}
    />
  );
}

interface SecretProps {
  readonly made: MadeSecret;
  readonly onStored: () => void;
}

export function WebhookSecret({ made: { secret, goodUntil }, onStored }: SecretProps) {
  return (
    <SecretDialog
      title={words.issued}
      store={words.store}
      stored={words.stored}
      secrets={[{ label: words.secret, value: secret }]}
      until={goodUntil === undefined ? undefined : { label: words.goodUntil, at: goodUntil }}
      onStored={onStored}
    />
  );
}
