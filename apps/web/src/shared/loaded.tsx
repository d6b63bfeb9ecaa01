import { type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { Skeletons } from './placeholders';
import { Problem } from './problem';

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
  /** What is shown while it loads. Default: three lines. */
  readonly skeleton?: ReactNode;
}

/** What a request brought; while it is under way its skeleton, and where it failed the problem. What was there before stays. */
export function Loaded<T>({ query, children, skeleton = <Skeletons /> }: LoadedProps<T>) {
  const { data, error, refetch } = query;
  if (data !== undefined) {
    return (
      <>
        {error !== null && <Problem problem={error} onRetry={() => void refetch()} />}
        {children(data)}
      </>
    );
  }
  if (error !== null) return <Problem problem={error} onRetry={() => void refetch()} />;
  return skeleton;
}
