import { Box, Group, Paper, Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';

/** Interval at which the overview refreshes, in milliseconds. */
export const REFRESH_MS = 10_000;

interface CardProps {
  readonly title: string;
  readonly children: ReactNode;
}

export function Card({ title, children }: CardProps) {
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
}

/** A name with its value; on a phone the value is below the name. */
export function Fact({ name, children }: FactProps) {
  return (
    <Group component="dl" m={0} mb={6} justify="space-between" gap="xs" align="baseline">
      <Text component="dt" size="sm" c="dimmed">
        {name}
      </Text>
      <Box component="dd" m={0} ta="right" className="text-of-others">
        {children}
      </Box>
    </Group>
  );
}
