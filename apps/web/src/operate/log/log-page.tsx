import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { PageTitle } from '../../desk/page-title';
import { FoldedBlock } from '../call-details';
import { texts } from '../texts';
import { argumentsText } from './arguments-text';
import { LOG_FILTERS, type LogSearch, logSearch } from './log-search';
import { RedemptionLink } from '../wallet/wallet-redemptions';

type Entry = ConsoleBody<'LogEntry'>;

const EMPTY = { actor: '', partner: '', redemption: '', command: '' };
const words = texts.log;
/** Maximum number of characters of a command's arguments in the folded view. */
const SHORT = 80;

/** The audit log of operators' commands, newest first. */
export function LogPage() {
  const { members = 'hide', ...filter } = useSearch({ from: '/operate/log' });
  const navigate = useNavigate();
  const show = (search: LogSearch): void => {
    void navigate({ to: '/operate/log', search: logSearch({ ...search }), replace: true });
  };
  const form = useForm({ initialValues: { ...EMPTY, ...filter } });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      <form onSubmit={form.onSubmit((typed) => show({ ...typed, members }))}>
        <Group align="end">
          {LOG_FILTERS.map((name) => (
            <TextInput
              key={name}
              label={words[name]}
              maxLength={255}
              {...form.getInputProps(name)}
            />
          ))}
          <Button type="submit">{words.filter}</Button>
          <Button
            variant="default"
            onClick={() => {
              form.setValues(EMPTY);
              show({ members });
            }}
          >
            {words.clear}
          </Button>
        </Group>
      </form>
      <Checkbox
        label={words.members}
        checked={members === 'show'}
        onChange={({ currentTarget: { checked } }) =>
          show({ ...filter, members: checked ? 'show' : 'hide' })
        }
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

/** The arguments on one line, each with the value before; a long line unfolds to the full text. */
function Arguments({ given }: { readonly given: Entry['arguments'] }) {
  const line = argumentsText(given);
  if (line.length <= SHORT) return <span className="text-of-others">{line}</span>;
  return (
    <FoldedBlock title={`${line.slice(0, SHORT)}…`} text={JSON.stringify(given, undefined, 1)} />
  );
}

function About({ entry: { redemption, partner } }: { readonly entry: Entry }) {
  if (redemption !== null) return <RedemptionLink id={redemption} />;
  return <span className="text-of-others">{partner?.name}</span>;
}
