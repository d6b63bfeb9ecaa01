import { Alert } from '@mantine/core';
import { texts } from './texts';

interface AlertProps {
  readonly code: string;
  /** Of the server, where it says more than the page knows. */
  readonly message?: string;
}

/** Why a sign-in did not work, in a sentence. */
export function ProblemAlert({ code, message }: AlertProps) {
  const { problems } = texts;
  const known: Readonly<Record<string, string>> = problems;
  return (
    <Alert color="yellow" role="alert" className="text-of-others">
      {message ?? (Object.hasOwn(known, code) ? known[code] : problems.other)}
    </Alert>
  );
}
