import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { forms } from '../api/console-forms.generated';
import { refresh } from '../api/query-client';
import { PageLink } from '../shared/page-link';
import { PageTitle } from '../desk/page-title';
import { Rows } from '../shared/keyed-table';
import { Empty, Loaded, Skeletons } from '../shared/loaded';
import { StatusBadge } from '../shared/status-badge';
import { When } from '../shared/when';
import { texts } from './texts';
import { useWebhooks, type Webhook, WEBHOOKS_KEY } from './queries';
import {
  type MadeSecret,
  WebhookConfirmation,
  WebhookRotation,
  WebhookSecret,
} from './webhook-dialogs';
import { WebhookDialog } from './webhook-form-dialog';
import { webhookTexts as words } from './webhook-texts';

const labels = forms.AddWebhook.properties;

type ActionName = 'change' | 'pause' | 'rotate' | 'test' | 'remove';
interface Action {
  readonly name: ActionName;
  readonly webhook: Webhook;
}

export function WebhooksPage() {
  const webhooks = useWebhooks();
  const [isAdding, setAdding] = useState(false);
  const [action, setAction] = useState<Action>();
  const [made, setMade] = useState<MadeSecret>();
  const close = () => {
    setAdding(false);
    setAction(undefined);
  };
  const changed = (secret?: MadeSecret) => {
    close();
    if (secret !== undefined) setMade(secret);
    void refresh(...WEBHOOKS_KEY);
  };
  const add = <Button onClick={() => setAdding(true)}>{words.add}</Button>;
  return (
    <>
      <PageTitle actions={add}>{texts.nav.webhooks}</PageTitle>
      <Loaded query={webhooks} skeleton={<Skeletons lines={8} height={28} />}>
        {(found) =>
          found.length === 0 ? (
            <Empty>{words.empty}</Empty>
          ) : (
            <Webhooks webhooks={found} onChoose={setAction} />
          )
        }
      </Loaded>
      {isAdding && <WebhookDialog onClose={close} onSaved={changed} />}
      {action !== undefined && <ActionDialog {...action} onClose={close} onChanged={changed} />}
      {made !== undefined && <WebhookSecret made={made} onStored={() => setMade(undefined)} />}
    </>
  );
}

interface ActionDialogProps extends Action {
  readonly onClose: () => void;
  readonly onChanged: (secret?: MadeSecret) => void;
}

function ActionDialog({ name, webhook, onClose, onChanged }: ActionDialogProps) {
  const onDone = () => onChanged();
  const props = { webhook, onClose };
  if (name === 'change') return <WebhookDialog {...props} onSaved={onDone} />;
  if (name === 'rotate') return <WebhookRotation {...props} onMade={onChanged} />;
  return <WebhookConfirmation {...props} name={name} onDone={onDone} />;
}

interface WebhooksProps {
  readonly webhooks: readonly Webhook[];
  readonly onChoose: (action: Action) => void;
}

function Webhooks({ webhooks, onChoose }: WebhooksProps) {
  return (
    <Rows
      caption={texts.nav.webhooks}
      items={webhooks}
      rowKey={({ id }) => id}
      columns={[
        {
          header: labels.url.title,
          cell: ({ id, url }) => (
            <PageLink
              to="/partner/webhooks/$webhook"
              params={{ webhook: id }}
              className="text-of-others"
            >
              {url}
            </PageLink>
          ),
        },
        { header: labels.topics.title, cell: ({ topics }) => topics.join(', ') },
        { header: texts.common.status, cell: (one) => <Standing webhook={one} /> },
        {
          header: words.delivered,
          cell: ({ lastDeliveredAt }) => <When at={lastDeliveredAt} none={texts.common.never} />,
        },
        {
          header: words.more,
          isAction: true,
          cell: (webhook) => <Actions webhook={webhook} onChoose={onChoose} />,
        },
      ]}
    />
  );
}

function Standing({
  webhook: { pausedAt, pausedBecause, waiting, isFailing },
}: {
  readonly webhook: Webhook;
}) {
  const paused = pausedBecause === 'gone' ? words.gone : words.paused;
  return (
    <>
      {pausedAt !== null && <StatusBadge tone="warning">{paused}</StatusBadge>}
      {pausedAt === null && (
        <StatusBadge tone={isFailing ? 'bad' : 'good'}>
          {isFailing ? words.failing : words.works}
        </StatusBadge>
      )}
      {waiting > 0 && <Text size="sm">{words.waiting(waiting)}</Text>}
    </>
  );
}

interface ActionsProps {
  readonly webhook: Webhook;
  readonly onChoose: (action: Action) => void;
}

function Actions({ webhook, onChoose }: ActionsProps) {
  const names: readonly (readonly [ActionName, string])[] = [
    ['test', words.test],
    ['change', words.change],
    ['pause', webhook.pausedAt === null ? words.pause : words.resume],
    ['rotate', words.rotate],
    ['remove', words.remove],
  ];
  return (
    <Group gap="xs">
      {names.map(([name, label]) => (
        <Button
          key={name}
          size="compact-sm"
          variant="default"
          onClick={() => onChoose({ name, webhook })}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}
