import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { playerApi } from '../api/player-client';

export function RedeemArea() {
  const partners = useQuery({
    queryKey: ['partners'],
    queryFn: async () => (await playerApi.GET('/api/partners')).data?.partners ?? [],
  });
  return (
    <Stack>
      <Title order={1}>Redeem</Title>
      {partners.data?.map(({ id, name }) => (
        <Text key={id} className="text-of-others">
          {name}
        </Text>
      ))}
    </Stack>
  );
}
