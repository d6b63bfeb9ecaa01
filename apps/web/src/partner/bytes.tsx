import { type ConsoleBody } from '../api/console-client';
import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { StatusBadge } from '../shared/status-badge';
import classes from './partner-area.module.css';
import { texts } from './texts';

/** Another party's text, shown byte for byte and with a copy button. */
export function Bytes({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {label}
        </Text>
        <CopyButton value={children}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? texts.common.copied : texts.common.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
      <pre className={classes['bytes']} tabIndex={0} aria-label={label} role="region">
        {children}
      </pre>
    </Stack>
  );
}

interface SignedProps {
  readonly baseString: ConsoleBody<'SignedBytes'>;
  readonly signature: string | null;
  readonly verifies: boolean | null;
}

/** The signed content, the signature, and whether the signature verifies. */
export function Signed({ baseString, signature, verifies }: SignedProps) {
  return (
    <Stack gap="sm">
      <VerifiesBadge verifies={verifies} />
      <Bytes label={texts.common.signed}>{baseString.text}</Bytes>
      <Bytes label="SHA-256">{baseString.sha256}</Bytes>
      <Bytes label="X-API-SIGNATURE">{signature ?? ''}</Bytes>
    </Stack>
  );
}

function VerifiesBadge({ verifies }: { readonly verifies: boolean | null }) {
  if (verifies === null) {
    return <StatusBadge tone="neutral">{texts.common.verifiesUnknown}</StatusBadge>;
  }
  return verifies ? (
    <StatusBadge tone="good">{texts.common.verifies}</StatusBadge>
  ) : (
    <StatusBadge tone="bad">{texts.common.verifiesNot}</StatusBadge>
  );
}
