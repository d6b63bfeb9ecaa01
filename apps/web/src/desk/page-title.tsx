import { Box, Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

interface PageTitleProps {
  readonly children: string;
  readonly actions?: ReactNode;
}

/** The heading of a page, which is also the title of the document. */
export function PageTitle({ children, actions }: PageTitleProps) {
  useEffect(() => {
    document.title = `${children} · Lowmark`;
  }, [children]);
  return (
    <Group justify="space-between" mb="xs" gap="sm">
      <Title order={1} size="h2" className="text-of-others" tabIndex={-1} data-focus-start>
        {children}
      </Title>
      {actions !== undefined && <Box>{actions}</Box>}
    </Group>
  );
}
