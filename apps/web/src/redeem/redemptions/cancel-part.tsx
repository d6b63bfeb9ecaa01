import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { serverNowMs } from '../../api/server-clock';
import { formatTime, formatWait, upToMinute } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { usePoints } from '../partners/partner-queries';
import { useProblemText } from '../problem-text';
import { type Phase } from './redemption-phase';
import { useCancel } from './use-cancel';

interface CancelPartProps {
  readonly redemption: Redemption;
  readonly phase: Phase;
  readonly wallet: string;
}

const CANCELLABLE: readonly Phase[] = ['starting', 'taking', 'preparing', 'claimable'];

/** Cancels after a confirmation that explains the consequence. */
export function CancelPart({ redemption, phase, wallet }: CancelPartProps) {
  const { cancel: words } = useTexts().texts.redeem;
  const [dialog, setDialog] = useState<'unopened' | 'open' | 'closed'>('unopened');
  if (!CANCELLABLE.includes(phase)) return null;
  if (dialog === 'open') {
    return (
      <CancelDialog redemption={redemption} wallet={wallet} onClose={() => setDialog('closed')} />
    );
  }
  return (
    <Group>
      <Button variant="default" autoFocus={dialog === 'closed'} onClick={() => setDialog('open')}>
        {words.button}
      </Button>
    </Group>
  );
}

interface CancelDialogProps extends Pick<CancelPartProps, 'redemption' | 'wallet'> {
  readonly onClose: () => void;
}

function CancelDialog({ redemption, wallet, onClose }: CancelDialogProps) {
  const { cancel: words, waiting } = useTexts().texts.redeem;
  const problemText = useProblemText();
  const cancel = useCancel(redemption.id, wallet);
  return (
    <Alert
      color="yellow"
      title={words.title}
      role="group"
      aria-label={words.title}
      onKeyDown={({ key }) => {
        if (key === 'Escape' && !cancel.isBusy) onClose();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          <Consequence redemption={redemption} wallet={wallet} />
        </Text>
        <Group>
          <Button color="red" loading={cancel.isBusy} onClick={cancel.begin}>
            {words.yes}
          </Button>
          <Button variant="default" autoFocus disabled={cancel.isBusy} onClick={onClose}>
            {words.no}
          </Button>
        </Group>
        <Text size="sm" role="status">
          {cancel.isWaiting && waiting}
        </Text>
        {cancel.refusal !== undefined && (
          <Text size="sm" role="alert">
            {problemText(cancel.refusal)}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

function Consequence({ redemption, wallet }: Pick<CancelPartProps, 'redemption' | 'wallet'>) {
  const { texts, locale } = useTexts();
  const { cancel: words } = texts.redeem;
  const points = usePoints(redemption.partner.id, wallet);
  const until = redemption.returnsBy ?? redemption.payableUntil;
  if (redemption.stage !== 'authorised' || until === null) return words.before;
  const said = words.after(formatTime(upToMinute(until), locale, serverNowMs()));
  const waitSeconds = points.data?.limits.coolDownSeconds ?? 0;
  return waitSeconds === 0 ? said : `${said} ${words.coolDown(formatWait(waitSeconds, locale))}`;
}
