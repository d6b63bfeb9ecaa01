import { Button, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmDialog } from '../desk/confirm-dialog';
import { Dialog, HELD } from '../desk/dialog';
import { When } from '../shared/when';
import { Bytes } from './bytes';
import { texts } from './texts';

interface RotationProps<Made> {
  readonly title: string;
  readonly consequence: string;
  readonly overlapLabel: string;
  readonly rotate: (overlapHours: number) => Promise<Made>;
  readonly onClose: () => void;
  readonly onMade: (made: Made) => void;
}

/** Replaces a secret, after asking how long the old one stays valid beside the new one. */
export function RotationDialog<Made>({
  overlapLabel,
  rotate,
  onMade,
  ...dialog
}: RotationProps<Made>) {
  const [hours, setHours] = useState('24');
  const rotation = useMutation({
    mutationFn: () => rotate(Number(hours)),
    // Keeps the secret in the page only, and out of the query cache.
    gcTime: 0,
    onSuccess: onMade,
  });
  return (
    <ConfirmDialog {...dialog} action={rotation}>
      <Select
        label={overlapLabel}
        data={texts.credentials.overlaps}
        value={hours}
        allowDeselect={false}
        onChange={(chosen) => {
          if (chosen !== null) setHours(chosen);
        }}
      />
    </ConfirmDialog>
  );
}

interface SecretProps {
  readonly title: string;
  readonly store: string;
  /** Label of the button that closes the dialog. */
  readonly stored: string;
  readonly secrets: readonly { readonly label: string; readonly value: string }[];
  /** The end of the replaced secret's validity, if a secret was replaced. */
  readonly until?: { readonly label: string; readonly at: string } | undefined;
  readonly onStored: () => void;
}

/** Closed by its button only, since the secrets are shown nowhere else. */
export function SecretDialog({ title, store, stored, secrets, until, onStored }: SecretProps) {
  return (
    <Dialog onClose={onStored} title={title} size="lg" {...HELD}>
      <Stack>
        <Text>{store}</Text>
        {secrets.map(({ label, value }) => (
          <Bytes key={label} label={label}>
            {value}
          </Bytes>
        ))}
        {until !== undefined && (
          <Text>
            {until.label} <When at={until.at} />
          </Text>
        )}
        <Button onClick={onStored}>{stored}</Button>
      </Stack>
    </Dialog>
  );
}
