import { Button, Group, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { Empty, Problem, Skeletons } from './loaded';
import { useKept } from './use-kept';

/** A page of a list with keyset pagination. */
export interface KeyedPage<Row> {
  readonly items: readonly Row[];
  /** Key of the next page; null on the last page. */
  readonly next: string | null;
}

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
  /** Stays visible while the rest of the table scrolls. */
  readonly isAction?: boolean;
}

interface KeyedTableProps<Row> {
  /** Name of the list, also for screen readers. */
  readonly caption: string;
  /** Identifies the list with its filters and order; a different key starts at the first page. */
  readonly queryKey: readonly unknown[];
  readonly load: (after: string | undefined, signal: AbortSignal) => Promise<KeyedPage<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly empty: ReactNode;
  /** Width in px below which the table scrolls. Default: 640. */
  readonly minWidth?: number;
  readonly refetchInterval?: number;
}

export function KeyedTable<Row>(props: KeyedTableProps<Row>) {
  // The React key makes a list with other filters a new component, which starts at its first page.
  return <Pages key={JSON.stringify(props.queryKey)} {...props} />;
}

function Pages<Row>({
  caption,
  queryKey,
  load,
  columns,
  rowKey,
  empty,
  minWidth = 640,
  refetchInterval,
}: KeyedTableProps<Row>) {
  /** The keys of the pages up to the current one; the first page's key is undefined. */
  const [keys, setKeys] = useKept<readonly (string | undefined)[]>(
    `pages of ${JSON.stringify(queryKey)}`,
    [undefined],
  );
  const after = keys.at(-1);
  const page = useQuery({
    queryKey: [...queryKey, 'page', after ?? null],
    queryFn: ({ signal }) => load(after, signal),
    placeholderData: keepPreviousData,
    ...(refetchInterval !== undefined && { refetchInterval }),
  });
  const { data, error, refetch, isPlaceholderData } = page;
  if (data === undefined) {
    return error === null ? (
      <Skeletons lines={8} height={28} />
    ) : (
      <Problem problem={error} onRetry={() => void refetch()} />
    );
  }
  const next = data.next;
  return (
    <>
      {error !== null && <Problem problem={error} onRetry={() => void refetch()} />}
      {data.items.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <Rows
          {...{ caption, columns, rowKey, minWidth, items: data.items }}
          isBusy={isPlaceholderData}
        />
      )}
      {(keys.length > 1 || next !== null) && (
        <Group justify="space-between" mt="sm">
          <Button
            variant="default"
            disabled={keys.length === 1}
            onClick={() => setKeys(keys.slice(0, -1))}
          >
            Previous
          </Button>
          <Text size="sm" role="status">{`Page ${keys.length}`}</Text>
          <Button
            variant="default"
            disabled={next === null || isPlaceholderData}
            onClick={() => {
              if (next !== null) setKeys([...keys, next]);
            }}
          >
            Next
          </Button>
        </Group>
      )}
    </>
  );
}

interface RowsProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly items: readonly Row[];
  readonly minWidth?: number;
  readonly isBusy?: boolean;
}

/**
 * A table. Where it is wider than the page it scrolls, with the keyboard too. Where there is little room each row is shown as a card and keeps
 * its ARIA roles.
 */
export function Rows<Row>({
  caption,
  columns,
  rowKey,
  items,
  minWidth = 640,
  isBusy = false,
}: RowsProps<Row>) {
  return (
    <div
      className="scrolls list"
      role="region"
      aria-label={caption}
      tabIndex={0}
      {...(isBusy && { 'aria-busy': true })}
    >
      <Table className="rows" role="table" miw={minWidth} verticalSpacing="xs" highlightOnHover>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(({ header, isNumber = false, isAction = false }) => (
              <Table.Th
                role="columnheader"
                key={header}
                ta={isNumber ? 'right' : 'left'}
                {...(isAction && { className: 'in-sight' })}
              >
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {items.map((row) => (
            <Table.Tr key={rowKey(row)} role="row">
              {columns.map(({ header, cell, isNumber = false, isAction = false }) => (
                <Table.Td
                  role="cell"
                  data-label={header}
                  key={header}
                  ta={isNumber ? 'right' : 'left'}
                  {...(isAction && { className: 'in-sight' })}
                >
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
