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
