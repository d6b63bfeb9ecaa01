import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog';
import { Problem } from '../shared/loaded';
import { texts } from './texts';

interface ConfirmDialogProps {
  readonly title: string;
  /** Label of the button that performs the action. Default: the title. */
  readonly confirm?: string;
  /** Consequence of the action, in the words of the command line. */
  readonly consequence: string;
  /** A second confirmation: a warning, and the label of its checkbox. */
  readonly second?: { readonly warning: string; readonly sure: string } | undefined;
  /** The mutation that performs the action. */
  readonly action: {
    readonly isPending: boolean;
    readonly error: Error | null;
    readonly mutate: () => void;
  };
  /** Nothing takes the action back: the title asks, and the button is red. */
  readonly isFinal?: boolean;
  readonly isReady?: boolean;
  readonly onClose: () => void;
  /** Further inputs of the action. */
  readonly children?: ReactNode;
}

/** Style of a button that grows with its label, so that long labels are not cut off on a phone. */
export const WHOLE_LABEL = {
  h: 'auto',
  mih: 36,
  py: 6,
  styles: { label: { whiteSpace: 'normal', textAlign: 'left' } },
} as const;

/** Explains the consequence of an action before it is performed. */
export function ConfirmDialog({
  title,
  confirm = title,
  consequence,
  second,
  action,
  isFinal = false,
  isReady = true,
  onClose,
  children,
}: ConfirmDialogProps) {
  const [isSure, setIsSure] = useState(false);
  return (
    <Dialog
      onClose={onClose}
      title={<bdi>{isFinal && !title.endsWith('?') ? `${title}?` : title}</bdi>}
      centered
    >
      <Stack>
        <Text className="text-of-others">{consequence}</Text>
        {children}
        {second !== undefined && (
          <>
            <Text fw={700}>{second.warning}</Text>
            <Checkbox
              label={second.sure}
              checked={isSure}
              onChange={({ currentTarget }) => setIsSure(currentTarget.checked)}
            />
          </>
        )}
        {action.error !== null && <Problem problem={action.error} />}
        <Group justify="end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            {...WHOLE_LABEL}
            loading={action.isPending}
            {...(isFinal && { color: 'red' })}
            disabled={!isReady || (second !== undefined && !isSure)}
            onClick={() => action.mutate()}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
