import { Button, Group } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { refresh } from '../api/query-client';
import { PageLink } from '../shared/page-link';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { PageTitle } from '../desk/page-title';
import { type Column, KeyedTable } from '../shared/keyed-table';
import { Loaded, Problem } from '../shared/loaded';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { When } from '../shared/when';
import { showColumn, useChoice } from './filters';
import { texts } from './texts';
import { useWebhooks, type Webhook, WEBHOOKS_KEY } from './queries';
import { WebhookEvent } from './webhook-event';
import { WebhookReplay } from './webhook-replay';
import { webhookTexts as words } from './webhook-texts';

type Logged = ConsoleBody<'WebhookEvent'>;
type State = Logged['state'];

const STATES: readonly State[] = ['waiting', 'delivered', 'given-up'];
const TONES: Readonly<Record<State, Tone>> = {
  waiting: 'busy',
  delivered: 'good',
  'given-up': 'bad',
};

const COLUMNS: readonly Column<Logged>[] = [
  { header: texts.common.time, cell: ({ createdAt }) => <When at={createdAt} /> },
  { header: words.type, cell: ({ type }) => type },
  { header: texts.common.wallet, cell: ({ walletAddress }) => <code>{walletAddress ?? '–'}</code> },
  {
    header: words.state,
    cell: ({ state }) => <StatusBadge tone={TONES[state]}>{words.states[state]}</StatusBadge>,
  },
  { header: words.attempts, isNumber: true, cell: ({ attempts }) => attempts },
  {
    header: words.verdict,
    cell: ({ lastStatus, lastError }) => (
      <span className="text-of-others">{lastStatus ?? lastError ?? '–'}</span>
    ),
  },
];

export function WebhookLogPage() {
  const { webhook: id = '' } = useParams({ strict: false });
  const webhooks = useWebhooks();
  return (
    <>
      <PageLink to="/partner/webhooks">{words.back}</PageLink>
      <Loaded query={webhooks}>
        {(all) => {
          const webhook = all.find((one) => one.id === id);
          return webhook === undefined ? (
            <>
              <PageTitle>{texts.nav.webhooks}</PageTitle>
              <Problem problem={words.unknown} />
            </>
          ) : (
            <Log webhook={webhook} />
          );
        }}
      </Loaded>
    </>
  );
}

function Log({ webhook: { id, url } }: { readonly webhook: Webhook }) {
  const state = useChoice({
    ...{ label: words.state, values: STATES },
    nameOf: (value) => words.states[value],
  });
  const [shown, setShown] = useState<string>();
  const [isReplaying, setReplaying] = useState(false);
  const replayed = () => void refresh(...WEBHOOKS_KEY, id);
  const filters = state.chosen === undefined ? {} : { state: state.chosen };
  return (
    <>
      <PageTitle>{url}</PageTitle>
      <Group align="end" mb="md">
        {state.input}
        <Button variant="default" onClick={() => setReplaying(true)}>
          {words.replayAll}
        </Button>
      </Group>
      <KeyedTable
        caption={words.events}
        queryKey={[...WEBHOOKS_KEY, id, 'events', filters]}
        load={async (before, signal) => {
          const query = { ...filters, ...(before !== undefined && { before }) };
          const params = { path: { id }, query };
          const page = await dataOf(
            consoleApi.GET('/api/partner/webhooks/{id}/events', { params, signal }),
          );
          return { items: page.events, next: page.next };
        }}
        rowKey={(one) => one.id}
        empty={words.noEvents}
        columns={[...COLUMNS, showColumn(setShown)]}
      />
      {shown !== undefined && (
        <WebhookEvent
          webhook={id}
          event={shown}
          onReplayed={replayed}
          onClose={() => setShown(undefined)}
        />
      )}
      {isReplaying && (
        <WebhookReplay webhook={id} onReplayed={replayed} onClose={() => setReplaying(false)} />
      )}
    </>
  );
}
