import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { Problem } from '../../shared/loaded';
import { Fact } from '../card';
import { texts } from '../texts';
import { useMayOperate } from '../operator';

type Audit = ConsoleBody<'WalletAudit'>;

interface AuditPartProps {
  readonly wallet: string;
  readonly stakeSet: string;
}

const words = texts.wallet;

/** Compares the wallet's index with the contract. */
export function AuditPart({ wallet, stakeSet }: AuditPartProps) {
  const mayOperate = useMayOperate();
  const audit = useMutation({
    mutationFn: () =>
      dataOf(
        consoleApi.POST('/api/operate/wallets/{wallet}/audit', {
          params: { path: { wallet }, query: { stakeSet } },
        }),
      ),
  });
  return (
    <Stack gap="xs" align="start">
      <Button
        variant="default"
        loading={audit.isPending}
        disabled={!mayOperate}
        onClick={() => audit.mutate()}
      >
        {words.audit}
      </Button>
      {!mayOperate && <Text size="sm">{texts.shared.onlyOperators}</Text>}
      {audit.isError && <Problem problem={audit.error} />}
      {audit.isSuccess && <Result audit={audit.data} />}
    </Stack>
  );
}

function Result({
  audit: { agrees, block, indexed, contract, tokenSymbol },
}: {
  readonly audit: Audit;
}) {
  return (
    <Alert
      role="status"
      variant="outline"
      color={agrees ? 'teal' : 'red'}
      icon={agrees ? <IconCheck aria-hidden /> : <IconX aria-hidden />}
      title={agrees ? words.auditAgrees(block) : words.auditDiffers(block)}
    >
      <Fact name={words.indexed}>
        <Amount value={indexed} unit={tokenSymbol} />
      </Fact>
      <Fact name={words.contract}>
        <Amount value={contract} unit={tokenSymbol} />
      </Fact>
    </Alert>
  );
}
