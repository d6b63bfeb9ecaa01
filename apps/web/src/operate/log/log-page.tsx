import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { useKept } from '../../shared/use-kept';
import { When } from '../../shared/when';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { RedemptionLink } from '../wallet/wallet-redemptions';

type Entry = ConsoleBody<'LogEntry'>;

const FILTERS = ['actor', 'partner', 'redemption', 'command'] as const;
type Filter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;
const words = texts.log;

/** Who did what, newest first. */
export function LogPage() {
  const [filter, setFilter] = useKept<Filter>('filter', {});
  const [typed, setTyped] = useState(filter);
  const show = (event: SyntheticEvent): void => {
    event.preventDefault();
    const given = FILTERS.flatMap((name) => {
      const text = typed[name]?.trim() ?? '';
      return text === '' ? [] : [[name, text] as const];
    });
    setFilter(Object.fromEntries(given));
  };
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      <form onSubmit={show}>
        <Group align="end">
          {FILTERS.map((name) => (
            <TextInput
              key={name}
              label={words[name]}
              value={typed[name] ?? ''}
              maxLength={255}
              onChange={({ currentTarget: { value } }) => {
                setTyped({ ...typed, [name]: value });
              }}
            />
          ))}
          <Button type="submit">{words.filter}</Button>
          <Button
            variant="default"
            onClick={() => {
              setTyped({});
              setFilter({});
            }}
          >
            {words.clear}
          </Button>
        </Group>
      </form>
      <KeyedTable
        caption={words.title}
        queryKey={['operate', 'log', filter]}
        load={(after, signal) => {
          const query = { ...filter, ...(after !== undefined && { after }) };
          return dataOf(consoleApi.GET('/api/operate/log', { params: { query }, signal }));
        }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={words.none}
        minWidth={900}
      />
    </Stack>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  { header: words.at, cell: ({ at }) => <When at={at} /> },
  { header: words.actor, cell: ({ actor }) => <span className="text-of-others">{actor}</span> },
  { header: words.command, cell: ({ command }) => command },
  { header: words.about, cell: (entry) => <About entry={entry} /> },
  {
    header: words.arguments,
    cell: ({ arguments: given }) => (
      <Code block className="text-of-others arguments">
        {JSON.stringify(given, undefined, 1)}
      </Code>
    ),
  },
  {
    header: words.outcome,
    cell: ({ outcome }) => <span className="text-of-others">{outcome}</span>,
  },
];

function About({ entry: { redemption, partner } }: { readonly entry: Entry }) {
  if (redemption !== null) return <RedemptionLink id={redemption} />;
  return <span className="text-of-others">{partner?.name}</span>;
}
