import { List, Stack, Tabs, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { KeyedTable } from '../../shared/keyed-table';
import { deskTexts } from '../desk-texts';
import { PageTitle } from '../../desk/page-title';
import { REDEMPTION_COLUMNS, REDEMPTIONS_WIDTH } from './columns';
import { filterOf, type RedemptionSearch, searchOf } from './search';
import { SearchForm } from './search-form';

type Page = ConsoleBody<'ListedRedemptions'>;

const words = deskTexts.redemptions;
const EVERY_MS = 15_000;

/** The queue of redemptions that wait for an operator, and a search in all redemptions. */
export function RedemptionsPage() {
  const search = useSearch({ from: '/operate/redemptions' });
  const navigate = useNavigate();
  const show = (wanted: RedemptionSearch): void => {
    void navigate({ to: '/operate/redemptions', search: wanted, replace: true });
  };
  const filter = filterOf(search);
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Tabs
        value={search.tab ?? 'queue'}
        keepMounted={false}
        onChange={(tab) => {
          // The filter stays in the address, so that it still applies when the operator returns to the search.
          show(searchOf({ ...filter, tab }));
        }}
      >
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
          <SearchForm filter={filter} onFind={(wanted) => show({ ...wanted, tab: 'search' })} />
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
        columns={REDEMPTION_COLUMNS}
        rowKey={({ id }) => id}
        minWidth={REDEMPTIONS_WIDTH}
        load={async (after, signal) => {
          const page = await load(after, signal);
          setUnreadable(page.unreadable);
          return page;
        }}
      />
    </>
  );
}
