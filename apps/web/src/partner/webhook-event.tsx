import { Button, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Dialog } from '../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { Loaded, Problem } from '../shared/loaded';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { texts } from './texts';
import { WEBHOOKS_KEY } from './queries';
import { webhookTexts as words } from './webhook-texts';

type Attempt = ConsoleBody<'WebhookAttempt'>;
/** Poll interval while the event waits. */
const LOOK_AGAIN_MS = 2000;

interface WebhookEventProps {
  readonly webhook: string;
  readonly event: string;
  readonly onReplayed: () => void;
  readonly onClose: () => void;
}

export function WebhookEvent({ webhook, event, onReplayed, onClose }: WebhookEventProps) {
  const query = useQuery({
    queryKey: [...WEBHOOKS_KEY, webhook, 'event', event],
    queryFn: ({ signal }) => {
      const params = { path: { id: webhook, event } };
      return dataOf(
        consoleApi.GET('/api/partner/webhooks/{id}/events/{event}', { params, signal }),
      );
    },
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? LOOK_AGAIN_MS : false),
  });
  return (
    <Dialog onClose={onClose} title={words.event} size="xl">
      <Loaded query={query}>
        {({ type, state, createdAt, payload, history }) => (
          <Stack>
            <Text>
              {type} · {words.states[state]} · <When at={createdAt} />
            </Text>
            <Bytes label="webhook-id">{event}</Bytes>
            <Bytes label={words.payload}>{payload}</Bytes>
            {state !== 'waiting' && (
              <ReplayOne webhook={webhook} event={event} onReplayed={onReplayed} />
            )}
            <Title order={2} size="h4">
              {words.attempts}
            </Title>
            {history.length === 0 && <Text>{words.noAttempts}</Text>}
            {history.map((attempt, place) => (
              // Newest first, so an attempt's key is its position counted from the oldest.
              <AttemptDetail key={history.length - place} attempt={attempt} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}

function AttemptDetail({ attempt }: { readonly attempt: Attempt }) {
  const { at, outcome, status, error, durationMs, request, answer } = attempt;
  const [asked, came] = [headersOf(request), headersOf(answer)];
  const body = answer['body'];
  return (
    <Stack gap="xs">
      <Text fw={600}>
        <When at={at} isExact /> · {words.outcomes[outcome]} · {status ?? words.noAnswer} ·{' '}
        {durationMs} ms
      </Text>
      {error !== null && <Bytes label={texts.calls.error}>{error}</Bytes>}
      {asked !== '' && <Bytes label={words.request}>{asked}</Bytes>}
      {came !== '' && <Bytes label={words.answerHeaders}>{came}</Bytes>}
      {typeof body === 'string' && body !== '' && <Bytes label={words.answerBody}>{body}</Bytes>}
    </Stack>
  );
}

function headersOf({ headers }: Attempt['request']): string {
  return Object.entries(headers ?? {})
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n');
}

function ReplayOne({ webhook, event, onReplayed }: Omit<WebhookEventProps, 'onClose'>) {
  const replay = useMutation({
    mutationFn: () => {
      const params = { path: { id: webhook } };
      return dataOf(
        consoleApi.POST('/api/partner/webhooks/{id}/replay', { params, body: { event } }),
      );
    },
    onSuccess: onReplayed,
  });
  return (
    <Stack gap="xs">
      <Text size="sm">{words.replaying}</Text>
      {replay.error !== null && <Problem problem={replay.error} />}
      <Button loading={replay.isPending} onClick={() => replay.mutate()}>
        {words.replay}
      </Button>
    </Stack>
  );
}
