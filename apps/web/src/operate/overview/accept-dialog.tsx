import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { forms } from '../../api/console-forms.generated';
import { OperationDialog } from '../operation-dialog';
import { fieldsOf } from '../../desk/operation-form';
import { useHasSecondOperator } from '../operator';
import { texts } from '../texts';

const words = texts.overview.price;
const FIELDS = fieldsOf(forms.AcceptPrice);

interface AcceptDialogProps {
  readonly stakeSet: string;
  readonly onDone: (result: ConsoleBody<'ActionResult'>) => void;
  readonly onClose: () => void;
}

/** The operator types the price, so that the held one is not accepted unseen. */
export function AcceptDialog({ stakeSet, onDone, onClose }: AcceptDialogProps) {
  const needsReason = useHasSecondOperator();
  return (
    <OperationDialog
      title={words.acceptTitle}
      confirm={words.acceptIt}
      isFinal
      consequence={words.acceptMeans}
      fields={FIELDS.filter(({ name }) => name !== 'reason' || needsReason)}
      send={(given) => {
        const body = { stakeSet, ...given } as ConsoleBody<'AcceptPrice'>;
        return dataOf(consoleApi.POST('/api/operate/prices/accept', { body }));
      }}
      onDone={onDone}
      onClose={onClose}
    />
  );
}
