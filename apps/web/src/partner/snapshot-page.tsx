import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, dataOf } from '../api/console-client';
import { type components } from '../api/console.generated';
import { Loaded } from '../shared/loaded';
import { Problem } from '../shared/problem';
import { StatusBadge } from '../shared/status-badge';
import { Bytes, Signed } from './bytes';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';
import { useStanding } from './use-standing';

const words = texts.snapshot;
type Answer = components['schemas']['SnapshotAnswer'];

/** A snapshot as the partner's own code would get it. */
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
  const [key, setKey] = useState(keys[0] ?? null);
  const [walletAddress, setWallet] = useState('');
  const [lastDays, setDays] = useState('7');
  const [contract, setContract] = useState('');
  const ask = useMutation({
    mutationFn: () => {
      const query = {
        ...{ keyPrefix: key ?? '', walletAddress, lastDays },
        ...(contract !== '' && { contract }),
      };
      return dataOf(consoleApi.GET('/api/partner/snapshot', { params: { query } }));
    },
  });
  return (
    <Stack>
      <form
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
            onChange={setKey}
          />
          <TextInput
            label={words.wallet}
            placeholder="0x…"
            value={walletAddress}
            onChange={({ currentTarget }) => {
              setWallet(currentTarget.value);
            }}
          />
          <TextInput
            label={words.days}
            w={90}
            value={lastDays}
            onChange={({ currentTarget }) => {
              setDays(currentTarget.value);
            }}
          />
          <TextInput
            label={words.contract}
            value={contract}
            onChange={({ currentTarget }) => {
              setContract(currentTarget.value);
            }}
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
