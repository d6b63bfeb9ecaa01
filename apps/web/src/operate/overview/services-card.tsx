import { Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { Loaded } from '../../shared/loaded';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { texts } from '../texts';
import { Card, REFRESH_MS } from '../card';

type Service = ConsoleBody<'Service'>;

const TONES: Readonly<Record<Service['state'], Tone>> = {
  ready: 'good',
  'not-ready': 'warning',
  'no-answer': 'bad',
  'not-set': 'neutral',
};

export function useServices() {
  return useQuery({
    queryKey: ['operate', 'overview', 'services'],
    queryFn: pollFrom('/api/operate/overview/services'),
    refetchInterval: REFRESH_MS,
  });
}

export function ServicesCard() {
  return (
    <Card title={texts.overview.services.title}>
      <Loaded query={useServices()}>
        {({ services }) => (
          <Stack gap="sm">
            {services.map((service) => (
              <ServiceLine key={service.name} service={service} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function ServiceLine({
  service: { name, state, reasons, setting },
}: {
  readonly service: Service;
}) {
  const words = texts.overview.services;
  return (
    <div>
      <Group justify="space-between">
        <Text fw={500}>{words.names[name]}</Text>
        <StatusBadge tone={TONES[state]}>{words.states[state]}</StatusBadge>
      </Group>
      {reasons.length > 0 && (
        <List size="sm" className="text-of-others">
          {reasons.map((reason) => (
            <List.Item key={reason}>{reason}</List.Item>
          ))}
        </List>
      )}
      {state === 'not-set' && <Text size="sm">{words.notSet(setting)}</Text>}
      {state === 'no-answer' && <Text size="sm">{words.noAnswer(setting)}</Text>}
    </div>
  );
}
