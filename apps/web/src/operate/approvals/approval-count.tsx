import { Badge } from '@mantine/core';
import { texts } from '../texts';
import { useOpenApprovals } from './use-open-approvals';

/** Beside the menu's line of the approvals, where there are some. */
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
