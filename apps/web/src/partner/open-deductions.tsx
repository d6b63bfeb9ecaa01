import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, getFrom } from '../api/console-client';
import { type Column, Rows } from '../shared/keyed-table';
import { When } from '../shared/when';
import { texts } from './texts';

const words = texts.conformance;
const LOOK_AGAIN_MS = 60_000;

type OpenDeduction = ConsoleBody<'OpenDeduction'>;

const OPEN_COLUMNS: readonly Column<OpenDeduction>[] = [
  { header: words.redemption, cell: ({ redemptionId }) => <code>{redemptionId}</code> },
  { header: words.player, cell: ({ address }) => <code>{address}</code> },
  { header: words.points, isNumber: true, cell: ({ points }) => points },
  {
    header: words.transaction,
    cell: ({ transactionId }) => <code className="text-of-others">{transactionId ?? '–'}</code>,
  },
  { header: words.again, cell: ({ nextAt }) => <When at={nextAt} /> },
];

/** Points that test runs deducted and could not give back; hidden where there are none. */
export function OpenDeductions() {
  const { data } = useQuery({
    queryKey: ['partner', 'conformance', 'deductions'],
    queryFn: getFrom('/api/partner/conformance/deductions'),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const open = data?.deductions ?? [];
  if (open.length === 0) return null;
  return (
    <Alert variant="outline" color="orange" mb="md" title={words.open}>
      <Text mb="xs">{words.openHint}</Text>
      <Rows
        caption={words.open}
        columns={OPEN_COLUMNS}
        rowKey={({ redemptionId }) => redemptionId}
        items={open}
      />
    </Alert>
  );
}
