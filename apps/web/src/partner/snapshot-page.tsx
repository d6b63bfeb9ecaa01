import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { Loaded, Problem } from '../shared/loaded';
import { StatusBadge } from '../shared/status-badge';
import { Bytes, Signed } from './bytes';
import { PageTitle } from '../desk/page-title';
import { queryOf, questionOf, type SnapshotQuestion } from './snapshot-question';
import { texts } from './texts';
import { useStanding } from './queries';

const words = texts.snapshot;
type Answer = ConsoleBody<'SnapshotAnswer'>;

function keepAsked(asked: SnapshotQuestion): void {
  const query = new URLSearchParams({ ...asked });
  // Bypasses the router, which replaces `history.replaceState` and would treat the call as a navigation.
  const to = `${location.pathname}?${query.toString()}`;
  History.prototype.replaceState.call(history, history.state, '', to);
}

export function SnapshotPage() {
  const standing = useStanding();
  return (
    <>
      <PageTitle>{texts.nav.snapshot}</PageTitle>
      <Text mb="md">{words.intro}</Text>
      <Loaded query={standing}>
        {({ credentials }) => {
          const keys = credentials.flatMap(({ isActive, keyPrefix }) =>
            isActive ? [keyPrefix] : [],
          );
          return keys.length === 0 ? (
            <Problem problem={texts.credentials.noneWorks} />
          ) : (
            <Explorer keys={keys} />
          );
        }}
      </Loaded>
    </>
  );
}

function Explorer({ keys }: { readonly keys: readonly string[] }) {
  const [asked, setAsked] = useState(() => questionOf(location.search));
  const { keyPrefix, walletAddress, lastDays, endDay, contract } = asked;
  const key = keys.includes(keyPrefix) ? keyPrefix : (keys[0] ?? null);
  const put = (change: Partial<SnapshotQuestion>): void =>
    setAsked((before) => ({ ...before, ...change }));
  const question = { ...asked, keyPrefix: key ?? '' };
  const keep = (): void => keepAsked(question);
  const ask = useMutation({
    mutationFn: () => {
      keep();
      const query = queryOf(question);
      return dataOf(consoleApi.GET('/api/partner/snapshot', { params: { query } }));
    },
  });
  return (
    <Stack>
      <form
        onBlur={keep}
        onSubmit={(event) => {
          event.preventDefault();
          ask.mutate();
        }}
      >
        <Group align="end">
          <Select
            label={words.key}
            data={[...keys]}
            value={key}
            allowDeselect={false}
            onChange={(chosen) => {
              if (chosen !== null) put({ keyPrefix: chosen });
            }}
          />
          <TextInput
            label={words.wallet}
            placeholder="0x…"
            value={walletAddress}
            onChange={({ currentTarget }) => put({ walletAddress: currentTarget.value })}
          />
          <TextInput
            label={words.days}
            w={90}
            value={lastDays}
            onChange={({ currentTarget }) => put({ lastDays: currentTarget.value })}
          />
          <TextInput
            type="date"
            label={words.endDay}
            description={words.endDayHint}
            min="1970-01-01"
            max="9999-12-31"
            value={endDay}
            onChange={({ currentTarget }) => put({ endDay: currentTarget.value })}
          />
          <TextInput
            label={words.contract}
            value={contract}
            onChange={({ currentTarget }) => put({ contract: currentTarget.value })}
          />
          <Button type="submit" loading={ask.isPending} disabled={key === null}>
            {words.ask}
          </Button>
        </Group>
      </form>
      {ask.error !== null && <Problem problem={ask.error} />}
      {ask.data !== undefined && <Shown answer={ask.data} />}
    </Stack>
  );
}

function Shown({ answer }: { readonly answer: Answer }) {
  const { status, headers, body, curl, durationMs } = answer;
  return (
    <Stack>
      <Group>
        <StatusBadge tone={status === 200 ? 'good' : 'warning'}>{String(status)}</StatusBadge>
        <Text size="sm">{durationMs} ms</Text>
      </Group>
      <Bytes label={words.body}>{body}</Bytes>
      <Bytes label={words.headers}>
        {headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}
      </Bytes>
      <Signed {...answer} />
      <Bytes label={words.curl}>{curl}</Bytes>
    </Stack>
  );
}
