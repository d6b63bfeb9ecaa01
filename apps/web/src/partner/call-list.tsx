import { Button, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { type components } from '../api/console.generated';
import { type Column } from '../shared/keyed-table';
import { StatusBadge, type Tone } from '../shared/status-badge';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { texts } from './texts';

const words = texts.calls;
export type Call = components['schemas']['OwnCall'];

function toneOf({ outcome, record }: Call): Tone {
  if (outcome === null) return 'busy';
  if (outcome !== 'answer') return 'bad';
  return record?.['verdict'] === 'verified' ? 'good' : 'warning';
}

function wordsOf({ outcome, record }: Call): string {
  const status = record?.['status'];
  const shown = words.outcomes[outcome ?? 'open'] ?? '';
  return typeof status === 'number' ? `${shown} ${status}` : shown;
}

function textOf(record: Call['record'], name: string): string {
  const value = record?.[name];
  return typeof value === 'string' ? value : '';
}

export const CALL_COLUMNS: readonly Column<Call>[] = [
  { header: texts.common.time, cell: ({ begunAt }) => <When at={begunAt} /> },
  { header: words.step, cell: ({ step }) => step },
  {
    header: words.outcome,
    cell: (call) => <StatusBadge tone={toneOf(call)}>{wordsOf(call)}</StatusBadge>,
  },
  {
    header: words.verdict,
    cell: ({ record }) => textOf(record, 'verdict') || textOf(record, 'cause') || '–',
  },
  {
    header: words.answer,
    cell: ({ record }) => (
      <code className="text-of-others">{textOf(record, 'excerpt').slice(0, 120)}</code>
    ),
  },
  { header: texts.common.show, cell: (call) => <CallDetail call={call} /> },
];

function CallDetail({ call }: { readonly call: Call }) {
  const [isOpen, setOpen] = useState(false);
  const { requestId, record } = call;
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
      <Modal
        opened={isOpen}
        onClose={() => {
          setOpen(false);
        }}
        title={words.detail}
        size="xl"
      >
        <Stack>
          <Bytes label="X-API-REQUEST">{requestId}</Bytes>
          <Bytes label={words.record}>{JSON.stringify(record, undefined, 2)}</Bytes>
        </Stack>
      </Modal>
    </>
  );
}
