import { Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core';
import { type ReactNode } from 'react';

/** Where there is nothing: what would be here. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <Text c="dimmed" py="md">
      {children}
    </Text>
  );
}

/** While something loads: as many lines as there will be. */
export function Skeletons({ lines = 3, height = 18 }: { lines?: number; height?: number }) {
  return (
    <Stack gap="xs" aria-busy>
      <VisuallyHidden role="status">Loading</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={height} width={line === lines - 1 ? '60%' : '100%'} />
      ))}
    </Stack>
  );
}
