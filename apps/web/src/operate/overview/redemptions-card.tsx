import { Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { PageLink } from '../../shared/page-link';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { Loaded } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { spanText } from '../../shared/when';
import { useOpenApprovals } from '../approvals/open-approvals';
import { StateBadge } from '../badges';
import { texts } from '../texts';
import { Card, REFRESH_MS } from '../card';

type Figures = ConsoleBody<'RedemptionFigures'>;

const words = texts.overview.redemptions;

export function RedemptionsCard() {
  const figures = useQuery({
    queryKey: ['operate', 'overview', 'redemptions'],
    queryFn: pollFrom('/api/operate/overview/redemptions'),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card title={words.title}>
      <Loaded query={figures}>
        {(data) => (
          <Stack gap="sm">
            <Attention count={data.attention} />
            <Approvals />
            <Open figures={data} />
            <Made figures={data} />
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function Attention({ count }: { readonly count: number }) {
  if (count === 0) return <StatusBadge tone="good">{words.noAttention}</StatusBadge>;
  return (
    <Group justify="space-between">
      <StatusBadge tone="bad">{words.attention(count)}</StatusBadge>
      <PageLink to="/operate/redemptions">{words.toQueue}</PageLink>
    </Group>
  );
}

function Approvals() {
  const count = useOpenApprovals() ?? 0;
  if (count === 0) return null;
  return (
    <Group justify="space-between">
      <StatusBadge tone="busy">{texts.approvals.count(count)}</StatusBadge>
      <PageLink to="/operate/approvals">{texts.nav.approvals}</PageLink>
    </Group>
  );
}

function Open({ figures: { open } }: { readonly figures: Figures }) {
  if (open.length === 0) return <Text size="sm">{words.none}</Text>;
  return (
    <div className="scrolls" role="region" aria-label={words.open} tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th ta="right">{words.count}</Table.Th>
            <Table.Th ta="right">{words.longest}</Table.Th>
            <Table.Th ta="right">{words.oldest}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {open.map(({ state, count, longestSeconds, oldestSeconds }) => (
            <Table.Tr key={state}>
              <Table.Td>
                <StateBadge state={state} />
              </Table.Td>
              <Table.Td ta="right">
                <Amount value={String(count)} />
              </Table.Td>
              <Table.Td ta="right">{spanText(longestSeconds)}</Table.Td>
              <Table.Td ta="right">{words.ago(spanText(oldestSeconds))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Made({ figures: { made } }: { readonly figures: Figures }) {
  if (made.length === 0) return <Text size="sm">{words.madeNone}</Text>;
  return (
    <div>
      <Text size="sm" c="dimmed" mb={4}>
        {words.made}
      </Text>
      <Group gap="sm">
        {made.map(({ state, count }) => (
          <Text size="sm" key={state}>
            <Amount value={String(count)} /> {texts.states[state]}
          </Text>
        ))}
      </Group>
    </div>
  );
}
