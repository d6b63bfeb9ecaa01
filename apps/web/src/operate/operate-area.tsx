import { Title } from '@mantine/core';
import { SessionGate } from '../session/session-gate';

export function OperateArea() {
  return <SessionGate kind="operator">{() => <Title order={1}>Operate</Title>}</SessionGate>;
}
