import { Box, List, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { RedemptionAnchor } from '../call-details';
import { deskTexts } from '../desk-texts';
import { PageTitle } from '../page-title';
import { StateBadge } from '../state-badge';
import { type RedemptionFilter, SearchForm } from './search-form';

type Redemption = ConsoleBody<'ListedRedemption'>;
type Page = ConsoleBody<'ListedRedemptions'>;

const words = deskTexts.redemptions;
const COLUMNS: readonly Column<Redemption>[] = [
  { header: words.columns.id, cell: ({ id }) => <RedemptionAnchor id={id} /> },
  {
    header: words.columns.state,
    cell: ({ state, reason }) => (
      <>
        <StateBadge state={state} />
        {reason !== null && <Text size="xs">{reason}</Text>}
      </>
    ),
  },
  { header: words.columns.since, cell: ({ stateSince }) => <When at={stateSince} /> },
  {
    header: words.columns.partner,
    cell: ({ partner }) => (
      <Box miw={160}>
        <bdi className="text-of-others">{partner.name}</bdi>
      </Box>
    ),
  },
  { header: words.columns.wallet, cell: ({ wallet }) => <span className="amount">{wallet}</span> },
  {
    header: words.columns.points,
    isNumber: true,
    cell: ({ points }) => <Amount value={points} />,
  },
  {
    header: words.columns.tokens,
    isNumber: true,
    cell: ({ tokens }) => <Amount value={tokens} maxFraction={6} />,
  },
  { header: words.columns.usd, isNumber: true, cell: ({ usd }) => <Amount value={usd} /> },
];
const WIDTH = 1250;
const EVERY_MS = 15_000;

/** First what is to be done; beside it all redemptions, to search through. */
export function RedemptionsPage() {
  const [filter, setFilter] = useState<RedemptionFilter>({});
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Tabs defaultValue="queue" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="queue">{words.queue}</Tabs.Tab>
          <Tabs.Tab value="search">{words.search}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="queue">
          <Text mb="sm">{words.queueHint}</Text>
          <RedemptionTable
            caption={words.queue}
            queryKey={['operate', 'redemptions', 'queue']}
            empty={words.queueEmpty}
            refetchInterval={EVERY_MS}
            load={(after, signal) => {
              const query = after === undefined ? {} : { after };
              return dataOf(
                consoleApi.GET('/api/operate/redemptions/queue', { params: { query }, signal }),
              );
            }}
          />
        </Tabs.Panel>
        <Tabs.Panel value="search">
          <SearchForm onFind={setFilter} />
          <RedemptionTable
            caption={words.search}
            queryKey={['operate', 'redemptions', 'search', filter]}
            empty={words.searchEmpty}
            load={(after, signal) => {
              const query = { ...filter, ...(after !== undefined && { after }) };
              return dataOf(
                consoleApi.GET('/api/operate/redemptions', { params: { query }, signal }),
              );
            }}
          />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

interface RedemptionTableProps {
  readonly caption: string;
  readonly queryKey: readonly unknown[];
  readonly empty: string;
  readonly refetchInterval?: number;
  readonly load: (after: string | undefined, signal: AbortSignal) => Promise<Page>;
}

function RedemptionTable({ load, ...table }: RedemptionTableProps) {
  const [unreadable, setUnreadable] = useState<Page['unreadable']>([]);
  return (
    <>
      {unreadable.length > 0 && (
        <div role="alert">
          <Text>{words.unreadable}</Text>
          <List size="sm">
            {unreadable.map(({ message }) => (
              <List.Item key={message}>{message}</List.Item>
            ))}
          </List>
        </div>
      )}
      <KeyedTable
        {...table}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        minWidth={WIDTH}
        load={async (after, signal) => {
          const page = await load(after, signal);
          setUnreadable(page.unreadable);
          return page;
        }}
      />
    </>
  );
}
