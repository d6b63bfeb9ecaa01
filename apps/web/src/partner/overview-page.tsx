import { Button, Card, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { refresh } from '../api/query-client';
import { consoleApi } from '../api/console-client';
import { Amount } from '../shared/amount';
import { Rows } from '../shared/keyed-table';
import { Loaded } from '../shared/loaded';
import { StatusBadge } from '../shared/status-badge';
import { When } from '../shared/when';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';
import { type Standing, STANDING_KEY, useStanding } from './queries';

const words = texts.overview;

export function OverviewPage() {
  const standing = useStanding();
  return (
    <>
      <PageTitle>{standing.data?.name ?? texts.nav.overview}</PageTitle>
      <Loaded query={standing}>
        {(data) => (
          <Stack>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Card withBorder component="section">
                <Title order={2} size="h4" mb="xs">
                  {words.limits}
                </Title>
                <Text>{words.rate(data.rate, data.burst)}</Text>
                <Text className="text-of-others">
                  {words.api} <code>{data.apiUrl}</code>
                </Text>
              </Card>
              <Card withBorder component="section">
                <Title order={2} size="h4" mb="xs">
                  {words.callback}
                </Title>
                {data.callback === null ? (
                  <Text>{words.noCallback}</Text>
                ) : (
                  <Callback callback={data.callback} />
                )}
              </Card>
            </SimpleGrid>
            <Members members={data.members} />
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function Callback({ callback }: { readonly callback: NonNullable<Standing['callback']> }) {
  const { bonusFromPoints: from, bonusRate, minPoints, maxPoints, dailyTokenBudget } = callback;
  const rows: readonly (readonly [string, ReactNode])[] = [
    [words.url, <code key="url">{callback.url}</code>],
    [words.usdPerPoint, <Amount key="usd" value={callback.usdPerPoint} unit="USD" />],
    [words.bonus, from === null ? words.none : words.bonusOf(bonusRate ?? '0', from)],
    [words.points, words.pointsOf(minPoints, maxPoints)],
    [
      words.budget,
      dailyTokenBudget === null ? words.none : <Amount key="b" value={dailyTokenBudget} />,
    ],
    [words.confirms, callback.confirms ? words.yes : words.no],
    [words.capabilities, callback.capabilities.join(', ') || words.none],
  ];
  return (
    <Stack gap="xs">
      <StatusBadge tone={callback.paused ? 'warning' : 'good'}>
        {callback.paused ? words.paused : words.active}
      </StatusBadge>
      <Table>
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td className="text-of-others">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

/** A member who signs in with a wallet has no name besides the address. */
function ownName({ name, subject }: Standing['members'][number]): string {
  return subject.toLowerCase().endsWith(name.toLowerCase()) ? '–' : name;
}

function Members({ members }: Pick<Standing, 'members'>) {
  const [leaving, setLeaving] = useState<Standing['members'][number]>();
  const close = () => setLeaving(undefined);
  const withdraw = useMutation({
    mutationFn: (subject: string) =>
      consoleApi.POST('/api/partner/members/withdraw', { body: { subject } }),
    onSuccess: async () => {
      close();
      await refresh(...STANDING_KEY);
    },
  });
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {words.members}
      </Title>
      <Rows
        caption={words.members}
        items={members}
        rowKey={({ subject }) => subject}
        columns={[
          {
            header: 'Name',
            cell: (member) => <span className="text-of-others">{ownName(member)}</span>,
          },
          {
            header: 'Signs in as',
            cell: ({ subject }) => <span className="text-of-others">{subject}</span>,
          },
          { header: 'Since', cell: ({ addedAt }) => <When at={addedAt} /> },
          {
            header: 'Access',
            isAction: members.length > 1,
            cell: (member) =>
              members.length === 1 ? (
                words.onlyMember
              ) : (
                <Button size="compact-sm" variant="default" onClick={() => setLeaving(member)}>
                  {words.withdraw}
                </Button>
              ),
          },
        ]}
      />
      {leaving !== undefined && (
        <ConfirmDialog
          title={words.withdraw}
          consequence={words.withdrawing(leaving.name)}
          action={{ ...withdraw, mutate: () => withdraw.mutate(leaving.subject) }}
          onClose={close}
        />
      )}
    </section>
  );
}
