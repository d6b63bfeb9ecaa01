import { Code, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { ConfirmDialog } from '../../desk/confirm-dialog';
import { texts } from '../texts';

interface AcknowledgeDialogProps {
  readonly claim: ConsoleBody<'Claim'>;
  /** Consequence of an acknowledgement, in the words of the command line. */
  readonly consequence: string;
  readonly onClose: () => void;
}

const LONGEST = 255;
const words = texts.reconciliation;

/** Asks for a note on a claim, and explains the consequence of an acknowledgement. */
export function AcknowledgeDialog({ claim, consequence, onClose }: AcknowledgeDialogProps) {
  const [note, setNote] = useState('');
  const acknowledge = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/reconciliation/claims/{id}/acknowledge', {
          params: { path: { id: claim.id } },
          body: { note },
        }),
      ),
    onSuccess: async () => {
      await refresh('operate');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.acknowledgeTitle}
      confirm={words.acknowledge}
      consequence={consequence}
      isReady={note.trim() !== ''}
      action={acknowledge}
      onClose={onClose}
    >
      <Code className="text-of-others">{claim.id}</Code>
      <Textarea
        label={words.note}
        description={words.noteHint}
        maxLength={LONGEST}
        autosize
        minRows={2}
        data-autofocus
        value={note}
        onChange={({ currentTarget }) => setNote(currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
