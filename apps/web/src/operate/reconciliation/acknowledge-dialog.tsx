import { Button, Code, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Problem } from '../../shared/problem';
import { texts } from '../texts';

interface AcknowledgeDialogProps {
  readonly claim: ConsoleBody<'Claim'>;
  /** In the words that the command line has too. */
  readonly consequence: string;
  readonly onClose: () => void;
}

const LONGEST = 255;
const words = texts.reconciliation;

/** Asks what a claim was, and says what an acknowledgement does. */
export function AcknowledgeDialog({ claim, consequence, onClose }: AcknowledgeDialogProps) {
  const queries = useQueryClient();
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
      await queries.invalidateQueries({ queryKey: ['operate'] });
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={words.acknowledgeTitle} centered>
      <Stack>
        <Code className="text-of-others">{claim.id}</Code>
        <Text>{consequence}</Text>
        <Textarea
          label={words.note}
          description={words.noteHint}
          maxLength={LONGEST}
          autosize
          minRows={2}
          data-autofocus
          value={note}
          onChange={({ currentTarget }) => {
            setNote(currentTarget.value);
          }}
        />
        {acknowledge.isError && <Problem problem={acknowledge.error} />}
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            {texts.shared.cancel}
          </Button>
          <Button
            disabled={note.trim() === ''}
            loading={acknowledge.isPending}
            onClick={() => {
              acknowledge.mutate();
            }}
          >
            {words.acknowledge}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
