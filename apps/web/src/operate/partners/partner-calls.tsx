import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { CallDetails, callOutcome } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';

type Call = ConsoleBody<'PartnerCall'>;

const words = deskTexts.calls;
const COLUMNS: readonly Column<Call>[] = [
  { header: words.begun, cell: ({ begunAt }) => <When at={begunAt} /> },
  { header: words.step, cell: ({ step }) => step },
  { header: words.outcome, cell: callOutcome },
  { header: words.details, cell: (call) => <CallDetails call={call} /> },
];

export function PartnerCalls({ partner }: { readonly partner: string }) {
  return (
    <Card title={words.title}>
      <KeyedTable
        caption={words.table}
        queryKey={['operate', 'partners', partner, 'calls']}
        load={(after, signal) =>
          dataOf(
            consoleApi.GET('/api/operate/partners/{partner}/calls', {
              params: { path: { partner }, query: after === undefined ? {} : { after } },
              signal,
            }),
          )
        }
        columns={COLUMNS}
        rowKey={({ requestId }) => requestId}
        empty={words.empty}
      />
    </Card>
  );
}
