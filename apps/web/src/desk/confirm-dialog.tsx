import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog';
import { Problem } from '../shared/loaded';
import { texts } from './texts';

interface ConfirmDialogProps {
  readonly title: string;
  /** Of the button that does it. Default: the title. */
  readonly confirm?: string;
  /** In the words of the command line. */
  readonly consequence: string;
  /** What is asked a second time: what it means, and what the person ticks. */
  readonly second?: { readonly warning: string; readonly sure: string } | undefined;
  /** What is done: a mutation. */
  readonly action: {
    readonly isPending: boolean;
    readonly error: Error | null;
    readonly mutate: () => void;
  };
  readonly isReady?: boolean;
  readonly onClose: () => void;
  /** What is asked for besides. */
  readonly children?: ReactNode;
}

/** A button that is as high as its words need: none is cut off on a phone. */
export const WHOLE_LABEL = {
  h: 'auto',
  mih: 36,
  py: 6,
  styles: { label: { whiteSpace: 'normal', textAlign: 'left' } },
} as const;

/** Says what an action leads to before it is done. */
export function ConfirmDialog({
  title,
  confirm = title,
  consequence,
  second,
  action,
  isReady = true,
  onClose,
  children,
}: ConfirmDialogProps) {
  const [isSure, setIsSure] = useState(false);
  return (
    <Dialog onClose={onClose} title={<bdi>{title}</bdi>} centered>
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
