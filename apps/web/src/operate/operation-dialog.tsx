import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { refresh } from '../api/query-client';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { isOfField, OperationFields } from '../desk/operation-fields';
import { changesOf, type FormField, initialValues, isReady } from '../desk/operation-form';

interface OperationDialogProps<Result> {
  readonly title: string;
  readonly confirm?: string;
  readonly consequence: string;
  readonly isFinal?: boolean;
  readonly second?: { readonly warning: string; readonly sure: string };
  /** The fields that this dialog asks for, all of which need a value. */
  readonly fields: readonly FormField[];
  /** @param body the values of the fields */
  readonly send: (body: Readonly<Record<string, unknown>>) => Promise<Result>;
  readonly onDone?: (result: Result) => void;
  readonly onError?: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Asks for the fields of an operation, and explains its consequence before it is carried out. */
export function OperationDialog<Result>({
  fields: asked,
  send,
  onDone,
  onError,
  children,
  ...dialog
}: OperationDialogProps<Result>) {
  const fields = asked.map((field) => ({ ...field, isRequired: true }));
  const [values, setValues] = useState(() => initialValues(fields));
  const perform = useMutation({
    mutationFn: () => send(changesOf(fields, {}, values)),
    onSuccess: async (result) => {
      onDone?.(result);
      await refresh('operate');
      dialog.onClose();
    },
    ...(onError !== undefined && { onError }),
  });
  const { error, isPending, mutate } = perform;
  return (
    <ConfirmDialog
      {...dialog}
      isReady={isReady(fields, values)}
      action={{ error: isOfField(fields, error) ? null : error, isPending, mutate: () => mutate() }}
    >
      {children}
      <OperationFields fields={fields} values={values} onChange={setValues} error={error} />
    </ConfirmDialog>
  );
}
