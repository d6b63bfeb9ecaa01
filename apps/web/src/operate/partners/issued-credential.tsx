import { Alert, Button, CopyButton, Group, Stack, TextInput } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { deskTexts } from '../desk-texts';
import { texts } from '../../desk/texts';

interface IssuedCredentialProps {
  readonly issued: ConsoleBody<'IssuedCredential'>;
  readonly onDone: () => void;
}

const words = deskTexts.issued;

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

export function CopyLine({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <Group align="end" wrap="nowrap" gap="xs">
      <TextInput label={label} value={value} readOnly flex={1} className="amount" />
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} aria-label={`${texts.copy}: ${label}`}>
            {copied ? texts.copied : texts.copy}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}

/** A random UUID that makes a request idempotent. `crypto.randomUUID` would not exist on pages without https. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
