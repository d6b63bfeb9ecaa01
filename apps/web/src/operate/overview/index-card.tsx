import { Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { Loaded, Problem } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { spanText, When } from '../../shared/when';
import { texts } from '../texts';
import { Card, REFRESH_MS, Fact } from '../card';
import { type IndexerState, standingOf } from './index-standing';
import { useServices } from './services-card';

type Index = ConsoleBody<'Index'>;
type Sync = ConsoleBody<'SyncProgress'>;

const words = texts.overview.index;

export function IndexCard() {
  const sets = useQuery({
    queryKey: ['operate', 'overview', 'index'],
    queryFn: pollFrom('/api/operate/overview/index'),
    refetchInterval: REFRESH_MS,
  });
  const indexer = useServices().data?.services.find(({ name }) => name === 'indexer');
  const sync = indexer?.sync ?? null;
  return (
    <Card title={words.title}>
      <Loaded query={sets}>
        {(data) => (
          <Stack>
            {data.sets.map(({ stakeSet, index }) => (
              <div key={stakeSet}>
                <Heading
                  name={stakeSet}
                  isOnly={data.sets.length === 1}
                  index={index}
                  // INDEXER_URL is the address of the default set's indexer.
                  indexer={stakeSet === 'default' ? indexer?.state : undefined}
                />
                {index === null ? <Text size="sm">{words.none}</Text> : <Facts index={index} />}
                {stakeSet === 'default' && sync !== null && <SyncProgress sync={sync} />}
              </div>
            ))}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

interface HeadingProps {
  readonly name: string;
  readonly isOnly: boolean;
  readonly index: Index | null;
  readonly indexer: IndexerState | undefined;
}

function Heading({ name, isOnly, index, indexer }: HeadingProps) {
  const standing = index && standingOf(index, indexer);
  return (
    <Group justify="space-between" mb="xs">
      <Text fw={500}>
        {index?.tokenSymbol}
        {!isOnly && ` ${texts.shared.stakeSet.toLowerCase()} ${name}`}
      </Text>
      {index && standing && (
        <StatusBadge tone={standing.tone}>
          {standing.is === 'behind' || standing.is === 'ahead'
            ? words[standing.is](spanText(Math.abs(index.lagSeconds)))
            : words[standing.is]}
        </StatusBadge>
      )}
    </Group>
  );
}

function Facts({ index }: { readonly index: Index }) {
  return (
    <>
      {index.halted !== null && <Problem problem={words.haltedSince(index.halted.reason)} />}
      <Fact name={words.head}>
        <Amount value={index.headBlock} />
      </Fact>
      <Fact name={words.lag}>{spanText(index.lagSeconds)}</Fact>
      <Fact name={words.headAt}>
        <When at={index.headAt} />
      </Fact>
      <Fact name={words.finalised}>
        <Amount value={index.finalisedBlock ?? '–'} />
      </Fact>
      <Fact name={words.verified}>
        <Amount value={index.verifiedBlock ?? '–'} />
      </Fact>
      <Fact name={words.staked}>
        <Amount value={index.total} unit={index.tokenSymbol} maxFraction={2} />
      </Fact>
      <Fact name={words.chain}>{index.chainId}</Fact>
    </>
  );
}

function SyncProgress({ sync }: { readonly sync: Sync }) {
  const { percent, secondsLeft, verification } = sync;
  const left = secondsLeft === null ? words.leftUnknown : words.left(spanText(secondsLeft));
  return (
    <>
      {verification !== null && <Fact name={words.verification}>{verification}</Fact>}
      {percent !== null && (
        <>
          <Group justify="space-between" gap="xs">
            <Text size="sm">{words.progress}</Text>
            <Text size="sm">{percent === 100 ? `${percent} %` : `${percent} %, ${left}`}</Text>
          </Group>
          <Progress.Root size="md">
            <Progress.Section value={percent} aria-label={words.progress} />
          </Progress.Root>
        </>
      )}
    </>
  );
}
