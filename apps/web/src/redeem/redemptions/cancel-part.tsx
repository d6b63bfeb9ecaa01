import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { playerApi } from '../../api/player-client';
import { serverNowMs } from '../../api/server-clock';
import { formatTime } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { useProblemText } from '../problem-text';
import { type Phase } from './redemption-phase';
import { useTakeRedemption } from './redemptions-query';

interface CancelPartProps {
  readonly redemption: Redemption;
  readonly phase: Phase;
  readonly wallet: string;
}

const CANCELLABLE: readonly Phase[] = ['starting', 'taking', 'preparing', 'claimable'];

/** Asks once more, with what follows from it. */
export function CancelPart({ redemption, phase, wallet }: CancelPartProps) {
  const { cancel: words } = useTexts().texts.redeem;
  const [isAsking, setAsking] = useState(false);
  const cancel = useCancel(redemption.id, wallet);
  if (!CANCELLABLE.includes(phase)) return null;
  if (!isAsking) {
    return (
      <Group>
        <Button
          variant="default"
          onClick={() => {
            setAsking(true);
          }}
        >
          {words.button}
        </Button>
      </Group>
    );
  }
  return (
    <Alert color="yellow" title={words.title} role="group" aria-label={words.title}>
      <Stack gap="sm">
        <Text size="sm">
          <Consequence redemption={redemption} />
        </Text>
        <Group>
          <Button color="red" loading={cancel.isBusy} onClick={() => void cancel.begin()}>
            {words.yes}
          </Button>
          <Button
            variant="default"
            autoFocus
            onClick={() => {
              setAsking(false);
            }}
          >
            {words.no}
          </Button>
        </Group>
        {cancel.problem !== undefined && (
          <Text size="sm" role="alert">
            {cancel.problem}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

function Consequence({ redemption }: { readonly redemption: Redemption }) {
  const { texts, locale } = useTexts();
  const { cancel: words } = texts.redeem;
  const until = redemption.returnsBy ?? redemption.payableUntil;
  if (redemption.stage !== 'authorised' || until === null) return words.before;
  return words.after(formatTime(until, locale, serverNowMs()));
}

function useCancel(id: string, wallet: string) {
  const take = useTakeRedemption(wallet);
  const problemText = useProblemText();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const begin = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { data } = await playerApi.POST('/api/redemptions/{id}/cancel', {
        params: { path: { id } },
      });
      if (data !== undefined) take(data);
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, begin };
}
