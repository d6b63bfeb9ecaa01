import { Title } from '@mantine/core';
import { useEffect } from 'react';

/** The heading of a page, and the name of its tab. */
export function PageTitle({ children }: { readonly children: string }) {
  useEffect(() => {
    document.title = `${children} · Lowmark`;
  }, [children]);
  return (
    <Title order={1} size="h2" mb="md" className="text-of-others">
      {children}
    </Title>
  );
}
