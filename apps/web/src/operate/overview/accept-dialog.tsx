import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { refresh } from '../../api/query-client';
import { ConfirmDialog } from '../../desk/confirm-dialog';
import { plainDecimal } from '../../format/amount';
import { ReasonField } from '../approvals/second-operator';
import { useHasSecondOperator } from '../operator';
import { texts } from '../texts';

const words = texts.overview.price;

interface AcceptDialogProps {
  readonly stakeSet: string;
  readonly onDone: (result: ConsoleBody<'ActionResult'>) => void;
  readonly onClose: () => void;
}

/** The operator types the price, so that the held one is not accepted unseen. */
export function AcceptDialog({ stakeSet, onDone, onClose }: AcceptDialogProps) {
  const needsReason = useHasSecondOperator();
  const form = useForm({
    initialValues: { usd: '', reason: '' },
    validate: { usd: (text) => (isPrice(text) ? null : words.notUsd) },
    validateInputOnBlur: true,
  });
  const usd = plainDecimal(form.values.usd);
  const accept = useMutation({
    mutationFn: () => {
      const body = { usd, stakeSet, ...(needsReason && { reason: form.values.reason }) };
      return dataOf(consoleApi.POST('/api/operate/prices/accept', { body }));
    },
    onSuccess: async (result) => {
      onDone(result);
      await refresh('operate');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={words.acceptTitle}
      confirm={words.acceptIt}
      isFinal
      consequence={words.acceptMeans}
      isReady={isPrice(usd) && (!needsReason || form.values.reason.trim() !== '')}
      action={accept}
      onClose={onClose}
    >
      <TextInput
        label={words.usd}
        inputMode="decimal"
        maxLength={40}
        data-autofocus
        {...form.getInputProps('usd')}
      />
      {needsReason && (
        <ReasonField
          value={form.values.reason}
          onChange={(reason) => form.setFieldValue('reason', reason)}
        />
      )}
    </ConfirmDialog>
  );
}

function isPrice(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(plainDecimal(text)) && /[1-9]/.test(text);
}
