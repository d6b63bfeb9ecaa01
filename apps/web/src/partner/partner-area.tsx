import { Title } from '@mantine/core';

export function PartnerArea() {
  return <Title order={1}>Partner</Title>;
}
