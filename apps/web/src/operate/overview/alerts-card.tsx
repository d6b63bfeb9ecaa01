import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { Loaded } from '../../shared/loaded';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { When } from '../../shared/when';
import { texts } from '../texts';
import { Card, REFRESH_MS } from '../card';

type Alert = ConsoleBody<'Alert'>;

const TONES: Readonly<Record<Alert['severity'], Tone>> = {
  critical: 'bad',
  warning: 'warning',
  info: 'neutral',
};
const words = texts.overview.alerts;

export function AlertsCard() {
  const alerts = useQuery({
    queryKey: ['operate', 'overview', 'alerts'],
    queryFn: pollFrom('/api/operate/overview/alerts'),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  return (
    <Card title={words.title}>
      <Loaded query={alerts}>
        {(data) => (
          <Stack gap="sm">
            {data.alerts.length === 0 && <NoAlert source={data.source} />}
            {data.alerts.map((alert) => (
              <OneAlert key={`${alert.name} ${alert.summary}`} alert={alert} />
            ))}
            <Text size="xs" c="dimmed">
              {data.source === 'console' ? words.byConsole : words.byAlertmanager}
            </Text>
            {data.unknown.length > 0 && (
              <Text size="xs" c="dimmed">
                {words.unknown(data.unknown.join(', '))}
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

/** No alerts. Without an Alertmanager many conditions are not checked, so this is not reported as good. */
function NoAlert({ source }: Pick<ConsoleBody<'Alerts'>, 'source'>) {
  return source === 'alertmanager' ? (
    <StatusBadge tone="good">{words.none}</StatusBadge>
  ) : (
    <StatusBadge tone="neutral">{words.noneSeen}</StatusBadge>
  );
}

function OneAlert({ alert: { name, severity, summary, since, link } }: { readonly alert: Alert }) {
  return (
    <div>
      <Group gap="xs" wrap="nowrap" justify="space-between">
        <Text fw={500} className="text-of-others">
          {name}
        </Text>
        <StatusBadge tone={TONES[severity]}>{severity}</StatusBadge>
      </Group>
      <Text size="sm" className="text-of-others">
        {summary}
      </Text>
      <Group gap="md">
        {since !== null && (
          <Text size="xs" c="dimmed">
            <When at={since} />
          </Text>
        )}
        {link !== null && link !== '/operate' && (
          <Anchor
            size="sm"
            href={link}
            {...(!link.startsWith('/') && { target: '_blank', rel: 'noreferrer' })}
          >
            {link.startsWith('/') ? words.look : words.handbook}
          </Anchor>
        )}
      </Group>
    </div>
  );
}
