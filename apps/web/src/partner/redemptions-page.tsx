import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../api/query-client';
import { Dialog } from '../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf, getFrom } from '../api/console-client';
import { Amount } from '../shared/amount';
import { type Column, KeyedTable, Rows } from '../shared/keyed-table';
import { Loaded, Problem } from '../shared/loaded';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { CALL_COLUMNS } from './call-list';
import { showColumn, useChoice, useTimes, useWallet } from './filters';
import { PageTitle } from '../desk/page-title';
import {
  actorText,
  eventText,
  noConfirmationText,
  reasonText,
  STATE_NAMES,
  stateText,
} from './plain-words';
import { texts } from './texts';

const words = texts.redemptions;
/** Poll interval while a confirmation is being sent. */
const LOOK_AGAIN_MS = 2000;
type Redemption = ConsoleBody<'OwnRedemption'>;
type History = ConsoleBody<'OwnRedemptionHistory'>;
type State = Redemption['state'];

const TONES: Partial<Record<State, Tone>> = {
  claimed: 'good',
  reverted: 'neutral',
  failed: 'neutral',
  attention: 'warning',
};

const COLUMNS: readonly Column<Redemption>[] = [
  { header: words.created, cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    header: words.state,
    cell: ({ state, reason }) => (
      <>
        <StatusBadge tone={TONES[state] ?? 'busy'}>{stateText(state)}</StatusBadge>
        {reason !== null && <Text size="sm">{reasonText(reason)}</Text>}
      </>
    ),
  },
  { header: texts.common.wallet, cell: ({ wallet }) => <code>{wallet}</code> },
  { header: words.points, isNumber: true, cell: ({ points }) => <Amount value={points} /> },
  { header: words.tokens, isNumber: true, cell: ({ tokens }) => <Amount value={tokens} /> },
  {
    header: words.usd,
    isNumber: true,
    cell: ({ usdAmount }) => <Amount value={usdAmount} isUsd />,
  },
];

export function RedemptionsPage() {
  const times = useTimes();
  const wallet = useWallet();
  const state = useChoice({ label: words.state, values: STATE_NAMES, nameOf: stateText });
  const [shown, setShown] = useState<string>();
  const filters = {
    ...{ ...times.query, ...wallet.query },
    ...(state.chosen && { state: state.chosen }),
  };
  return (
    <>
      <PageTitle>{texts.nav.redemptions}</PageTitle>
      <Group align="end" mb="md">
        {times.input}
        {wallet.input}
        {state.input}
      </Group>
      <KeyedTable
        caption={words.caption}
        queryKey={['partner', 'redemptions', filters]}
        load={async (before, signal) => {
          const query = { ...filters, ...(before !== undefined && { before }) };
          const page = await dataOf(
            consoleApi.GET('/api/partner/redemptions', { params: { query }, signal }),
          );
          return { items: page.redemptions, next: page.next };
        }}
        rowKey={({ id }) => id}
        empty={words.empty}
        columns={[...COLUMNS, showColumn(setShown)]}
      />
      {shown !== undefined && <RedemptionDetail id={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function RedemptionDetail({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const query = useQuery({
    queryKey: ['partner', 'redemption', id],
    queryFn: (context) =>
      getFrom('/api/partner/redemptions/{id}', { params: { path: { id } } })(context),
    refetchInterval: ({ state }) =>
      state.data?.confirmation?.state === 'pending' ? LOOK_AGAIN_MS : false,
  });
  return (
    <Dialog onClose={onClose} title={words.detail} size="xl">
      <Loaded query={query}>
        {({ redemption, transitions, calls, confirmation }) => (
          <Stack>
            <Bytes label="svcRedemptionId">{id}</Bytes>
            <Terms redemption={redemption} />
            <Title order={2} size="h4">
              {words.transitions}
            </Title>
            <Rows
              caption={words.transitions}
              items={transitions}
              rowKey={({ at, to }) => at + to}
              columns={[
                { header: texts.common.time, cell: ({ at }) => <When at={at} /> },
                { header: words.state, cell: ({ to }) => stateText(to) },
                {
                  header: words.why,
                  cell: ({ event, reason }) =>
                    reason === null ? eventText(event) : reasonText(reason),
                },
                { header: words.by, cell: ({ actor }) => actorText(actor) },
              ]}
            />
            <Title order={2} size="h4">
              {words.calls}
            </Title>
            <Rows
              caption={words.calls}
              items={calls}
              rowKey={({ requestId }) => requestId}
              columns={CALL_COLUMNS}
            />
            <Confirmation
              redemption={redemption}
              confirmation={confirmation}
              sent={calls.filter(({ step }) => step === 'confirm').length}
            />
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}

function Terms({ redemption }: Pick<History, 'redemption'>) {
  const { state, reason, points, tokens, usdAmount } = redemption;
  return (
    <Text>
      {[stateText(state), ...(reason === null ? [] : [reasonText(reason)])].join(': ')}
      {' · '}
      <Amount value={points} unit={words.points.toLowerCase()} />
      {' · '}
      <Amount value={tokens} unit={words.tokens.toLowerCase()} />
      {' · '}
      <Amount value={usdAmount} unit={words.usd} />
    </Text>
  );
}

interface ConfirmationProps extends Pick<History, 'redemption' | 'confirmation'> {
  /** Number of attempts to send the confirmation, over all rounds. */
  readonly sent: number;
}

function Confirmation({ redemption: { id, state }, confirmation, sent }: ConfirmationProps) {
  const again = useMutation({
    mutationFn: () =>
      consoleApi.POST('/api/partner/redemptions/{id}/confirmation', { params: { path: { id } } }),
    onSuccess: () => refresh('partner', 'redemption', id),
  });
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {words.confirmation}
      </Title>
      {confirmation === null ? (
        <Text>{noConfirmationText(state)}</Text>
      ) : (
        <>
          <StatusBadge tone={confirmation.state === 'delivered' ? 'good' : 'busy'}>
            {`${words.confirmationStates[confirmation.state] ?? confirmation.state}, ${words.sentTimes(sent)}`}
          </StatusBadge>
          <Bytes label={words.confirmation}>{confirmation.payload}</Bytes>
          <Text size="sm">{words.consequence}</Text>
          {again.error !== null && <Problem problem={again.error} />}
          {again.isSuccess && confirmation.state === 'pending' && (
            <Text role="status">{words.sent}</Text>
          )}
          <Button loading={again.isPending} onClick={() => again.mutate()}>
            {words.again}
          </Button>
        </>
      )}
    </Stack>
  );
}
