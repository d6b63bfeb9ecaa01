import { Code } from '@mantine/core';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { OperationDialog } from '../operation-dialog';
import { fieldsOf } from '../../desk/operation-form';
import { texts } from '../texts';

interface AcknowledgeDialogProps {
  readonly claim: ConsoleBody<'Claim'>;
  /** Consequence of an acknowledgement, in the words of the command line. */
  readonly consequence: string;
  readonly onClose: () => void;
}

const words = texts.reconciliation;
const FIELDS = fieldsOf(forms.AcknowledgeClaim);

/** Asks for a note on a claim, and explains the consequence of an acknowledgement. */
export function AcknowledgeDialog({ claim, consequence, onClose }: AcknowledgeDialogProps) {
  return (
    <OperationDialog
      title={words.acknowledgeTitle}
      confirm={words.acknowledge}
      consequence={consequence}
      fields={FIELDS}
      send={(body) =>
        dataOf(
          consoleApi.POST('/api/operate/reconciliation/claims/{id}/acknowledge', {
            params: { path: { id: claim.id } },
            body: body as ConsoleBody<'AcknowledgeClaim'>,
          }),
        )
      }
      onClose={onClose}
    >
      <Code className="text-of-others">{claim.id}</Code>
    </OperationDialog>
  );
}
