import { Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../desk/dialog';
import { consoleApi, type ConsoleBody, dataOf, getFrom } from '../api/console-client';
import { type Column, KeyedTable } from '../shared/keyed-table';
import { Loaded } from '../shared/loaded';
import { StatusBadge } from '../shared/status-badge';
import { useKept } from '../shared/use-kept';
import { When } from '../shared/when';
import { Bytes, Signed } from './bytes';
import { showColumn, useChoice, useTimes, useWallet } from './filters';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';

const words = texts.requests;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
type Asked = ConsoleBody<'OwnRequest'>;

const COLUMNS: readonly Column<Asked>[] = [
  { header: texts.common.time, cell: ({ at }) => <When at={at} isExact /> },
  {
    header: texts.common.status,
    cell: ({ status, code }) => (
      <StatusBadge tone={status < 400 ? 'good' : status < 500 ? 'warning' : 'bad'}>
        {code === null ? String(status) : `${status} ${code}`}
      </StatusBadge>
    ),
  },
  {
    header: words.request,
    cell: ({ method, path, isPathCut }) => (
      <code className="text-of-others wide">{`${method} ${path}${isPathCut ? '…' : ''}`}</code>
    ),
  },
  { header: texts.credentials.key, cell: ({ keyPrefix }) => <code>{keyPrefix ?? '–'}</code> },
  { header: words.took, isNumber: true, cell: ({ durationUs }) => millis(durationUs) },
];

function millis(us: number): string {
  return `${(us / 1000).toFixed(1)} ms`;
}

export function RequestsPage() {
  const times = useTimes();
  const wallet = useWallet();
  const failed = useChoice({ label: words.answer, values: ['failed'], nameOf: () => words.failed });
  const [status, setStatus] = useKept('status', '');
  const [requestId, setRequestId] = useKept('request-id', '');
  const [shown, setShown] = useState<string>();
  const filters = {
    ...{ ...times.query, ...wallet.query, which: failed.chosen ?? ('all' as const) },
    ...(/^[1-5]\d\d$/.test(status) && { status }),
    ...(REQUEST_ID.test(requestId) && { requestId }),
  };
  return (
    <>
      <PageTitle>{texts.nav.requests}</PageTitle>
      <Text mb="md">{words.intro}</Text>
      <Group align="end" mb="md">
        {times.input}
        {wallet.input}
        <TextInput
          label={texts.common.status}
          placeholder="404"
          w={90}
          value={status}
          onChange={({ currentTarget }) => setStatus(currentTarget.value.trim())}
        />
        {failed.input}
        <TextInput
          label={words.requestId}
          value={requestId}
          error={requestId === '' || REQUEST_ID.test(requestId) ? undefined : words.noRequestId}
          onChange={({ currentTarget }) => setRequestId(currentTarget.value.trim())}
        />
      </Group>
      <KeyedTable
        caption={words.caption}
        queryKey={['partner', 'requests', filters]}
        load={async (before, signal) => {
          const query = { ...filters, ...(before !== undefined && { before }) };
          const page = await dataOf(
            consoleApi.GET('/api/partner/requests', { params: { query }, signal }),
          );
          return { items: page.requests, next: page.next };
        }}
        rowKey={({ id }) => id}
        empty={words.empty}
        columns={[...COLUMNS, showColumn(setShown)]}
      />
      {shown !== undefined && <RequestDetail id={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function RequestDetail({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const query = useQuery({
    queryKey: ['partner', 'request', id],
    queryFn: getFrom('/api/partner/requests/{id}', { params: { path: { id } } }),
  });
  return (
    <Dialog onClose={onClose} title={words.detail} size="xl">
      <Loaded query={query}>
        {(request) => (
          <Stack>
            <Text>
              <When at={request.at} isExact /> · {millis(request.durationUs)}
            </Text>
            <Text className="text-of-others">
              {words.requestId}: <code>{request.requestId}</code>
            </Text>
            <Bytes label={words.request}>{`${request.method} ${request.path}`}</Bytes>
            <Bytes label={`${words.answer}: ${request.status}`}>{request.body}</Bytes>
            {request.keptBytes < request.bodyBytes && (
              <Text size="sm">{texts.common.cut(request.keptBytes, request.bodyBytes)}</Text>
            )}
            <Signed {...request} />
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}
