import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { useKept } from '../../shared/use-kept';
import { When } from '../../shared/when';
import { PageTitle } from '../../desk/page-title';
import { FoldedBlock } from '../call-details';
import { texts } from '../texts';
import { RedemptionLink } from '../wallet/wallet-redemptions';

type Entry = ConsoleBody<'LogEntry'>;

const FILTERS = ['actor', 'partner', 'redemption', 'command'] as const;
type Filter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;
const words = texts.log;
/** Maximum number of characters of a command's arguments in the folded view. */
const SHORT = 80;

/** The audit log of operators' commands, newest first. */
export function LogPage() {
  const [filter, setFilter] = useKept<Filter>('filter', {});
  const [typed, setTyped] = useState(filter);
  const [showsMembers, setShowsMembers] = useKept('members', false);
  const members: 'show' | 'hide' = showsMembers ? 'show' : 'hide';
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
              onChange={({ currentTarget: { value } }) => setTyped({ ...typed, [name]: value })}
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
      <Checkbox
        label={words.members}
        checked={showsMembers}
        onChange={({ currentTarget: { checked } }) => setShowsMembers(checked)}
      />
      <KeyedTable
        caption={words.title}
        queryKey={['operate', 'log', filter, members]}
        load={(after, signal) => {
          const query = { ...filter, members, ...(after !== undefined && { after }) };
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
    cell: ({ arguments: given }) => <Arguments given={given} />,
  },
  {
    header: words.outcome,
    cell: ({ outcome }) => <span className="text-of-others">{outcome}</span>,
  },
];

/** The arguments on one line; a long line unfolds to the full text. */
function Arguments({ given }: { readonly given: Entry['arguments'] }) {
  const line = Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  if (line.length <= SHORT) return <span className="text-of-others">{line}</span>;
  return (
    <FoldedBlock title={`${line.slice(0, SHORT)}…`} text={JSON.stringify(given, undefined, 1)} />
  );
}

function About({ entry: { redemption, partner } }: { readonly entry: Entry }) {
  if (redemption !== null) return <RedemptionLink id={redemption} />;
  return <span className="text-of-others">{partner?.name}</span>;
}
