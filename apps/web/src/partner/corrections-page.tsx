import { Stack, Text } from '@mantine/core';
import { consoleApi, type ConsoleBody, dataOf } from '../api/console-client';
import { PageTitle } from '../desk/page-title';
import { type Column, KeyedTable } from '../shared/keyed-table';
import { When } from '../shared/when';
import { texts } from './texts';

const words = texts.corrections;
type Answer = ConsoleBody<'OwnCorrectedAnswer'>;
type Figure = Answer['figures'][number];

const COLUMNS: readonly Column<Answer>[] = [
  { header: words.requestedAt, cell: ({ requestedAt }) => <When at={requestedAt} isExact /> },
  {
    header: texts.requests.request,
    cell: ({ method, path, requestId }) => (
      <Stack gap={2}>
        <code className="text-of-others wide">{`${method} ${path}`}</code>
        <code className="text-of-others">{requestId}</code>
      </Stack>
    ),
  },
  {
    header: words.figures,
    cell: ({ isCertain, figures }) =>
      isCertain ? (
        <Stack gap={2}>
          {figures.map((figure) => (
            <Text key={keyOf(figure)} size="sm">
              {`${figure.field} ${figure.day ?? figure.block ?? ''}: `}
              <s>{shown(figure.signed)}</s> <b>{shown(figure.correct)}</b>
            </Text>
          ))}
        </Stack>
      ) : (
        words.uncertain
      ),
  },
  { header: words.correctedAt, cell: ({ at }) => <When at={at} /> },
  { header: words.reason, cell: ({ reason }) => <span className="text-of-others">{reason}</span> },
];

function keyOf({ walletAddress, field, day, block }: Figure): string {
  return `${walletAddress} ${field} ${day ?? block ?? ''}`;
}

function shown(figure: Figure['signed']): string {
  return figure === null ? words.none : String(figure);
}

export function CorrectionsPage() {
  return (
    <>
      <PageTitle>{texts.nav.corrections}</PageTitle>
      <Text mb="md">{words.intro}</Text>
      <KeyedTable
        caption={words.caption}
        queryKey={['partner', 'corrections']}
        load={async (before, signal) => {
          const query = { ...(before !== undefined && { before }) };
          const page = await dataOf(
            consoleApi.GET('/api/partner/corrections', { params: { query }, signal }),
          );
          return { items: page.answers, next: page.next };
        }}
        rowKey={({ id }) => id}
        empty={words.empty}
        columns={COLUMNS}
      />
    </>
  );
}
