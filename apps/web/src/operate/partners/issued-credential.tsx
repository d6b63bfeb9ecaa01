import { Alert, Button, Stack } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { CopyLine } from '../../desk/copy-line';
import { deskTexts } from '../desk-texts';

interface IssuedCredentialProps {
  readonly issued: ConsoleBody<'IssuedCredential'>;
  readonly onDone: () => void;
}

const words = deskTexts.issued;

/** Of a dialog with what is shown once, or that waits for it: only its own button closes it. */
export const HELD = {
  closeOnEscape: false,
  closeOnClickOutside: false,
  withCloseButton: false,
} as const;

/** Key and secret, this once. */
export function IssuedCredential({ issued, onDone }: IssuedCredentialProps) {
  return (
    <Stack>
      <Alert color="orange" variant="outline" title={words.title}>
        {words.once}
      </Alert>
      <CopyLine label={words.apiKey} value={issued.apiKey} />
      <CopyLine label={words.sharedSecret} value={issued.sharedSecret} />
      <Button onClick={onDone}>{words.done}</Button>
    </Stack>
  );
}
