import { Title } from '@mantine/core';
import { SessionGate } from '../session/session-gate';

export function PartnerArea() {
  return <SessionGate kind="partner">{() => <Title order={1}>Partner</Title>}</SessionGate>;
}
