import { Title } from '@mantine/core';

export function OperateArea() {
  return <Title order={1}>Operate</Title>;
}
