import { Alert, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useConfig, useConnection } from 'wagmi';
import { formatCountdown } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { type Redemption, type Voucher } from '../config';
import { useRedeemConfig, useTokenText } from '../config-context';
import { type ClaimEnd, type ClaimStep } from '../wallet/claim';
import { SwitchNetwork } from '../wallet/switch-network';
import { claimsStore, type SentClaim } from './claims-store';
import { type Phase } from './redemption-phase';

interface ClaimPartProps {
  readonly redemption: Redemption;
  readonly phase: Phase;
  readonly sent: SentClaim | undefined;
  readonly nowMs: number;
}

export function ClaimPart({ redemption, phase, nowMs }: ClaimPartProps) {
  const { claim: words, wallet: walletWords } = useTexts().texts.redeem;
  const connection = useConnection();
  const { voucher } = redemption;
  if (phase !== 'claimable' || voucher === null) return null;
  const isConnected = connection.status === 'connected';
  const isOnOther = isConnected && connection.chainId !== voucher.chainId;
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600} role="timer">
        {words.left(formatCountdown(voucher.deadline * 1000 - nowMs))}
      </Text>
      {!isConnected && <Text size="sm">{walletWords.reconnect}</Text>}
      {isOnOther && <SwitchNetwork chainId={voucher.chainId} />}
      {isConnected && !isOnOther && <ClaimButton redemption={redemption} voucher={voucher} />}
    </Stack>
  );
}

function ClaimButton({
  redemption,
  voucher,
}: {
  readonly redemption: Redemption;
  readonly voucher: Voucher;
}) {
  const { claim: words, wallet: walletWords } = useTexts().texts.redeem;
  const { coin } = useRedeemConfig();
  const wallets = useConfig();
  const tokens = useTokenText()(redemption.tokenAmount);
  const [step, setStep] = useState<ClaimStep>();
  const [said, setSaid] = useState<string>();
  const claim = async (): Promise<void> => {
    setSaid(undefined);
    setStep('preparing');
    try {
      const { sendClaim } = await import('../wallet/claim');
      const end = await sendClaim(wallets, voucher, setStep);
      if (end.kind === 'sent') claimsStore.keep(redemption.id, end.hash);
      else setSaid(failureText(end.kind));
    } catch {
      setSaid(words.failed);
    } finally {
      setStep(undefined);
    }
  };
  const failureText = (kind: Exclude<ClaimEnd['kind'], 'sent'>): string => {
    if (kind === 'tooLittleCoin') return words.tooLittleCoin(coin);
    return kind === 'requestOpen' ? walletWords.requestOpen : words[kind];
  };
  return (
    <>
      <Button size="md" loading={step !== undefined} onClick={() => void claim()}>
        {words.button(tokens)}
      </Button>
      <Text size="sm" role="status" aria-live="polite">
        {step === undefined ? words.gas(coin) : words[step]}
      </Text>
      {said !== undefined && (
        <Alert color="yellow" role="alert">
          {said}
        </Alert>
      )}
    </>
  );
}
