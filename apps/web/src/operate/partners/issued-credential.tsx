import { Alert, Button, Stack } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { CopyLine } from '../../desk/copy-line';
import { deskTexts } from '../desk-texts';

interface IssuedCredentialProps {
  readonly issued: ConsoleBody<'IssuedCredential'>;
  readonly onDone: () => void;
}

const words = deskTexts.issued;

/** Of the dialog around it: what is in it is nowhere else. */
export const ONLY_BY_ITS_BUTTON = {
  withCloseButton: false,
  closeOnEscape: false,
  closeOnClickOutside: false,
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
