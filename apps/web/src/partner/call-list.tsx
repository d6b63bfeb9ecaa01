import { Button } from '@mantine/core';
import { useState } from 'react';
import { type components } from '../api/console.generated';
import { type Column } from '../shared/keyed-table';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { When } from '../shared/when';
import { CallDetail } from './call-detail';
import { verdictText } from './plain-words';
import { texts } from './texts';

const words = texts.calls;
export type Call = components['schemas']['OwnCall'];

function toneOf({ outcome, verdict }: Call): Tone {
  if (outcome === null) return 'busy';
  if (outcome !== 'answer') return 'bad';
  return verdict === 'verified' ? 'good' : 'warning';
}

/** How far the call came, in a few words. */
export function outcomeText({ outcome, answer }: Call): string {
  const shown = words.outcomes[outcome ?? 'open'] ?? '';
  return answer === null ? shown : `${shown} ${answer.status}`;
}

export const CALL_COLUMNS: readonly Column<Call>[] = [
  { header: texts.common.time, cell: ({ begunAt }) => <When at={begunAt} /> },
  { header: words.step, cell: ({ step }) => step },
  {
    header: words.outcome,
    cell: (call) => <StatusBadge tone={toneOf(call)}>{outcomeText(call)}</StatusBadge>,
  },
  { header: words.verdict, cell: (call) => verdictText(call) },
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
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => {
          setOpen(true);
        }}
      >
        {texts.common.show}
      </Button>
      {isOpen && (
        <CallDetail
          call={call}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}
