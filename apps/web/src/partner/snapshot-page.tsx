import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { Loaded, Problem } from '../shared/loaded';
import { StatusBadge } from '../shared/status-badge';
import { Bytes, Signed } from './bytes';
import { PageTitle } from '../desk/page-title';
import { queryOf, snapshotSearch } from './snapshot-question';
import { texts } from './texts';
import { useStanding } from './queries';

const words = texts.snapshot;
type Answer = ConsoleBody<'SnapshotAnswer'>;

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
  const search = useSearch({ from: '/partner/snapshot' });
  const navigate = useNavigate();
  const form = useForm({
    initialValues: {
      ...{ walletAddress: '', lastDays: '7', endDay: '', contract: '', ...search },
      keyPrefix: keys.find((one) => one === search.keyPrefix) ?? keys[0] ?? '',
    },
  });
  const keep = (): void => {
    const asked = snapshotSearch(form.values);
    void navigate({ to: '/partner/snapshot', search: asked, replace: true, resetScroll: false });
  };
  const ask = useMutation({
    mutationFn: () => {
      keep();
      const query = queryOf(form.values);
      return dataOf(consoleApi.GET('/api/partner/snapshot', { params: { query } }));
    },
  });
  return (
    <Stack>
      <form onBlur={keep} onSubmit={form.onSubmit(() => ask.mutate())}>
        <Group align="end">
          <Select
            label={words.key}
            data={[...keys]}
            allowDeselect={false}
            {...form.getInputProps('keyPrefix')}
          />
          <TextInput
            label={words.wallet}
            placeholder="0x…"
            {...form.getInputProps('walletAddress')}
          />
          <TextInput label={words.days} w={90} {...form.getInputProps('lastDays')} />
          <TextInput
            type="date"
            label={words.endDay}
            description={words.endDayHint}
            min="1970-01-01"
            max="9999-12-31"
            {...form.getInputProps('endDay')}
          />
          <TextInput label={words.contract} {...form.getInputProps('contract')} />
          <Button type="submit" loading={ask.isPending}>
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
