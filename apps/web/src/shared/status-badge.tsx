import { Badge, type MantineColor } from '@mantine/core';

export type Tone = 'good' | 'busy' | 'warning' | 'bad' | 'neutral';

const COLORS: Readonly<Record<Tone, MantineColor>> = {
  good: 'teal',
  busy: 'cyan',
  warning: 'orange',
  bad: 'red',
  neutral: 'gray',
};

interface StatusBadgeProps {
  readonly tone: Tone;
  /** The status in words, since the colour alone is not accessible. */
  readonly children: string;
}

export function StatusBadge({ tone, children }: StatusBadgeProps) {
  return (
    <Badge color={COLORS[tone]} variant="outline" radius="sm" tt="none" className="status">
      {children}
    </Badge>
  );
}
