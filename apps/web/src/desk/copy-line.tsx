import { Button, CopyButton, Group, TextInput } from '@mantine/core';
import { texts } from './texts';

/** A text to be handed on, with a button that copies it. */
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
