import { Button } from '@mantine/core';
import { useState } from 'react';
import { type Column } from '../shared/keyed-table';
import { StatusBadge } from '../shared/status-badge';
import { When } from '../shared/when';
import { type Call, CallDetail, outcomeText, toneOf } from './call-detail';
import { texts } from './texts';

const words = texts.calls;
export const CALL_COLUMNS: readonly Column<Call>[] = [
  { header: texts.common.time, cell: ({ begunAt }) => <When at={begunAt} /> },
  { header: words.step, cell: ({ step }) => step },
  {
    header: words.outcome,
    cell: (call) => <StatusBadge tone={toneOf(call)}>{outcomeText(call)}</StatusBadge>,
  },
  { header: words.verdict, cell: ({ explanation }) => explanation?.says ?? '–' },
  {
    header: words.answer,
    cell: ({ answer }) => (
      <code className="text-of-others">{answer?.body.slice(0, 120) ?? ''}</code>
    ),
  },
  { header: texts.common.show, cell: (call) => <ShowCall call={call} />, isAction: true },
];

function ShowCall({ call }: { readonly call: Call }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        {texts.common.show}
      </Button>
      {isOpen && <CallDetail call={call} onClose={() => setOpen(false)} />}
    </>
  );
}
