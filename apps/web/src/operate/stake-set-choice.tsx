import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getFrom } from '../api/console-client';
import { texts } from './texts';

interface StakeSetChoiceProps {
  readonly value: string;
  readonly onChange: (stakeSet: string) => void;
}

/** Selects the stake set of a page; hidden where there is only one. */
export function StakeSetChoice({ value, onChange }: StakeSetChoiceProps) {
  const { data } = useQuery({
    queryKey: ['operate', 'overview', 'index'],
    queryFn: getFrom('/api/operate/overview/index'),
  });
  const sets = data?.sets.map(({ stakeSet }) => stakeSet) ?? [];
  if (sets.length <= 1) return null;
  return (
    <Select
      label={texts.shared.stakeSet}
      data={sets}
      value={value}
      allowDeselect={false}
      maw={240}
      onChange={(chosen) => onChange(chosen ?? 'default')}
    />
  );
}
