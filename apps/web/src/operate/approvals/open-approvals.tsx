import { useQuery } from '@tanstack/react-query';
import { pollFrom } from '../../api/console-client';
import { Badge } from '@mantine/core';
import { texts } from '../texts';

const EVERY_MS = 30_000;

/** Number of open approval requests; undefined until it is loaded. */
export function useOpenApprovals(): number | undefined {
  const { data } = useQuery({
    queryKey: ['operate', 'approvals', 'open'],
    queryFn: pollFrom('/api/operate/approvals', { params: { query: { which: 'open' } } }),
    refetchInterval: EVERY_MS,
  });
  return data?.approvals.length;
}

/** The number of open approval requests in the menu; hidden where there are none. */
export function ApprovalCount() {
  const count = useOpenApprovals() ?? 0;
  if (count === 0) return null;
  return (
    <Badge
      variant="outline"
      color="orange"
      className="status"
      role="img"
      aria-label={texts.approvals.count(count)}
    >
      {count}
    </Badge>
  );
}
