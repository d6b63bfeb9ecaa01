import { Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { PageTitle } from '../../desk/page-title';
import { type Column, Rows } from '../../shared/keyed-table';
import { Loaded } from '../../shared/loaded';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { UtcDay, When } from '../../shared/when';
import { Card, Fact } from '../card';
import { registryTexts as words } from './texts';

type OfSet = ConsoleBody<'RegistryOfSet'>;
type Status = ConsoleBody<'RegistryStatus'>;
type Publication = ConsoleBody<'Publication'>;

const EVERY_MS = 30_000;
const TONES: Readonly<Record<Publication['status'], Tone>> = {
  due: 'neutral',
  sent: 'busy',
  mined: 'busy',
  final: 'good',
  refused: 'bad',
};

export function RegistryPage() {
  const registries = useQuery({
    queryKey: ['operate', 'registries'],
    queryFn: pollFrom('/api/operate/registries'),
    refetchInterval: EVERY_MS,
  });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      <Loaded query={registries}>
        {(data) => (
          <Stack>
            {data.registries.map((one) => (
              <Registry key={one.stakeSet} {...one} isOnly={data.registries.length === 1} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Stack>
  );
}

function Registry({ stakeSet, registry, status, isOnly }: OfSet & { readonly isOnly: boolean }) {
  const title = isOnly ? words.registry : words.registryOf(stakeSet);
  if (registry === null) {
    return (
      <Card title={title}>
        <Text>{words.notSet}</Text>
      </Card>
    );
  }
  return (
    <Card title={title}>
      <Group justify="space-between" mb="xs">
        <Code className="text-of-others">{registry}</Code>
        {status !== null && <Standing status={status} />}
      </Group>
      {status === null ? <Text>{words.noIndex}</Text> : <Published status={status} />}
    </Card>
  );
}

function Standing({
  status: { different, revised, waiting, mined, final },
}: {
  readonly status: Status;
}) {
  if (different + revised > 0) return <StatusBadge tone="bad">{words.look}</StatusBadge>;
  if (waiting + mined > 0) return <StatusBadge tone="busy">{words.underWay}</StatusBadge>;
  const [tone, text] =
    final > 0 ? (['good', words.level] as const) : (['neutral', words.nothing] as const);
  return <StatusBadge tone={tone}>{text}</StatusBadge>;
}

function Published({ status }: { readonly status: Status }) {
  const { lastDay, publications, different, revised, revisedDays } = status;
  const last = publications.find((one) => one.status === 'final' && one.day === lastDay);
  return (
    <>
      {different > 0 && <Text role="alert">{words.differentMeans(different)}</Text>}
      {revised > 0 && (
        <Text role="alert">{words.revisedMeans(revised, revisedDays.join(', '))}</Text>
      )}
      <Fact name={words.chain}>{status.chainId}</Fact>
      <Fact name={words.lastDay}>{lastDay === null ? words.none : <UtcDay day={lastDay} />}</Fact>
      {last !== undefined && (
        <Fact name={words.lastTransaction}>
          {last.transactionHash === null ? words.byOthers : <Code>{last.transactionHash}</Code>}
        </Fact>
      )}
      <Fact name={words.final}>{status.final}</Fact>
      <Fact name={words.mined}>{status.mined}</Fact>
      <Fact name={words.waiting}>{status.waiting}</Fact>
      <Fact name={words.waitingSince}>
        <When at={status.waitingSince} none={words.none} />
      </Fact>
      {publications.length === 0 ? (
        <Text size="sm">{words.nothingYet}</Text>
      ) : (
        <Rows
          caption={words.publications}
          items={publications}
          columns={COLUMNS}
          rowKey={({ day }) => day}
          minWidth={960}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Publication>[] = [
  { header: words.day, cell: ({ day }) => <span className="together">{day}</span> },
  { header: words.status, cell: (one) => <PublicationStatus {...one} /> },
  { header: words.root, cell: ({ root }) => <Code className="text-of-others">{root}</Code> },
  {
    header: words.transaction,
    cell: ({ transactionHash }) => <Code className="text-of-others">{transactionHash ?? '–'}</Code>,
  },
];

function PublicationStatus({ status, reason, acknowledged }: Publication) {
  return (
    <>
      <StatusBadge tone={TONES[status]}>{words.statuses[status]}</StatusBadge>
      {acknowledged && <Text size="sm">{words.acknowledged}</Text>}
      {reason !== null && (
        <Text size="sm" className="text-of-others">
          {reason}
        </Text>
      )}
    </>
  );
}
