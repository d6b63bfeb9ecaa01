import { useMutation } from '@tanstack/react-query';
import { consoleApi, dataOf } from '../api/console-client';
import { forms } from '../api/console-forms.generated';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { RotationDialog, SecretDialog } from './secret-dialogs';
import { type Webhook } from './queries';
import { webhookTexts as words } from './webhook-texts';

/** A new secret; the previous one also signs until `goodUntil`. */
export interface MadeSecret {
  readonly secret: string;
  readonly goodUntil?: string;
}

interface ConfirmationProps {
  readonly name: 'pause' | 'test' | 'remove';
  readonly webhook: Webhook;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Confirms and performs an action on a webhook. For a paused webhook, `pause` resumes it. */
export function WebhookConfirmation({ name, webhook, onClose, onDone }: ConfirmationProps) {
  const { id, url, pausedAt } = webhook;
  const params = { path: { id } };
  const paused = pausedAt === null;
  const actions = {
    pause: {
      title: paused ? words.pause : words.resume,
      consequence: paused ? words.pausing(url) : words.resuming(url),
      act: () => consoleApi.POST('/api/partner/webhooks/{id}/pause', { params, body: { paused } }),
    },
    test: {
      title: words.test,
      consequence: words.testing(url),
      act: () => consoleApi.POST('/api/partner/webhooks/{id}/test', { params }),
    },
    remove: {
      title: words.remove,
      consequence: words.removing(url),
      act: () => consoleApi.POST('/api/partner/webhooks/{id}/remove', { params }),
    },
  };
  const { title, consequence, act } = actions[name];
  const action = useMutation({ mutationFn: (): Promise<unknown> => act(), onSuccess: onDone });
  return (
    <ConfirmDialog title={title} consequence={consequence} action={action} onClose={onClose} />
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
      overlapLabel={forms.RotateWebhook.properties.overlapHours.title}
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
