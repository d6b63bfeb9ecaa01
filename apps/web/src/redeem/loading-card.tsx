import { Card, Skeleton, Stack } from '@mantine/core';
import { useTexts } from '../texts/texts-context';

export function LoadingCard() {
  const { redeem } = useTexts().texts;
  return (
    <Card withBorder padding="lg" role="status" aria-label={redeem.loading}>
      <Stack gap="sm">
        <Skeleton height={20} width="55%" />
        <Skeleton height={14} width="80%" />
        <Skeleton height={36} width="40%" mt="xs" />
      </Stack>
    </Card>
  );
}
